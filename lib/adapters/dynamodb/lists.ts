// Lists within one partition, which are consistent, and lists by an index, which may lag: an index
// only finds candidates, and each is read from the table before it is given.
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { keyFault, tableKey } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import type { OutboxRow, Workflow, WorkflowState } from '../../core/model/workflow.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type { ItemKey, ItemKind, Items, Page, StorageBackend } from '../../core/ports/storage.ts';
import { parseItem } from './items.ts';
import {
  aggregatesOf,
  assetList,
  assetOf,
  dueShard,
  lockList,
  parkedList,
  rangeOf,
  SORT_PREFIX,
  TENANTS,
  tenantKey,
  vaultSeqOf,
  workflowList,
  type Attributes,
} from './keys.ts';
import { cursorAfter, startAfter, taken } from './pages.ts';
import { fits, primaryKey } from './single.ts';

import { DUE_INDEX, LIST_INDEX, PARTITION_KEY, SORT_KEY, type TableIndex } from './table.ts';
import type { Walks } from './query.ts';
import { placeholders } from './write-item.ts';

type Lists = Pick<
  StorageBackend,
  | 'listEvents'
  | 'listVault'
  | 'listOutbox'
  | 'listParked'
  | 'listPointers'
  | 'listWorkflows'
  | 'listAssets'
  | 'listTenants'
  | 'listLocks'
  | 'countWorkflows'
  | 'listTenantOutbox'
>;

interface At {
  readonly after?: string;
  readonly limit: number;
}

/** The lists of the port, without those that walk the whole table. */
export function createLists(walks: Walks, tableName: string, shards: () => Promise<number>): Lists {
  /** Rows of one partition whose sort keys begin with a text, or lie between two. */
  const walk = async (
    under: ItemKey,
    sort: string | readonly [string, string],
    limit: number,
  ): Promise<Attributes[]> => {
    if (keyFault(under) !== undefined) return [];
    const use = placeholders();
    const pk = `${use.name(PARTITION_KEY)} = ${use.value(tableKey(under).pk)}`;
    const sk = use.name(SORT_KEY);
    const between =
      typeof sort === 'string'
        ? `begins_with(${sk}, ${use.value(sort)})`
        : `${sk} BETWEEN ${use.value(sort[0])} AND ${use.value(sort[1])}`;
    const rows = walks.query({
      TableName: tableName,
      KeyConditionExpression: `${pk} AND ${between}`,
      ConsistentRead: true,
      ...(limit !== Number.POSITIVE_INFINITY && { Limit: limit }),
      ...use.tables(),
    });
    return taken(rows, limit);
  };

  const within = async <K extends ItemKind>(
    under: ItemKey & { readonly kind: K },
    sort: string | readonly [string, string],
    limit: number,
  ): Promise<Items[K][]> =>
    (await walk(under, sort, limit)).map((row) => parseItem(under.kind, row));

  const inIndex = (
    { name, partitionKey }: TableIndex,
    partition: string,
    limit: number,
    tenant?: string,
  ): QueryCommandInput => {
    const use = placeholders();
    const KeyConditionExpression = `${use.name(partitionKey)} = ${use.value(partition)}`;
    const FilterExpression =
      tenant === undefined
        ? undefined
        : `begins_with(${use.name(PARTITION_KEY)}, ${use.value(aggregatesOf(tenant))})` +
          ` AND begins_with(${use.name(SORT_KEY)}, ${use.value(SORT_PREFIX.outbox)})`;
    const common = { TableName: tableName, IndexName: name, KeyConditionExpression };
    return FilterExpression === undefined
      ? { ...common, Limit: limit, ...use.tables() }
      : { ...common, FilterExpression, ...use.tables() };
  };

  /** A page of the list index: candidates in its order, as far as their records still belong to it. */
  const listed = async <K extends 'workflow' | 'lock' | 'outbox'>(
    kind: K,
    name: readonly string[],
    partition: string,
    { after, limit }: At,
    belongs: (item: Items[K]) => boolean,
  ): Promise<Page<Items[K]>> => {
    checkLimit(limit, LIMITS.pageItems.max);
    const candidates = walks.query({
      ...inIndex(LIST_INDEX, partition, limit + 1),
      ...startAfter(name, LIST_INDEX, partition, after),
    });
    const items: Items[K][] = [];
    let last: Attributes | undefined;
    for (;;) {
      const batch = await taken(candidates, limit - items.length);
      const keys = batch.map(primaryKey);
      for (const row of await walks.rows(keys)) {
        const item = row === undefined ? undefined : parseItem(kind, row);
        if (item !== undefined && belongs(item)) items.push(item);
      }
      last = batch.at(-1) ?? last;
      if (batch.length === 0 || items.length === limit) break;
    }
    const more = (await taken(candidates, 1)).length > 0;
    if (!more || last === undefined) return { items };
    return { items, next: cursorAfter(name, LIST_INDEX, last) };
  };

  return {
    listEvents: async (tenant, workflow, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const [first, end] = rangeOf('event', after);
      return first > end
        ? []
        : within({ kind: 'event', tenant, workflow, seq: 1 }, [first, end], limit);
    },
    listVault: async (tenant, workflow, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const [first, end] = rangeOf('vault', after);
      if (first > end) return [];
      const rows = await walk({ kind: 'vault', tenant, workflow, seq: 1 }, [first, end], limit);
      return rows.map((row) => vaultSeqOf(String(row[SORT_KEY])));
    },
    listOutbox: async (tenant, workflow, limit) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const under = { kind: 'outbox', tenant, workflow, lane: '', seq: 1 } as const;
      return within(under, SORT_PREFIX.outbox, limit);
    },
    listPointers: async (tenant, subject, limit) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const under = { kind: 'pointer', tenant, subject, workflow: '' } as const;
      // One person has few active workflows, and their keys are not in the order of time.
      const all = await within(under, SORT_PREFIX.pointer, Number.POSITIVE_INFINITY);
      const order = all.toSorted(
        (a, b) => compare(a.since, b.since) || compare(a.workflow, b.workflow),
      );
      return order.slice(0, limit);
    },
    listWorkflows: (tenant, state: WorkflowState, at) =>
      listed(
        'workflow',
        ['state', tenant, state],
        workflowList(tenant, state),
        at,
        (item: Workflow) => item.tenant === tenant && item.state === state,
      ),
    listLocks: (tenant, at) =>
      listed(
        'lock',
        ['locks', tenant],
        lockList(tenant),
        at,
        (item) => item.tenant === tenant && item.held,
      ),
    listParked: (tenant, at) =>
      listed(
        'outbox',
        ['parked', tenant],
        parkedList(tenant),
        at,
        (item) => item.tenant === tenant && item.parked_at !== undefined,
      ),
    listAssets: async (tenant, limit) => {
      checkLimit(limit, LIMITS.listedAssets.max);
      if (keyFault({ kind: 'lock', tenant, asset: '' }) !== undefined) return [];
      // The asset is in the key of its lock, which is never deleted: there is nothing more to read.
      const found = await taken(walks.query(inIndex(DUE_INDEX, assetList(tenant), limit)), limit);
      const assets = found.map((row) => assetOf(String(row[PARTITION_KEY])));
      return assets.filter((asset) => asset !== undefined).toSorted(compare);
    },
    listTenants: async ({ after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const name = ['tenants'];
      const from = after === undefined ? undefined : readCursor(name, after)[0];
      const start = from === undefined ? undefined : tenantKey(from);
      if (start !== undefined && !fits(start)) throw foreignCursor();
      const use = placeholders();
      const rows = walks.query({
        TableName: tableName,
        KeyConditionExpression: `${use.name(PARTITION_KEY)} = ${use.value(TENANTS)}`,
        ConsistentRead: true,
        Limit: limit + 1,
        ...(start !== undefined && { ExclusiveStartKey: { ...start } }),
        ...use.tables(),
      });
      const found = await taken(rows, limit + 1);
      const items = found.slice(0, limit).map(({ tenant }) => String(tenant));
      const last = items.at(-1);
      if (found.length <= limit || last === undefined) return { items };
      return { items, next: writeCursor(name, [last, '']) };
    },
    countWorkflows: async (tenant, state, most) => {
      checkLimit(most, LIMITS.countedWorkflows.max);
      return walks.count(inIndex(LIST_INDEX, workflowList(tenant, state), most), most);
    },
    listTenantOutbox: async (tenant, limit) => {
      checkLimit(limit, LIMITS.pageItems.max);
      if (keyFault({ kind: 'lock', tenant, asset: '' }) !== undefined) return [];
      // All that is due is looked through: little where it is delivered, and an index entry of the
      // tenant's own would cost every row two more writes.
      const perShard = await Promise.all(
        Array.from({ length: await shards() }, (_, shard) =>
          taken(walks.query(inIndex(DUE_INDEX, dueShard(shard), limit, tenant)), limit),
        ),
      );
      const { sortKey } = DUE_INDEX;
      const candidates = perShard
        .flat()
        .toSorted((a, b) => compare(String(a[sortKey]), String(b[sortKey])));
      const found: OutboxRow[] = [];
      while (candidates.length > 0 && found.length < limit) {
        const keys = candidates.splice(0, limit - found.length).map(primaryKey);
        for (const row of await walks.rows(keys)) {
          if (row !== undefined) found.push(parseItem('outbox', row));
        }
      }
      return found.toSorted(
        (a, b) =>
          a.due_at - b.due_at ||
          compare(a.workflow, b.workflow) ||
          compare(a.lane, b.lane) ||
          a.seq - b.seq,
      );
    },
  };
}

/** In the order of UTF-8 bytes, which is that of the table. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
}
