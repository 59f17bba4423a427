import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createWorkPool } from '../../../lib/adapters/runtime/work-pool.ts';
import type { RunWork } from '../../../lib/core/ports/orchestrator.ts';
import { executionName } from '../../../lib/core/runs/execution.ts';

const workOf = (attempt: number): RunWork => ({ tenant: 'acme', run: 'run-1', attempt });
const nameOf = (attempt: number): string => executionName(workOf(attempt));

/** A pool whose work goes on until it is let go. */
function held(width: number) {
  const going = new Map<number, () => void>();
  const aborted: number[] = [];
  let most = 0;
  const pool = createWorkPool({
    width,
    onError: () => undefined,
    work: ({ attempt }, signal) =>
      new Promise<void>((resolve) => {
        going.set(attempt, resolve);
        most = Math.max(most, going.size);
        signal.addEventListener('abort', () => {
          aborted.push(attempt);
          resolve();
        });
      }).then(() => {
        going.delete(attempt);
      }),
  });
  const start = (attempt: number) => pool.start(nameOf(attempt), workOf(attempt), 0);
  return { pool, going, aborted, start, most: () => most };
}

describe('a pool of work', () => {
  test('does as much at a time as it may, in the order of its starts', async () => {
    const { going, start, most } = held(2);
    for (let attempt = 1; attempt <= 5; attempt++) await start(attempt);
    await setImmediate();
    expect([...going.keys()]).toEqual([1, 2]);
    going.get(1)?.();
    await setImmediate();
    expect([...going.keys()]).toEqual([2, 3]);
    for (let n = 0; n < 5; n++) {
      for (const end of going.values()) end();
      await setImmediate();
    }
    expect([going.size, most()]).toEqual([0, 2]);
  });

  test('goes on after work that crashed, at once or later, and tells of it', async () => {
    const errors: unknown[] = [];
    const done: number[] = [];
    const pool = createWorkPool({
      width: 1,
      onError: (error) => errors.push(error),
      work: async ({ attempt }) => {
        if (attempt === 1) throw new Error('at once');
        await setImmediate();
        if (attempt === 2) throw new Error('later');
        done.push(attempt);
      },
    });
    for (const attempt of [1, 2, 3]) await pool.start(nameOf(attempt), workOf(attempt), 0);
    await pool.stop(5_000);
    expect(errors.map(String)).toEqual(['Error: at once']);
    expect(done).toEqual([]);
    expect(await pool.describe(nameOf(1), 0)).toBe('ended');
  });

  test('waits at its end for what goes on, and forgets what waited', async () => {
    const { pool, going, aborted, start } = held(1);
    await start(1);
    await start(2);
    await setImmediate();
    const stopping = pool.stop(60_000);
    await expect(start(3)).rejects.toMatchObject({ kind: 'retryable' });
    expect(await pool.describe(nameOf(1), 0)).toBe('running');
    going.get(1)?.();
    await stopping;
    expect(aborted).toEqual([]);
    expect(await pool.describe(nameOf(1), 0)).toBe('ended');
    // Nothing of it was begun: whoever looks for it later begins it.
    expect(await pool.describe(nameOf(2), 0)).toBe('absent');
  });

  test('tells what does not end in time to end', async () => {
    const { pool, aborted, start } = held(1);
    await start(1);
    await setImmediate();
    await pool.stop(1);
    expect(aborted).toEqual([1]);
  });
});
