import { expect, test } from '@jest/globals';
import { startOnce } from '../../lib/lambda/start-once.ts';

test('calls that come together share one start, and later ones its result', async () => {
  let starts = 0;
  const start = startOnce(
    () => Promise.resolve(++starts),
    () => undefined,
  );
  expect(await Promise.all([start(), start()])).toEqual([1, 1]);
  expect(await start()).toBe(1);
});

test('a failed start is told once and tried again by the next call', async () => {
  const failures: unknown[] = [];
  let starts = 0;
  const start = startOnce(
    () => (++starts === 1 ? Promise.reject(new Error('first')) : Promise.resolve('up')),
    (error) => failures.push(error),
  );
  expect(await Promise.all([start(), start()])).toEqual([undefined, undefined]);
  expect(await start()).toBe('up');
  expect(failures).toEqual([new Error('first')]);
});
