import { chmodSync, chownSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { faultOf } from '../../contract/storage/bench.ts';
import { startTransaction } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
const key = { kind: 'workflow', tenant, id: 'w1' } as const;
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

test('a store opened for reading reads, and refuses every write with a fault', async () => {
  const writer = await files.open();
  await writer.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
  const reader = await files.open({ readOnly: true });
  const deadline = files.clock.now() + 1_000;
  expect((await reader.snapshot([key]))[0]?.id).toBe('w1');
  await expect(reader.check()).resolves.toBeUndefined();
  const other = startTransaction({ tenant, id: 'w2', asset: 'A-2' });
  expect(await faultOf(reader.commit(other, deadline))).toMatchObject(UNAVAILABLE);
  const profile = { tenant, subject: 'dev:bea', name: 'Bea' };
  expect(await faultOf(reader.noteProfile(profile))).toMatchObject(UNAVAILABLE);
  expect(await faultOf(reader.registerProcedure('p', 1, 'd'))).toMatchObject(UNAVAILABLE);
  expect(await writer.commit(other, deadline)).toEqual({ ok: true });
  expect((await reader.snapshot([{ ...key, id: 'w2' }]))[0]?.id).toBe('w2');
});

test('a store opened for reading needs no writer beside it', async () => {
  const writer = await files.open();
  await writer.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
  await writer.close();
  const reader = await files.open({ readOnly: true });
  expect((await reader.snapshot([key]))[0]?.id).toBe('w1');
  const again = await files.open();
  await again.commit(startTransaction({ tenant, id: 'w2', asset: 'A-2' }), files.clock.now() + 1);
  expect((await reader.snapshot([{ ...key, id: 'w2' }]))[0]?.id).toBe('w2');
});

test('a file that may not be written changes nothing, and is written when it may be', async () => {
  await (await files.open()).close();
  const own = (path: string): void => {
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
  };
  own(files.folder);
  own(files.path);
  chmodSync(files.path, 0o400);
  const { child, said } = await files.startChild({ unprivileged: true });
  expect(said).toBe('retryable BACKEND_UNAVAILABLE');
  await child.end();
  chmodSync(files.path, 0o600);
  const second = await files.startChild({ unprivileged: true });
  expect(second.said).toBe('open');
  expect(await second.child.ask('start w1')).toBe('{"ok":true}');
  await second.child.end();
});
