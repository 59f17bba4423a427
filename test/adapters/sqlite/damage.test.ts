import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { faultOf } from '../../contract/storage/bench.ts';
import { makeService, principal } from '../../support/harness.ts';
import { startTransaction } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
const key = { kind: 'workflow', tenant, id: 'w1' } as const;
const DAMAGED = { kind: 'retryable', code: 'ITEM_DAMAGED' };
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };

let files: SqliteFiles;
let store: StorageBackend;
beforeEach(async () => {
  files = sqliteFiles();
  store = await files.open();
  await store.commit(startTransaction({ tenant }), files.clock.now() + 1_000);
});
afterEach(() => files.remove());

describe('a damaged item', () => {
  test.each([
    ['that is not JSON', '{"format":1,'],
    ['that is not an object', '17'],
    ['that is null', 'null'],
    ['without a format', '{"tenant":"acme"}'],
    ['whose format is text', '{"format":"1"}'],
  ])(
    '%s is answered as a fault, is not written over, and works once repaired',
    async (_w, body) => {
      const db = new DatabaseSync(files.path);
      const whole = db.prepare('SELECT body FROM workflows').get()?.['body'] as string;
      db.prepare('UPDATE workflows SET body = ?').run(body);
      expect(await faultOf(store.snapshot([key]))).toMatchObject(DAMAGED);
      const set = { version: 2 };
      const update = { op: 'update', key, expect: {}, set } as const;
      const commit = () => store.commit({ writes: [update] }, files.clock.now() + 1_000);
      expect(await faultOf(commit())).toMatchObject(DAMAGED);
      expect(db.prepare('SELECT body FROM workflows').get()).toEqual({ body });
      db.prepare('UPDATE workflows SET body = ?').run(whole);
      db.close();
      expect(await commit()).toEqual({ ok: true });
    },
  );
});

describe('a damaged file', () => {
  test.each([
    ['its header', 0, 100],
    ['its first pages', 0, 20_000],
    ['everything after its header', 100, 200_000],
  ])('in %s answers with faults, and works again with its content', async (_what, from, length) => {
    await store.close();
    const whole = readFileSync(files.path);
    store = await files.open();
    overwrite(files.path, from, Buffer.alloc(Math.min(length, whole.length - from), 0x5a));
    // A new connection has nothing in its cache.
    expect(await outcome(files)).toMatchObject(UNAVAILABLE);
    writeFileSync(files.path, whole);
    const again = await files.open();
    expect((await again.snapshot([key]))[0]?.id).toBe('w1');
    const { execute } = makeService(store, { clock: files.clock });
    const start = { type: 'start_workflow', procedure: 'short', asset: 'B-1' } as const;
    expect(await execute(principal({ tenant }), start)).toMatchObject({ code: 'OK' });
  });

  test('that damages a running store answers with faults until it is whole again', async () => {
    for (let n = 0; n < 60; n++) {
      const names = { tenant, id: `x${n}`, asset: `x${n}` };
      await store.commit(startTransaction(names), files.clock.now() + 1_000);
    }
    await store.close();
    const whole = readFileSync(files.path);
    store = await files.open();
    overwrite(files.path, 4_096, Buffer.alloc(whole.length - 4_096, 0x5a));
    expect(await faultOf(store.snapshot([key]))).toMatchObject(UNAVAILABLE);
    const names = { tenant, id: 'lost', asset: 'lost' };
    const commit = store.commit(startTransaction(names), files.clock.now() + 1_000);
    expect(await faultOf(commit)).toMatchObject(UNAVAILABLE);
    overwrite(files.path, 0, whole);
    expect((await store.snapshot([key]))[0]?.id).toBe('w1');
    expect(await store.snapshot([{ ...key, id: 'lost' }])).toEqual([undefined]);
    const again = store.commit(startTransaction(names), files.clock.now() + 1_000);
    expect(await again).toEqual({ ok: true });
  });
});

/** The fault of opening and reading the file afresh. */
async function outcome(of: SqliteFiles): Promise<unknown> {
  return faultOf(of.open().then((fresh) => fresh.snapshot([key])));
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}
