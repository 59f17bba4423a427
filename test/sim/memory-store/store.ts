// The storage port in memory, for simulations and nothing else. A transaction happens at one moment; plain
// reads see its items one by one while it runs, and the indexes show them later still.
import {
  checkBookkeeping,
  checkSnapshot,
  checkTransaction,
} from '../../../lib/core/check-transaction.ts';
import { Fault } from '../../../lib/core/fault.ts';
import type { Clock } from '../../../lib/core/ports/runtime.ts';
import type {
  CommitResult,
  ItemKey,
  Snapshot,
  StorageBackend,
  Transaction,
} from '../../../lib/core/ports/storage.ts';
import { storeAround } from './around.ts';
import { createBookkeeping, createLeases, createSweepBook } from './books.ts';
import { changes, failures, type Change } from './commit.ts';
import { createLists } from './lists.ts';
import { Rows, show } from './rows.ts';

/** What happens between two steps of the store itself; without it, everything happens at once. */
export interface Pace {
  /** Waits before the next item of a running transaction shows. */
  item(): Promise<void>;
  /** Runs a change of an index later. */
  later(change: () => void): void;
  /** Waits until one more item has shown. */
  shown(): Promise<void>;
  /** Hears of the writes of a transaction at the moment at which they happen. */
  wrote?(writes: Transaction['writes']): void;
}

/** A store in memory, and its rows for checks. */
export interface MemoryStore {
  readonly rows: Rows;
  /** The store as one more process opens it: deadlines by its own clock, formats that its release reads. */
  readonly open: (own?: Pick<Clock, 'now'>, reads?: number) => StorageBackend;
}

/** Makes an empty store. */
export function createMemoryStore(clock: Pick<Clock, 'now'>, pace?: Pace): MemoryStore {
  const every = new Rows();
  const { holds, ...leases } = createLeases();

  const books = { ...leases, ...createBookkeeping(), ...createSweepBook() };
  const write = async (
    { writes, lease }: Transaction,
    deadlineMs: number,
    own: Pick<Clock, 'now'>,
    rows: Rows,
  ): Promise<CommitResult> => {
    if (own.now() >= deadlineMs) throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'too late');
    if (lease !== undefined && !holds(lease)) return { ok: false, failed: [], leaseLost: true };
    if (writes.some(({ key }) => rows.find(key)?.busy === true)) {
      return { ok: false, failed: [], contended: true };
    }
    const failed = failures(rows, writes);
    if (failed.length > 0) return { ok: false, failed };
    const made = changes(rows, writes);
    const applied = apply(made, pace);
    pace?.wrote?.(writes);
    await applied;
    return { ok: true };
  };

  const storeFor = (own: Pick<Clock, 'now'>, rows: Rows): StorageBackend => ({
    snapshot: async <const K extends readonly ItemKey[]>(keys: K): Promise<Snapshot<K>> => {
      checkSnapshot(keys);
      // What is being written is read once all of it is there.
      while (keys.some((key) => rows.find(key)?.busy === true)) await pace?.shown();
      return keys.map((key) => rows.read(key)) as Snapshot<K>;
    },
    commit: async (transaction, deadlineMs) => {
      checkTransaction(transaction.writes);
      return write(transaction, deadlineMs, own, rows);
    },
    keep: async (one, deadlineMs) => {
      checkBookkeeping(one);
      return write({ writes: [one] }, deadlineMs, own, rows);
    },
    shards: () => Promise.resolve(1),
    ...books,
    ...createLists(rows),
    purge: () => Promise.resolve(true),
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });
  return {
    rows: every,
    open: (own = clock, reads = every.reads) => opened(storeFor(own, every.as(reads))),
  };
}

function opened(store: StorageBackend): StorageBackend {
  let closed = false;
  return storeAround(store, (name, send) => {
    if (closed && name !== 'close') {
      return Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'the store is closed'));
    }
    closed = name === 'close';
    return send();
  });
}

/** All at once for transactions; one after the other, with pauses, for everybody else. */
async function apply(made: readonly Change[], pace: Pace | undefined): Promise<void> {
  for (const { row, item } of made) show(row, 'now', item);
  if (pace === undefined) {
    for (const { row, item } of made) {
      show(row, 'plain', item);
      show(row, 'index', item);
    }
    return;
  }
  for (const { row } of made) row.busy = true;
  for (const { row, item } of made) {
    await pace.item();
    show(row, 'plain', item);
    row.busy = false;
    pace.later(() => show(row, 'index', row.views.plain));
  }
}
