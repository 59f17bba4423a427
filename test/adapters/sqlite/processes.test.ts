import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { breaches } from '../../support/invariants.ts';
import { startTransaction } from '../../support/plans.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';
import { runWriters, startWriter } from '../../support/writers.ts';

const tenant = 'acme';

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

const opener = () => ({ module: './open-sqlite.ts', options: { path: files.path } });

async function all(store: StorageBackend): Promise<readonly Workflow[]> {
  const { items, next } = await store.scanWorkflows({ limit: 100 });
  expect(next).toBeUndefined();
  return items;
}

/** The file is sound, every chain verifies, and locks and pointers agree with the workflows. */
async function expectConsistent(store: StorageBackend): Promise<void> {
  const db = new DatabaseSync(files.path);
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  const held = db.prepare(`SELECT count(*) AS n FROM locks WHERE body -> 'held' = 'true'`).get();
  const pointers = db.prepare('SELECT count(*) AS n FROM pointers').get();
  const events = db.prepare('SELECT count(*) AS n FROM events').get();
  db.close();
  expect(await breaches(store, tenant)).toEqual([]);
  const workflows = await all(store);
  const active = workflows.filter(({ state }) => state !== 'COMPLETED');
  expect([held?.['n'], pointers?.['n']]).toEqual([active.length, active.length]);
  expect(events?.['n']).toBe(workflows.reduce((sum, { head_seq }) => sum + head_seq, 0));
}

describe('several processes on one file', () => {
  test('that race and work at once lose nothing, double nothing, and agree', async () => {
    const shared = Array.from({ length: 20 }, (_, i) => `S-${i}`);
    const own = (name: string) => Array.from({ length: 15 }, (_, i) => `${name}-${i}`);
    const reports = await runWriters(opener(), [
      { tenant, name: 'one', mode: 'work', assets: own('A') },
      { tenant, name: 'two', mode: 'race', assets: shared },
      { tenant, name: 'three', mode: 'race', assets: shared },
    ]);
    expect(reports.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    const lines = reports.flatMap((report) => report.lines);
    expect(lines.filter(({ code }) => code === 'BACKEND_UNAVAILABLE')).toEqual([]);
    const done = lines.filter(({ code, duplicate }) => code === 'OK' && duplicate === false);
    const store = await files.open();
    const workflows = await all(store);
    expect(done).toHaveLength(15 * 3 + 20);
    expect(workflows).toHaveLength(15 + 20);
    await expectConsistent(store);
  });

  test('of which each reads what the other has written', async () => {
    const store = await files.open();
    const { child } = await files.startChild();
    expect(await child.ask('start w1')).toBe('{"ok":true}');
    expect((await store.snapshot([{ kind: 'workflow', tenant, id: 'w1' }]))[0]?.id).toBe('w1');
    const names = { tenant, id: 'w2', asset: 'w2' };
    await store.commit(startTransaction(names), files.clock.now() + 1_000);
    expect(await child.ask('read w2')).toBe('CREATED');
    await child.end();
  });
});

describe('a process that is killed', () => {
  test('between its statements and its commit leaves nothing of them', async () => {
    const { child } = await files.startChild();
    expect(await child.ask('start w1')).toBe('{"ok":true}');
    expect(await child.ask('die w2')).toBeUndefined();
    await child.kill();
    const store = await files.open();
    expect((await all(store)).map(({ id }) => id)).toEqual(['w1']);
    await expectConsistent(store);
    const names = { tenant, id: 'w2', asset: 'w2' };
    const again = store.commit(startTransaction(names), files.clock.now() + 1_000);
    expect(await again).toEqual({ ok: true });
  });

  test('beside another leaves the other working', async () => {
    const store = await files.open();
    const { child } = await files.startChild();
    await child.ask('start w1');
    await child.ask('die w2');
    await child.kill();
    const names = { tenant, id: 'w2', asset: 'w2' };
    const commit = store.commit(startTransaction(names), files.clock.now() + 1_000);
    expect(await commit).toEqual({ ok: true });
    await expectConsistent(store);
  });

  test('anywhere loses nothing it has answered, and ends with one effect for each key', async () => {
    const assets = Array.from({ length: 16 }, (_, i) => `A-${i}`);
    const task = { tenant, name: 'one', mode: 'work', assets } as const;
    for (const after of [5, 17, 29]) {
      const writer = await startWriter(opener(), task);
      writer.go();
      await writer.reported(after);
      writer.kill();
      const { lines } = await writer.done;
      const store = await files.open();
      await expectConsistent(store);
      const workflows = await all(store);
      for (const { workflow, seq = 0 } of lines) {
        const found = workflows.find(({ id }) => id === workflow);
        expect(found?.head_seq).toBeGreaterThanOrEqual(seq);
      }
      await store.close();
    }
    const [report] = await runWriters(opener(), [task]);
    expect(report?.lines.every(({ code }) => code === 'OK')).toBe(true);
    const store = await files.open();
    const workflows = await all(store);
    expect(workflows.map(({ asset }) => asset).toSorted()).toEqual(assets.toSorted());
    expect(new Set(workflows.map(({ state }) => state))).toEqual(new Set(['COMPLETED']));
    await expectConsistent(store);
  });
});
