import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RECONCILE } from '../../lib/core/reconcile/timing.ts';
import { checkHeads } from '../../lib/core/trail/heads.ts';
import { headsFingerprint } from '../../lib/core/trail/heads-key.ts';
import { readSettings } from '../../lib/settings.ts';
import { localHeadsSigner, openLocal, type Local } from '../../lib/wiring/local.ts';
import { dataFolder } from '../support/e2e.ts';
import { talked } from '../support/talked.ts';

const settingsOf = (folder: string) => readSettings({ CHECKPOINT_DATA: folder });

let folder: string;
let local: Local;
let told: object[];
beforeEach(async () => {
  folder = await dataFolder();
  await talked(folder, 'ana', ['start pump-inspection PUMP-07', 'yes']);
  local = await openLocal(settingsOf(folder));
  told = [];
  jest.useFakeTimers({
    now: Date.UTC(2030, 2, 1, 12),
    doNotFake: ['nextTick', 'setImmediate'],
  });
  local.tend({
    write: () => undefined,
    onHeads: (heads) => told.push(heads),
    onError: (error) => told.push({ held: error }),
  });
});
afterEach(async () => {
  jest.useRealTimers();
  await local.close();
});

/** A tick of the running server, and the time that its list takes on a busy disk. */
const tick = async (expected: number): Promise<void> => {
  await jest.advanceTimersByTimeAsync(RECONCILE.tickMs);
  for (let n = 0; n < 2_000 && told.length < expected; n++) {
    // Not of the timers that are stopped.
    await pause(5);
    await jest.advanceTimersByTimeAsync(1);
  }
};
const file = (day: string): string => join(folder, 'heads', `${day}.jsonl`);

test('a running server signs one list of heads a day', async () => {
  await tick(1);
  expect(told).toEqual([{ file: file('2030-03-01') }]);
  const first = await readFile(file('2030-03-01'), 'utf8');
  const { publicKey } = await localHeadsSigner(settingsOf(folder));
  async function* lines() {
    await Promise.resolve();
    yield* first.trimEnd().split('\n');
  }
  expect(await checkHeads(lines(), headsFingerprint(publicKey))).toMatchObject({
    ok: true,
    heads: 1,
    part: 1,
    more: false,
  });
  jest.setSystemTime(Date.UTC(2030, 2, 2) + 1);
  await tick(2);
  await tick(2);
  expect((await readdir(join(folder, 'heads'))).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    '2030-03-01.jsonl',
    '2030-03-02.jsonl',
  ]);
  expect(await readFile(file('2030-03-01'), 'utf8')).toBe(first);
  expect(told).toHaveLength(2);
}, 60_000);

test('a list that cannot be written is told, holds nothing up, and is written once it can be', async () => {
  await writeFile(join(folder, 'heads'), 'a file');
  await tick(1);
  expect(told).toMatchObject([{ error: { code: 'ENOTDIR' } }]);
  await rm(join(folder, 'heads'));
  await tick(2);
  expect(told.at(-1)).toEqual({ file: file('2030-03-01') });
}, 60_000);
