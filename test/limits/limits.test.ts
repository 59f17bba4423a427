import { describe, expect, test } from '@jest/globals';
import { LIMITS } from '../../lib/core/limits.ts';
import { closeWorldsAfterEach } from '../support/surface-world.ts';
import type { Case, Name, Try } from './case.ts';
import { CORE } from './core.ts';
import { DEFINITION, SHARED } from './definition.ts';
import { EVIDENCE } from './evidence.ts';
import { PROCESS } from './process.ts';
import { RUNS } from './runs.ts';
import { STORAGE } from './storage.ts';
import { closeStoresAfterEach } from './stores.ts';
import { SURFACE } from './surface.ts';

closeWorldsAfterEach();
closeStoresAfterEach();

/** A row without a case does not compile, and a case without a row does not either. */
const CASES: { readonly [name in Name]: Case } = {
  ...SURFACE,
  ...DEFINITION,
  ...CORE,
  ...RUNS,
  ...STORAGE,
  ...PROCESS,
  ...EVIDENCE,
};

const partsOf = (one: Case): { readonly attempt: Try; readonly grain: number } =>
  typeof one === 'function' ? { attempt: one, grain: 1 } : one;

/** Amounts that are tried: the limit and one past it, or both sides of it where time is the amount. */
async function around(name: Name, one: Case): Promise<void> {
  const { attempt, grain } = partsOf(one);
  const { max, unit } = LIMITS[name];
  const at = unit === 'ms' ? max - grain : max;
  expect([name, at, await attempt(at)]).toEqual([name, at, true]);
  expect([name, max + grain, await attempt(max + grain)]).toEqual([name, max + grain, false]);
}

describe('limits', () => {
  test.each(Object.entries(CASES) as [Name, Case][])(
    '%s: taken at the limit, refused one past it',
    around,
    60_000,
  );

  test.each(Object.entries(SHARED) as [Name, Case][])(
    '%s in a definition: taken at the limit, refused one past it',
    around,
  );

  test('every row of the table has its case, and every case its row', () => {
    expect(Object.keys(CASES).toSorted()).toEqual(Object.keys(LIMITS).toSorted());
  });

  test('every row says its unit and why', () => {
    for (const { max, unit, reason } of Object.values(LIMITS)) {
      expect(Number.isSafeInteger(max) && max > 0).toBe(true);
      expect([unit, reason].every((text) => text.trim() !== '')).toBe(true);
    }
  });
});
