// Lists by an index, which may lag: an index only finds candidates, and each is read from the table
// before it is given.
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { keyFault } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import type { OutboxRow, Workflow, WorkflowState } from '../../core/model/workflow.ts';
import { checkLimit } from '../../core/pages.ts';
import type { Items, Page, StorageBackend } from '../../core/ports/storage.ts';
import { parseItem } from './items.ts';
import {
  aggregatesOf,
  assetList,
  assetOf,
  dueShard,
  lockList,
  parkedList,
  SORT_PREFIX,
  runList,
  workflowList,
  type Attributes,
} from './keys.ts';
import { cursorAfter, startAfter } from './pages.ts';
import { byteOrder, taken, type Walks } from './query.ts';
import { primaryKey } from './single.ts';
import { DUE_INDEX, LIST_INDEX, PARTITION_KEY, SORT_KEY, type TableIndex } from './table.ts';
import { placeholders } from './write-item.ts';

type IndexLists = Pick<
  StorageBackend,
  | 'listParked'
  | 'listWorkflows'
  | 'listRuns'
  | 'listAssets'
  | 'listLocks'
  | 'countWorkflows'
  | 'countRuns'
  | 'listTenantOutbox'
>;

interface At {
  readonly after?: string;
  readonly limit: number;
}

/** The lists of the port that may lag. `shards` answers the number of shards of due work. */
export function createIndexLists(
  walks: Walks,
  tableName: string,
  shards: () => Promise<number>,
): IndexLists {
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
        : `(${aggregatesOf(tenant)
            .map((start) => `begins_with(${use.name(PARTITION_KEY)}, ${use.value(start)})`)
            .join(' OR ')})` +
          ` AND begins_with(${use.name(SORT_KEY)}, ${use.value(SORT_PREFIX.outbox)})`;
    const common = { TableName: tableName, IndexName: name, KeyConditionExpression };
    return FilterExpression === undefined
      ? { ...common, Limit: limit, ...use.tables() }
      : { ...common, FilterExpression, ...use.tables() };
  };

  /** A page of the list index: candidates in its order, as far as their records still belong to it. */
  const listed = async <K extends 'workflow' | 'run' | 'lock' | 'outbox'>(
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

  const counted = async (partition: string, most: number): Promise<number> => {
    checkLimit(most, LIMITS.countedWorkflows.max);
    return walks.count(inIndex(LIST_INDEX, partition, most), most);
  };

  return {
    listWorkflows: (tenant, state: WorkflowState, at) =>
      listed(
        'workflow',
        ['state', tenant, state],
        workflowList(tenant, state),
        at,
        (item: Workflow) => item.tenant === tenant && item.state === state,
      ),
    listRuns: (tenant, state, at) =>
      listed(
        'run',
        ['runs', tenant, state],
        runList(tenant, state),
        at,
        (item) => item.tenant === tenant && item.state === state,
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
      return assets.filter((asset) => asset !== undefined).toSorted(byteOrder);
    },
    countWorkflows: (tenant, state, most) => counted(workflowList(tenant, state), most),
    countRuns: (tenant, state, most) => counted(runList(tenant, state), most),
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
        .toSorted((a, b) => byteOrder(String(a[sortKey]), String(b[sortKey])));
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
          byteOrder(a.workflow, b.workflow) ||
          byteOrder(a.lane, b.lane) ||
          a.seq - b.seq,
      );
    },
  };
}
