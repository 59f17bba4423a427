/** Database files for tests: each in a folder of its own that is removed at the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type SqliteStoreOptions } from '../../lib/adapters/sqlite/store.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import {
  startChild,
  type ChildTask,
  type SqliteChild,
  type StartedChild,
} from './sqlite-children.ts';
import { testClock, testRandom, type TestClock } from './harness.ts';

/** A folder for one test, and the stores that were opened in it. */
export interface SqliteFiles {
  readonly folder: string;
  readonly path: string;
  readonly clock: TestClock;
  /** Opens the database at `path` once more. */
  open(part?: Partial<SqliteStoreOptions>): Promise<StorageBackend>;
  /** Starts a process that opens the database too; answers what it says of that. */
  startChild(part?: Partial<ChildTask>): Promise<StartedChild>;
  /** Closes all stores, kills all processes, and removes the folder. */
  remove(): Promise<void>;
}

/** Makes a folder. The clock of its stores stands still, so that waits take no time. */
export function sqliteFiles(): SqliteFiles {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoint-sqlite-'));
  const path = join(folder, 'checkpoint.sqlite');
  const clock = testClock();
  const stores: StorageBackend[] = [];
  const children: SqliteChild[] = [];
  return {
    folder,
    path,
    clock,
    open: async (part = {}) => {
      const random = testRandom(`store ${stores.length}`);
      const store = await openSqliteStore({ path, lockTimeoutMs: 500, clock, random, ...part });
      stores.push(store);
      return store;
    },
    startChild: async (part = {}) => {
      const started = await startChild({ path, ...part });
      children.push(started.child);
      return started;
    },
    remove: async () => {
      for (const child of children) await child.kill();
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
