// The first part of every scenario, and every guard of a transaction taken away in turn.
// `npm run exhaustive` searches all the way.
import { beforeAll, describe, expect, test } from '@jest/globals';
import { COVERED, guardsOf, without } from './guards.ts';
import { invariants } from './invariants.ts';
import { scenarios, type Named } from './scenarios.ts';
import { search } from './search.ts';

/** Enough for every guard to be seen. */
const STATES = 6_000;

const carriers = new Map<string, Named[]>();
let all: readonly Named[] = [];
let states = 0;

describe('whatever order the calls of several processes take', () => {
  beforeAll(async () => {
    all = await scenarios();
  });

  test('every invariant holds in every state that is reached', async () => {
    for (const scenario of all) {
      const options = { mostStates: STATES, guardsOf };
      const found = await search(scenario, invariants(scenario.drift), options);
      expect([scenario.title, found.violation]).toEqual([scenario.title, undefined]);
      for (const guard of found.guards) {
        carriers.set(guard, [...(carriers.get(guard) ?? []), scenario]);
      }
      states += found.states;
    }
    expect(states).toBeGreaterThan(30_000);
  }, 300_000);

  test('every guard of a transaction that is taken away is seen', async () => {
    const missed: string[] = [];
    for (const [guard, scenariosWith] of carriers) {
      const alter = without(guard, ...(COVERED[guard] ?? []));
      let seen = false;
      for (const scenario of scenariosWith) {
        const options = { mostStates: STATES, alter };
        const { violation } = await search(scenario, invariants(scenario.drift), options);
        seen ||= violation !== undefined;
        if (seen) break;
      }
      if (!seen) missed.push(guard);
    }
    expect(missed).toEqual([]);
    expect(carriers.size).toBeGreaterThan(15);
    expect(Object.keys(COVERED).filter((guard) => !carriers.has(guard))).toEqual([]);
  }, 300_000);

  test('a search that is made again finds the same', async () => {
    const [scenario] = all;
    if (scenario === undefined) throw new Error('there is no scenario');
    const once = await search(scenario, invariants(), { mostStates: STATES });
    const again = await search(scenario, invariants(), { mostStates: STATES });
    expect(again).toEqual(once);
    expect(once.closed).toBe(true);
  });
});
