import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SCHEMA_VERSION } from '../../../lib/adapters/sqlite/schema.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { faultOf } from '../../contract/storage/bench.ts';
import { startTransaction } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };
const SIDECARS = ['-wal', '-shm'] as const;

let files: SqliteFiles;
let store: StorageBackend;
beforeEach(async () => {
  files = sqliteFiles();
  store = await files.open();
  await start(store, 'before');
});
afterEach(() => files.remove());

function start(on: StorageBackend, id: string) {
  return on.commit(startTransaction({ tenant, id, asset: id }), files.clock.now() + 1_000);
}

async function has(on: StorageBackend, id: string): Promise<boolean> {
  return (await on.snapshot([{ kind: 'workflow', tenant, id }]))[0] !== undefined;
}

/** Everything the store can be asked answers with a fault, and nothing is created at the path. */
async function expectUnavailable(): Promise<void> {
  expect(await faultOf(start(store, 'lost'))).toMatchObject(UNAVAILABLE);
  expect(await faultOf(has(store, 'before'))).toMatchObject(UNAVAILABLE);
  expect(await faultOf(store.check())).toMatchObject(UNAVAILABLE);
  const page = store.listWorkflows(tenant, 'CREATED', { limit: 5 });
  expect(await faultOf(page)).toMatchObject(UNAVAILABLE);
  const profile = { tenant, subject: 'dev:bea', name: 'Bea' };
  expect(await faultOf(store.noteProfile(profile))).toMatchObject(UNAVAILABLE);
}

async function expectWorking(): Promise<void> {
  expect(await has(store, 'before')).toBe(true);
  expect(await has(store, 'lost')).toBe(false);
  expect(await start(store, 'after')).toEqual({ ok: true });
  await store.close();
  const again = await files.open();
  expect([await has(again, 'before'), await has(again, 'after')]).toEqual([true, true]);
  const db = new DatabaseSync(files.path);
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  db.close();
}

describe('a database that is removed', () => {
  test('is neither written to nor created again', async () => {
    rmSync(files.path);
    await expectUnavailable();
    expect(existsSync(files.path)).toBe(false);
  });

  test('together with its folder is not created again', async () => {
    rmSync(files.folder, { recursive: true });
    await expectUnavailable();
    expect(existsSync(files.folder)).toBe(false);
  });

  test('and comes back is used again', async () => {
    const away = `${files.path}.away`;
    renameSync(files.path, away);
    await expectUnavailable();
    renameSync(away, files.path);
    await expectWorking();
  });

  test('and comes back with its folder is used again', async () => {
    const away = `${files.folder}.away`;
    renameSync(files.folder, away);
    await expectUnavailable();
    renameSync(away, files.folder);
    await expectWorking();
  });

  test('between the last statement and the commit loses nothing silently', async () => {
    const { openDatabase } = await import('../../../lib/adapters/sqlite/database.ts');
    const { applyTransaction } = await import('../../../lib/adapters/sqlite/commit.ts');
    const { clock, path } = files;
    const random = { id: () => '', key: () => '', fraction: () => 0 };
    const options = { path, lockTimeoutMs: 500, clock, random, readOnly: false };
    const database = await openDatabase(options);
    const write = database.write(clock.now() + 1_000, (connection) => {
      const written = applyTransaction(connection, startTransaction({ tenant, id: 'lost' }));
      renameSync(path, `${path}.away`);
      return written;
    });
    expect(await faultOf(write)).toMatchObject(UNAVAILABLE);
    renameSync(`${path}.away`, path);
    expect(await has(store, 'lost')).toBe(false);
    database.close();
  });
});

describe('another file at the path', () => {
  const replaceBy = async (make: (path: string) => Promise<void> | void): Promise<void> => {
    const fresh = join(files.folder, 'fresh.sqlite');
    await make(fresh);
    for (const end of ['', ...SIDECARS]) {
      if (existsSync(files.path + end)) renameSync(files.path + end, `${files.path}.old${end}`);
    }
    renameSync(fresh, files.path);
  };

  test('is used where it is a database of ours, and its own log survives the old one', async () => {
    await replaceBy(async (path) => {
      const made = await files.open({ path });
      await start(made, 'other');
      await made.close();
    });
    const owner = await files.open();
    await start(owner, 'by owner');
    const wal = statSync(`${files.path}-wal`).ino;
    expect(await has(store, 'other')).toBe(true);
    expect(await has(store, 'before')).toBe(false);
    expect(await start(store, 'after')).toEqual({ ok: true });
    expect(statSync(`${files.path}-wal`).ino).toBe(wal);
    expect(await has(owner, 'after')).toBe(true);
  });

  test.each<readonly [string, (path: string) => void]>([
    ['of another program', (path) => sql(path, 'CREATE TABLE accounts (id TEXT)')],
    ['that is empty', (path) => writeFileSync(path, '')],
    ['that is no database', (path) => writeFileSync(path, 'a text file\n'.repeat(1_000))],
  ])('%s is refused until ours is back', async (_what, make) => {
    await replaceBy(make);
    const size = statSync(files.path).size;
    await expectUnavailable();
    expect(statSync(files.path).size).toBe(size);
    rmSync(files.path);
    for (const end of ['', ...SIDECARS]) renameSync(`${files.path}.old${end}`, files.path + end);
    await expectWorking();
  });

  test('of a newer schema is refused', async () => {
    await replaceBy(async (path) => {
      await (await files.open({ path })).close();
      sql(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    });
    expect(await faultOf(start(store, 'lost'))).toMatchObject({ code: 'FORMAT_TOO_NEW' });
  });

  test('beside the log of the old one is refused, for the log would be replayed into it', async () => {
    const fresh = join(files.folder, 'fresh.sqlite');
    await (await files.open({ path: fresh })).close();
    renameSync(files.path, `${files.path}.old`);
    renameSync(fresh, files.path);
    await expectUnavailable();
    rmSync(files.path);
    renameSync(`${files.path}.old`, files.path);
    await expectWorking();
  });
});

describe.each(SIDECARS)('a %s file', (end) => {
  test('that is removed costs nothing: the connection still has it', async () => {
    rmSync(files.path + end);
    expect(await has(store, 'before')).toBe(true);
    await expectWorking();
  });

  test('that is removed while a process shares it is not used until that process ends', async () => {
    const { child } = await files.startChild({ lockTimeoutMs: 200 });
    expect(await child.ask('start shared')).toBe('{"ok":true}');
    rmSync(files.path + end);
    await expectUnavailable();
    expect(await child.ask('start lost')).toBe('retryable BACKEND_UNAVAILABLE');
    await child.end();
    expect(await has(store, 'shared')).toBe(true);
    await expectWorking();
  });

  test('that is replaced is not used, and is used again when it is back', async () => {
    renameSync(files.path + end, `${files.path}.old${end}`);
    writeFileSync(files.path + end, 'something else');
    await expectUnavailable();
    rmSync(files.path + end);
    renameSync(`${files.path}.old${end}`, files.path + end);
    await expectWorking();
  });
});

function sql(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}
