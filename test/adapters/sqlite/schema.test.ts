import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate, schemaVersion, SCHEMA_VERSION } from '../../../lib/adapters/sqlite/schema.ts';
import { startTransaction, workflowOf } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';
import { faultOf } from '../../contract/storage/bench.ts';

const tenant = 'acme';
const key = { kind: 'workflow', tenant, id: 'w1' } as const;
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };
const TOO_NEW = { kind: 'retryable', code: 'FORMAT_TOO_NEW' };

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Runs SQL on the file as another program would. */
function sql(path: string, text: string): unknown {
  const db = new DatabaseSync(path);
  try {
    return db.prepare(text).get();
  } finally {
    db.close();
  }
}

describe('a missing database', () => {
  test('is created with its folders, readable by its owner only', async () => {
    const path = join(files.folder, 'a', 'b', 'store.sqlite');
    const store = await files.open({ path });
    await store.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
    expect(mode(join(files.folder, 'a'))).toBe('700');
    expect(mode(join(files.folder, 'a', 'b'))).toBe('700');
    expect([path, `${path}-wal`, `${path}-shm`].map(mode)).toEqual(['600', '600', '600']);
  });

  test('leaves a folder that exists as it is', async () => {
    const folder = join(files.folder, 'mine');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    await files.open({ path: join(folder, 'store.sqlite') });
    expect(mode(folder)).toBe('755');
  });

  test('is not created for reading', async () => {
    expect(await faultOf(files.open({ readOnly: true }))).toMatchObject(UNAVAILABLE);
    expect(existsSync(files.path)).toBe(false);
  });

  test('cannot be created under a file', async () => {
    writeFileSync(join(files.folder, 'file'), '');
    const path = join(files.folder, 'file', 'store.sqlite');
    expect(await faultOf(files.open({ path }))).toMatchObject(UNAVAILABLE);
  });

  test('may have any name', async () => {
    const path = join(files.folder, 'a b#c?d%25é🔧.sqlite');
    const store = await files.open({ path });
    await store.check();
    expect(existsSync(path)).toBe(true);
  });

  test('is created by several that open it at once in one process', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => files.open()));
    await stores[0]?.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
    for (const store of stores) expect((await store.snapshot([key]))[0]?.id).toBe('w1');
  });

  test('is created by two processes that open it at once', async () => {
    const started = await Promise.all([files.startChild(), files.startChild()]);
    expect(started.map(({ said }) => said)).toEqual(['open', 'open']);
    expect(await started[0]?.child.ask('start w1')).toBe('{"ok":true}');
    expect(await started[1]?.child.ask('read w1')).toBe('CREATED');
    for (const { child } of started) await child.end();
  });
});

describe('a migration', () => {
  test('that another process makes just before is not made twice', () => {
    writeFileSync(files.path, '');
    const [slow, fast] = [new DatabaseSync(files.path), new DatabaseSync(files.path)];
    const overtaken = {
      prepare: (text: string) => slow.prepare(text),
      exec: (text: string) => {
        if (text === 'BEGIN IMMEDIATE') migrate(fast);
        slow.exec(text);
      },
      get isTransaction() {
        return slow.isTransaction;
      },
    } as DatabaseSync;
    expect(() => migrate(overtaken)).not.toThrow();
    expect([schemaVersion(slow), schemaVersion(fast)]).toEqual([SCHEMA_VERSION, SCHEMA_VERSION]);
    slow.close();
    fast.close();
  });

  test('that is interrupted leaves nothing of it', () => {
    writeFileSync(files.path, '');
    const db = new DatabaseSync(files.path);
    const interrupted = {
      prepare: (text: string) => db.prepare(text),
      exec: (text: string) => {
        if (text === 'COMMIT') throw new Error('interrupted');
        db.exec(text);
      },
      get isTransaction() {
        return db.isTransaction;
      },
    } as DatabaseSync;
    expect(() => migrate(interrupted)).toThrow('interrupted');
    expect(schemaVersion(db)).toBe(0);
    migrate(db);
    expect(schemaVersion(db)).toBe(SCHEMA_VERSION);
    db.close();
  });
});

describe('a database that exists', () => {
  test('is opened again with everything in it', async () => {
    const first = await files.open();
    await first.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
    await first.close();
    const second = await files.open();
    expect(await second.snapshot([key])).toEqual([workflowOf({ tenant }).workflow]);
  });

  test('is written ahead, synchronously, and marked as our own', async () => {
    await files.open();
    expect(sql(files.path, 'PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(sql(files.path, 'PRAGMA application_id')).toEqual({ application_id: 1_129_009_236 });
    expect(sql(files.path, 'PRAGMA user_version')).toEqual({ user_version: SCHEMA_VERSION });
  });

  test('of the first schema keeps its outbox, and its active work is due to be looked at', async () => {
    const db = new DatabaseSync(files.path);
    migrate(db, 1);
    const work = db.prepare(
      'INSERT INTO workflows (tenant, id, state, created_at, body) VALUES (?, ?, ?, ?, ?)',
    );
    const { due_at: _due, ...before } = workflowOf({ tenant, id: 'w1' }).workflow;
    const { created_at } = before;
    work.run(tenant, 'w1', 'CREATED', created_at, JSON.stringify(before));
    const over = { ...before, id: 'w2', state: 'COMPLETED' };
    work.run(tenant, 'w2', 'COMPLETED', created_at, JSON.stringify(over));
    work.run(tenant, 'w3', 'CREATED', created_at, 'no JSON');
    const row = { format: 1, tenant, workflow: 'w2', lane: 'notify:log', seq: 1, id: 'r' };
    const rest = { payload: {}, attempts: 0, due_at: 5 };
    db.prepare(
      'INSERT INTO outbox (tenant, workflow, lane, seq, due_at, body) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(tenant, 'w2', 'notify:log', 1, 5, JSON.stringify({ ...row, ...rest }));
    db.close();
    const store = await files.open();
    const { items } = await store.listDue(0, { until: 10, limit: 10 });
    expect(items.map(({ key: due }) => due)).toEqual([
      key,
      { kind: 'outbox', tenant, workflow: 'w2', lane: 'notify:log', seq: 1 },
    ]);
    expect(await store.snapshot([key])).toEqual([{ ...before, due_at: 0 }]);
    expect(await store.laneHead(tenant, 'w2', 'notify:log')).toEqual({ ...row, ...rest, rev: 0 });
  });

  test('is used although its creator died before it had tables', async () => {
    writeFileSync(files.path, '');
    const store = await files.open();
    await expect(store.check()).resolves.toBeUndefined();
  });

  test('of a newer schema is refused and left alone', async () => {
    await (await files.open()).close();
    sql(files.path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    const before = readFileSync(files.path);
    expect(await faultOf(files.open())).toMatchObject(TOO_NEW);
    expect(await faultOf(files.open({ readOnly: true }))).toMatchObject(TOO_NEW);
    expect(readFileSync(files.path)).toEqual(before);
  });

  test('that a newer release migrates meanwhile is neither read nor written any more', async () => {
    const store = await files.open();
    sql(files.path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    const commit = store.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
    expect(await faultOf(commit)).toMatchObject(TOO_NEW);
    expect(await faultOf(store.snapshot([key]))).toMatchObject(TOO_NEW);
    sql(files.path, `PRAGMA user_version = ${SCHEMA_VERSION}`);
    expect(await store.snapshot([key])).toEqual([undefined]);
  });

  test('of another program is refused and left alone', async () => {
    sql(files.path, 'CREATE TABLE accounts (id TEXT)');
    const before = readFileSync(files.path);
    expect(await faultOf(files.open())).toMatchObject(UNAVAILABLE);
    expect(readFileSync(files.path)).toEqual(before);
  });

  test('that is no database is refused and left alone', async () => {
    const text = 'this is a text file, and a long one at that\n'.repeat(200);
    writeFileSync(files.path, text);
    expect(await faultOf(files.open())).toMatchObject(UNAVAILABLE);
    expect(readFileSync(files.path, 'utf8')).toBe(text);
  });

  test('that is a folder is refused', async () => {
    mkdirSync(files.path);
    expect(await faultOf(files.open())).toMatchObject(UNAVAILABLE);
  });
});
