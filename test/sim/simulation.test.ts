// A fixed set of seeds, the same run twice, and every planted bug. `npm run sim` goes further.
import { describe, expect, test } from '@jest/globals';
import { BUGS, FOUND_AT } from './bugs/bugs.ts';
import { FAULTS, STEPS } from './scheduler.ts';
import { shortest, simulate } from './simulate.ts';

const SEEDS = 400;
/** Every bug is found within this many seeds. */
const SEEDS_FOR_BUGS = 2_000;

describe('a simulated world', () => {
  test(`keeps its invariants over ${SEEDS} seeds, in which every fault hits the steps of the store`, async () => {
    const faults = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const report = await simulate(seed);
      expect([seed, report.violation]).toEqual([seed, undefined]);
      for (const [cell, n] of report.faults) faults.set(cell, (faults.get(cell) ?? 0) + n);
    }
    const always = STEPS.filter((step) => step !== 'ticket' && step !== 'deliver');
    const cells = FAULTS.flatMap((fault) => always.map((step) => `${fault} × ${step}`));
    expect(cells.filter((cell) => !faults.has(cell))).toEqual([]);
  }, 180_000);

  test.each([3, 17, 101])('is the same world for the same seed: %d', async (seed) => {
    const once = await simulate(seed);
    expect(once.trace.length).toBeGreaterThan(50);
    expect(await simulate(seed)).toEqual(once);
  });

  test('that fails is made shorter, and still fails', async () => {
    const bug = BUGS['I2: a key is looked up, and not guarded'];
    if (bug === undefined) throw new Error('there is no such bug');
    const whole = await simulate(FOUND_AT['I2: a key is looked up, and not guarded'] ?? 1, { bug });
    const { moves, report } = await shortest(whole.seed, { bug });
    expect(report.violation).toContain('I2');
    expect(moves).toBeLessThan(45);
  });
});

describe('a planted bug', () => {
  test.each(Object.entries(BUGS))(
    '%s is found',
    async (what, bug) => {
      const known = FOUND_AT[what] ?? 1;
      const seeds = [known, ...Array.from({ length: SEEDS_FOR_BUGS }, (_, i) => i + 1)];
      for (const seed of seeds) {
        if ((await simulate(seed, { bug })).violation !== undefined) return;
      }
      throw new Error(`${SEEDS_FOR_BUGS} seeds have not found it`);
    },
    180_000,
  );
});
