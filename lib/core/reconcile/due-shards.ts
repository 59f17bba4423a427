// Which shards have due work: one read each, and no lease is taken for it.
import type { StorageBackend } from '../ports/storage.ts';

/** The shards with anything due at `now` (epoch milliseconds), in their order. */
export async function dueShards(
  store: Pick<StorageBackend, 'shards' | 'listDue'>,
  now: number,
): Promise<readonly number[]> {
  const all = Array.from({ length: await store.shards() }, (_, shard) => shard);
  const due = await Promise.all(all.map((shard) => isDue(store, shard, now)));
  return all.filter((_, i) => due[i]);
}

/** Whether a shard has anything due; its first page may hold nothing that is known. */
export async function isDue(
  store: Pick<StorageBackend, 'listDue'>,
  shard: number,
  now: number,
): Promise<boolean> {
  const { items, next } = await store.listDue(shard, { until: now, limit: 1 });
  return items.length > 0 || next !== undefined;
}
