import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { faultOf } from '../../contract/storage/bench.ts';
import { makeService, principal, testClock } from '../../support/harness.ts';
import { startTransaction } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
const key = { kind: 'workflow', tenant, id: 'w1' } as const;
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };

let files: SqliteFiles;
let other: DatabaseSync;
beforeEach(async () => {
  files = sqliteFiles();
  await (await files.open()).close();
  other = new DatabaseSync(files.path);
});
afterEach(async () => {
  other.close();
  await files.remove();
});

/** Another process that is in the middle of writing. */
const lock = (): void => other.exec('BEGIN IMMEDIATE');
const unlock = (): void => other.exec('COMMIT');

describe('while another process writes', () => {
  test('a commit waits for the lock timeout, and then nothing has happened', async () => {
    const store = await files.open({ lockTimeoutMs: 500 });
    const began = files.clock.now();
    lock();
    const commit = store.commit(startTransaction({ tenant }), began + 60_000);
    expect(await faultOf(commit)).toMatchObject({ ...UNAVAILABLE, cause: { errcode: 5 } });
    expect(files.clock.now() - began).toBe(500);
    unlock();
    expect(await store.snapshot([key])).toEqual([undefined]);
    expect(await store.commit(startTransaction({ tenant }), began + 60_000)).toEqual({ ok: true });
  });

  test('a commit waits no longer than its deadline', async () => {
    const store = await files.open({ lockTimeoutMs: 60_000 });
    const began = files.clock.now();
    lock();
    const commit = store.commit(startTransaction({ tenant }), began + 300);
    expect((await faultOf(commit)).kind).toBe('retryable');
    expect(files.clock.now() - began).toBe(300);
  });

  test('a commit is made once the other is done', async () => {
    const clock = testClock();
    const store = await files.open({
      lockTimeoutMs: 5_000,
      clock: {
        now: () => clock.now(),
        sleep: async (ms) => {
          await clock.sleep(ms);
          if (clock.now() > began + 100 && other.isTransaction) unlock();
        },
      },
    });
    const began = clock.now();
    lock();
    expect(await store.commit(startTransaction({ tenant }), began + 60_000)).toEqual({ ok: true });
    expect((await store.snapshot([key]))[0]?.id).toBe('w1');
  });

  test('the event loop goes on, and the lock is let go by what runs there', async () => {
    const store = await files.open({ lockTimeoutMs: 20_000, clock: systemClock });
    lock();
    const commit = store.commit(startTransaction({ tenant }), Date.now() + 20_000);
    let turns = 0;
    while (turns < 50) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    unlock();
    expect(await commit).toEqual({ ok: true });
  });

  test('reads go on, and see what was committed before', async () => {
    const store = await files.open();
    await store.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
    lock();
    other.exec(`UPDATE workflows SET body = '{}'`);
    expect((await store.snapshot([key]))[0]?.id).toBe('w1');
    expect(await store.listPointers(tenant, 'dev:ana', 5)).toHaveLength(1);
    other.exec('ROLLBACK');
  });

  test('the store says that it cannot be used', async () => {
    const store = await files.open();
    lock();
    expect(await faultOf(store.check())).toMatchObject(UNAVAILABLE);
    unlock();
    await expect(store.check()).resolves.toBeUndefined();
  });

  test('a person who is known is noted without waiting', async () => {
    const store = await files.open();
    const profile = { tenant, subject: 'dev:ana', name: 'Ana' };
    await store.noteProfile(profile);
    lock();
    await expect(store.noteProfile(profile)).resolves.toBeUndefined();
    expect(await faultOf(store.noteProfile({ ...profile, name: 'Bea' }))).toMatchObject(
      UNAVAILABLE,
    );
  });

  test('a command is answered BACKEND_UNAVAILABLE and takes effect when it is sent again', async () => {
    const store = await files.open();
    const { execute } = makeService(store, { clock: files.clock });
    const who = principal({ tenant });
    const start = { type: 'start_workflow', procedure: 'short', asset: 'A-1', key: 'k' } as const;
    lock();
    expect(await execute(who, start)).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1_000,
    });
    unlock();
    expect(await execute(who, start)).toMatchObject({ code: 'OK', duplicate: false });
  });
});

describe('while another process has the file for itself', () => {
  test('nothing is read or opened, and everything works afterwards', async () => {
    await files.remove();
    files = sqliteFiles();
    other.close();
    await (await files.open()).close();
    other = new DatabaseSync(files.path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    expect(await faultOf(files.open())).toMatchObject(UNAVAILABLE);
    other.exec('COMMIT');
    other.close();
    other = new DatabaseSync(':memory:');
    const store = await files.open();
    expect(await store.snapshot([key])).toEqual([undefined]);
  });
});
