// What was deleted is in no file of the database any more.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { StorageBackend, Write } from '../../../lib/core/ports/storage.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

const SECRET = 'a sentence that nobody may keep';

/** The files under the folder that hold the text. */
const holding = (text: string): readonly string[] =>
  readdirSync(files.folder).filter((name) =>
    readFileSync(join(files.folder, name)).includes(Buffer.from(text, 'utf8')),
  );

const commit = (store: StorageBackend, writes: readonly Write[]) =>
  store.commit({ writes }, files.clock.now() + 1_000);

const row = (seq: number, value: string): Write => {
  const identity = { tenant: 'acme', workflow: 'w1', seq };
  return {
    op: 'create',
    key: { kind: 'vault', ...identity },
    item: { format: 1, ...identity, key: 'k', value },
  };
};
const gone = (seq: number): Write => ({
  op: 'delete',
  key: { kind: 'vault', tenant: 'acme', workflow: 'w1', seq },
  expect: {},
});

test('a deleted value is in no file after a purge', async () => {
  const store = await files.open();
  await commit(store, [row(1, SECRET), row(2, 'kept')]);
  await store.purge();
  expect(holding(SECRET)).toEqual(['checkpoint.sqlite']);
  await commit(store, [gone(1)]);
  expect(await store.purge()).toBe(true);
  expect(holding(SECRET)).toEqual([]);
  expect(holding('kept')).toEqual(['checkpoint.sqlite']);
});

test('a value that fills pages of its own is in no file after a purge', async () => {
  const store = await files.open();
  await commit(store, [row(1, SECRET.repeat(2_000)), row(2, 'kept')]);
  await commit(store, [gone(1)]);
  expect(await store.purge()).toBe(true);
  expect(holding(SECRET)).toEqual([]);
});

test('a reader in the way makes the purge say no, and the next one happens', async () => {
  const store = await files.open();
  await commit(store, [row(1, SECRET)]);
  const reader = new DatabaseSync(files.path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM vault').get();
  await commit(store, [gone(1)]);
  expect(await store.purge()).toBe(false);
  reader.exec('COMMIT');
  reader.close();
  expect(await store.purge()).toBe(true);
  expect(holding(SECRET)).toEqual([]);
});

test('a store opened for reading purges nothing', async () => {
  await files.open();
  const reader = await files.open({ readOnly: true });
  expect(await reader.purge()).toBe(false);
});
