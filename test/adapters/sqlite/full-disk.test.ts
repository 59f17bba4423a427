import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openDatabase, type Database } from '../../../lib/adapters/sqlite/database.ts';
import { storeOn } from '../../../lib/adapters/sqlite/store.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { faultOf } from '../../contract/storage/bench.ts';
import { testRandom } from '../../support/harness.ts';
import { startPlan } from '../../support/plans.ts';
import { compilePlan } from '../../../lib/core/plan.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
const UNAVAILABLE = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

/** A start with a large sensitive value, so that a disk is full after a few. */
function largeStart(id: string) {
  const row = { format: 1, tenant, workflow: id, seq: 1, key: 'k', value: 'x'.repeat(100_000) };
  return compilePlan(startPlan({ tenant, id, asset: id }, { vault: [row] }));
}

/** Starts workflows until the disk is full; answers how many there are. */
async function fill(store: StorageBackend): Promise<number> {
  for (let n = 0; n < 200; n++) {
    const commit = store.commit(largeStart(`w${n}`), files.clock.now() + 1_000);
    const fault = await commit.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (fault === undefined) continue;
    expect(fault).toMatchObject({ ...UNAVAILABLE, cause: { errcode: 13 } });
    return n;
  }
  throw new Error('the disk never was full');
}

async function expectWhole(store: StorageBackend, count: number): Promise<void> {
  const { items } = await store.listWorkflows(tenant, 'CREATED', { limit: 100 });
  expect(items).toHaveLength(count);
  const lost = `w${count}`;
  expect(
    await store.snapshot([
      { kind: 'workflow', tenant, id: lost },
      { kind: 'lock', tenant, asset: lost },
      { kind: 'vault', tenant, workflow: lost, seq: 1 },
      { kind: 'pointer', tenant, subject: 'dev:ana', workflow: lost },
    ]),
  ).toEqual([undefined, undefined, undefined, undefined]);
}

describe('a database that may not grow', () => {
  let database: Database;
  const pages = (most: number) =>
    database.read((open) => open.statement(`PRAGMA max_page_count = ${most}`).get());

  test('keeps what it has, answers reads, and works again when it may', async () => {
    const { path, clock } = files;
    const random = testRandom();
    database = await openDatabase({ path, lockTimeoutMs: 500, clock, random, readOnly: false });
    const store = storeOn(database, false);
    await pages(120);
    const count = await fill(store);
    expect(count).toBeGreaterThan(0);
    await expectWhole(store, count);
    await pages(1_000_000);
    const id = `w${count}`;
    expect(await store.commit(largeStart(id), clock.now() + 1_000)).toEqual({ ok: true });
    database.close();
  });
});

/** Mounts a small file system; answers whether this process may do that. */
function mount(folder: string): boolean {
  const options = ['-t', 'tmpfs', '-o', 'size=1500k', 'tmpfs', folder];
  return spawnSync('mount', options, { stdio: 'ignore' }).status === 0;
}

function unmount(folder: string): void {
  spawnSync('umount', [folder], { stdio: 'ignore' });
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoint-disk-'));
  const mounted = mount(folder);
  if (mounted) unmount(folder);
  rmSync(folder, { recursive: true });
  return mounted;
}

// Mounting needs rights that most machines do not give; the case above covers the same code path.
const mounts = mayMount();
if (!mounts) process.stderr.write('a disk that is full: skipped, nothing may be mounted here\n');
(mounts ? describe : describe.skip)('a disk that is full', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'checkpoint-disk-'));
    mount(folder);
  });
  afterEach(async () => {
    await files.remove();
    unmount(folder);
    rmSync(folder, { recursive: true });
  });

  test('changes nothing, and the store works again when there is room', async () => {
    const path = join(folder, 'store.sqlite');
    const filler = join(folder, 'filler');
    const store = await files.open({ path });
    writeFileSync(filler, Buffer.alloc(500_000));
    const count = await fill(store);
    await expectWhole(store, count);
    rmSync(filler);
    const id = `w${count}`;
    expect(await store.commit(largeStart(id), files.clock.now() + 1_000)).toEqual({ ok: true });
    await store.close();
    const again = await files.open({ path });
    expect((await again.snapshot([{ kind: 'workflow', tenant, id }]))[0]?.id).toBe(id);
  });

  test('cannot hold a new database, and can later', async () => {
    const free = (): number => statfsSync(folder).bavail * statfsSync(folder).bsize;
    const filler = join(folder, 'filler');
    writeFileSync(filler, Buffer.alloc(free()));
    const path = join(folder, 'second.sqlite');
    expect(await faultOf(files.open({ path }))).toMatchObject(UNAVAILABLE);
    rmSync(filler);
    const store = await files.open({ path });
    await expect(store.check()).resolves.toBeUndefined();
  });
});
