import { describe, expect, test } from '@jest/globals';
import { createTokenBuckets } from '../../../lib/adapters/runtime/token-buckets.ts';

function limiter(perMinute: number, size?: number) {
  const clock = { ms: 0, now: () => clock.ms };
  const buckets = createTokenBuckets(perMinute, clock, size);
  const times = async (caller: string, count: number): Promise<readonly number[]> => {
    const waits: number[] = [];
    for (let n = 0; n < count; n++) waits.push(await buckets.take(caller));
    return waits;
  };
  return { clock, times };
}

describe('token buckets', () => {
  test('let a minute of calls through at once, and not one more', async () => {
    const { times } = limiter(3);
    expect(await times('ana', 5)).toEqual([0, 0, 0, 20_000, 20_000]);
  });

  test('fill evenly, up to one minute of calls', async () => {
    const { clock, times } = limiter(60);
    await times('ana', 60);
    clock.ms = 999;
    expect(await times('ana', 1)).toEqual([1]);
    clock.ms = 1_000;
    expect(await times('ana', 2)).toEqual([0, 1_000]);
    clock.ms = 10_000_000;
    expect((await times('ana', 61)).filter((wait) => wait === 0)).toHaveLength(60);
  });

  test('are one for each caller', async () => {
    const { times } = limiter(1);
    expect(await times('ana', 2)).toEqual([0, 60_000]);
    expect(await times('ben', 1)).toEqual([0]);
  });

  test('take nothing when the clock is set back', async () => {
    const { clock, times } = limiter(60);
    clock.ms = 5_000;
    await times('ana', 60);
    clock.ms = 0;
    expect(await times('ana', 1)).toEqual([1_000]);
    clock.ms = 1_000;
    expect(await times('ana', 1)).toEqual([0]);
  });

  test('forget who was seen longest ago beyond their number', async () => {
    const { times } = limiter(1, 2);
    await times('ana', 1);
    await times('ben', 1);
    await times('ana', 1);
    await times('cara', 1);
    expect(await times('ana', 1)).toEqual([60_000]);
    expect(await times('ben', 1)).toEqual([0]);
  });
});
