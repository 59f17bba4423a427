// Which shards have due work: one read each, and no lease is taken for it.
import type { DueItem, DueWindow, Page, StorageBackend } from '../ports/storage.ts';
import { LIMITS } from '../limits.ts';
import { RECONCILE } from './timing.ts';

/** What is due at one moment. */
export interface DueShards {
  /** The shards with anything due, in their order. */
  readonly shards: readonly number[];
  /** How long the earliest of it has been due, in milliseconds; 0 where nothing is. */
  readonly overdueMs: number;
}

/** Looks at every shard at `now` (epoch milliseconds). */
export async function dueShards(
  store: Pick<StorageBackend, 'shards' | 'listDue'>,
  now: number,
): Promise<DueShards> {
  const all = Array.from({ length: await store.shards() }, (_, shard) => shard);
  const found = await Promise.all(all.map((shard) => firstDue(store, shard, now)));
  const shards = all.filter((_, i) => found[i]?.some(holdsWork));
  const due = found.flat().flatMap(({ items }) => items);
  const waits = due.map(({ due_at }) => now - due_at);
  return { shards, overdueMs: Math.max(0, ...waits) };
}

/** Whether a shard has anything due; its first page may hold nothing that is known. */
export async function isDue(
  store: Pick<StorageBackend, 'listDue'>,
  shard: number,
  now: number,
): Promise<boolean> {
  return (await firstDue(store, shard, now)).some(holdsWork);
}

/**
 * The due times that are looked through at `now`: all that have come and, once an hour, those further
 * ahead than anybody puts anything off. A clock that was days ahead for a while wrote them.
 */
function dueWindows(now: number): readonly DueWindow[] {
  const minute = Math.floor(now / 60_000) % 60;
  const ahead = { from: now + RECONCILE.furthestMs, until: END_OF_TIME };
  return [{ until: now }, ...(minute === RECONCILE.aheadMinute ? [ahead] : [])];
}

/** What is due in a shard at `now`, page by page; nothing more is read once `goOn` answers false. */
export async function* duePages(
  store: Pick<StorageBackend, 'listDue'>,
  shard: number,
  now: number,
  goOn: () => boolean,
): AsyncGenerator<readonly DueItem[]> {
  const limit = LIMITS.pageItems.max;
  for (const window of dueWindows(now)) {
    for (let after: string | undefined; goOn();) {
      const at = { ...window, limit, ...(after !== undefined && { after }) };
      const { items, next } = await store.listDue(shard, at);
      yield items;
      after = next;
      if (after === undefined) break;
    }
  }
}

/** The last millisecond of the year 9999. */
const END_OF_TIME = 253_402_300_799_999;

const firstDue = (
  store: Pick<StorageBackend, 'listDue'>,
  shard: number,
  now: number,
): Promise<readonly Page<DueItem>[]> =>
  Promise.all(dueWindows(now).map((window) => store.listDue(shard, { ...window, limit: 1 })));

const holdsWork = ({ items, next }: Page<DueItem>): boolean =>
  items.length > 0 || next !== undefined;
