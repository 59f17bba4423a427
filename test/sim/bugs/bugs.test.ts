import { expect, test } from '@jest/globals';
import { simulate } from '../world/world.ts';
import { BUGS } from './bugs.ts';

const SEEDS = 2_000;
const MOVES = 40;

test.each(BUGS)(
  '%s breaks %s within 2,000 seeds',
  async (_name, invariant, plant) => {
    const found = async (): Promise<number | undefined> => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { breaches } = await simulate(seed, MOVES, plant);
        if (breaches.some((one) => one.startsWith(invariant))) return seed;
      }
      return undefined;
    };
    expect(await found()).toBeDefined();
  },
  120_000,
);
