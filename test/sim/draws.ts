// Random draws that are the same for the same seed, on every machine.

/** Draws of one seed. */
export interface Draws {
  /** A number in [0, 1). */
  fraction(): number;
  chance(likely: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The draws of a seed. Source: mulberry32, public domain. */
export function drawsOf(seed: number): Draws {
  let state = (seed * 0x9e3779b1) >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    chance: (likely) => fraction() < likely,
    pick: (from) => {
      const one = from[Math.floor(fraction() * from.length)];
      if (one === undefined) throw new Error('there is nothing to pick from');
      return one;
    },
  };
}
