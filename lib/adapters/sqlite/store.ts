// The storage port on an embedded SQLite file (node:sqlite), for one or several processes of one
// machine. Refuses what the strictest backend refuses. Holds no rule of the business.
import { checkBookkeeping, checkSnapshot, checkTransaction } from '../../core/check-transaction.ts';
import type { Clock, Random } from '../../core/ports/runtime.ts';
import type { ItemKey, Snapshot, StorageBackend } from '../../core/ports/storage.ts';
import { createBookkeeping } from './bookkeeping.ts';
import { applyTransaction } from './commit.ts';
import { openDatabase, type Database } from './database.ts';
import { readItem } from './items.ts';
import { createLeases } from './leases.ts';
import { createLists } from './lists.ts';
import { createSweepBook } from './sweeps.ts';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** Path of the database file; its folder is created with mode 0700, the file with 0600. */
  readonly path: string;
  /** How long a command waits for another process, at most, in milliseconds. */
  readonly lockTimeoutMs: number;
  readonly clock: Clock;
  /** For the jitter of the waits. */
  readonly random: Random;
  /** Opens an existing file for reading; every write is answered with a fault. */
  readonly readOnly?: boolean;
}

/**
 * Opens a store. Throws a retryable fault: `FORMAT_TOO_NEW` for a file of a newer release, otherwise
 * `BACKEND_UNAVAILABLE`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<StorageBackend> {
  const { readOnly = false } = options;
  return storeOn(await openDatabase({ ...options, readOnly }), readOnly);
}

/** The port on an open database. */
export function storeOn(database: Database, readOnly: boolean): StorageBackend {
  return {
    snapshot: async <const K extends readonly ItemKey[]>(keys: K): Promise<Snapshot<K>> => {
      checkSnapshot(keys);
      if (keys.length === 0) return [] as Snapshot<K>;
      return database.read((open) => keys.map((key) => readItem(open, key))) as Promise<
        Snapshot<K>
      >;
    },
    commit: async (transaction, deadlineMs) => {
      checkTransaction(transaction.writes);
      return database.write(deadlineMs, (open) => applyTransaction(open, transaction));
    },
    keep: async (write, deadlineMs) => {
      checkBookkeeping(write);
      return database.write(deadlineMs, (open) => applyTransaction(open, { writes: [write] }));
    },
    // One process reads the due work of one file.
    shards: () => Promise.resolve(1),
    ...createLeases(database),
    ...createLists(database),
    ...createBookkeeping(database),
    ...createSweepBook(database),
    purge: async () => !readOnly && database.emptyWal(),
    check: () =>
      readOnly
        ? database.read(() => undefined)
        : database.write(Number.POSITIVE_INFINITY, () => ({ keep: false, value: undefined })),
    close: async () => database.close(),
  };
}
