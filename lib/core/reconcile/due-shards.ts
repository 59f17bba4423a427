// Which shards have due work: one read each, and no lease is taken for it.
import type { DueItem, Page, StorageBackend } from '../ports/storage.ts';

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
  const pages = await Promise.all(
    all.map((shard) => store.listDue(shard, { until: now, limit: 1 })),
  );
  const shards = all.filter((_, i) => holdsWork(pages[i]));
  const waits = pages.flatMap(({ items }) => items.map(({ due_at }) => now - due_at));
  return { shards, overdueMs: Math.max(0, ...waits) };
}

/** Whether a shard has anything due; its first page may hold nothing that is known. */
export async function isDue(
  store: Pick<StorageBackend, 'listDue'>,
  shard: number,
  now: number,
): Promise<boolean> {
  return holdsWork(await store.listDue(shard, { until: now, limit: 1 }));
}

const holdsWork = (page: Page<DueItem> | undefined): boolean =>
  page !== undefined && (page.items.length > 0 || page.next !== undefined);
