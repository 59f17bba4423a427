// The outbox in the table: heads of lanes, what is due in a shard, what is parked, and single-row
// bookkeeping, which costs half of a transaction of one item.
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { checkBookkeeping } from '../../core/check-transaction.ts';
import { keyFault, tableKey } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import { checkLimit } from '../../core/pages.ts';
import type { CommitResult, DueItem, StorageBackend, Write } from '../../core/ports/storage.ts';
import { parseItem } from './items.ts';
import {
  dueAtOf,
  dueFrom,
  dueKeyOf,
  dueShard,
  dueUntil,
  lanePrefix,
  type Attributes,
} from './keys.ts';
import { cursorAfter, startAfter } from './pages.ts';
import { taken, type Walks } from './query.ts';
import type { Sender } from './send.ts';
import { conditionFailed, primaryKey } from './single.ts';
import { DUE_INDEX, PARTITION_KEY, SORT_KEY } from './table.ts';
import { placeholders, writeItem } from './write-item.ts';

/** How many rows of a lane are looked at in one call: the head is nearly always the first. */
const HEAD_ROWS = 10;

/** What the outbox works with. */
export interface OutboxParts {
  readonly sender: Sender;
  readonly walks: Walks;
  readonly tableName: string;
  readonly shards: () => Promise<number>;
}

/** The outbox of the port, without its lists by tenant. */
export function createOutbox({
  sender,
  walks,
  tableName,
  shards,
}: OutboxParts): Pick<StorageBackend, 'keep' | 'shards' | 'laneHead' | 'listDue'> {
  return {
    shards,
    keep: async (write, deadlineMs) => {
      checkBookkeeping(write);
      const { Update, Delete } = writeItem(tableName, write, await shards());
      const result = await sender.write(
        async (send) => {
          if (Update !== undefined) await send(new UpdateCommand(Update));
          if (Delete !== undefined) await send(new DeleteCommand(Delete));
          return 'kept' as const;
        },
        deadlineMs,
        conditionFailed,
      );
      return result === 'kept' ? { ok: true } : failed(write, result.item);
    },
    laneHead: async (tenant, workflow, lane) => {
      const under = { kind: 'outbox', tenant, workflow, lane, seq: 1 } as const;
      if (keyFault(under) !== undefined) return undefined;
      const use = placeholders();
      const pk = `${use.name(PARTITION_KEY)} = ${use.value(tableKey(under).pk)}`;
      const sk = `begins_with(${use.name(SORT_KEY)}, ${use.value(lanePrefix(lane))})`;
      const rows = walks.query({
        TableName: tableName,
        KeyConditionExpression: `${pk} AND ${sk}`,
        FilterExpression: `attribute_not_exists(${use.name('parked_at')})`,
        ConsistentRead: true,
        Limit: HEAD_ROWS,
        ...use.tables(),
      });
      const [head] = await taken(rows, 1);
      return head === undefined ? undefined : parseItem('outbox', head);
    },
    listDue: async (shard, { from = 0, until, after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const name = ['due', String(shard), String(until)];
      const { partitionKey, sortKey } = DUE_INDEX;
      const start = startAfter(name, DUE_INDEX, dueShard(shard), after);
      const use = placeholders();
      const rows = walks.query({
        TableName: tableName,
        IndexName: DUE_INDEX.name,
        KeyConditionExpression:
          `${use.name(partitionKey)} = ${use.value(dueShard(shard))}` +
          ` AND ${use.name(sortKey)} BETWEEN ${use.value(dueFrom(from))}` +
          ` AND ${use.value(dueUntil(until))}`,
        Limit: limit + 1,
        ...use.tables(),
        ...start,
      });
      const found = await taken(rows, limit + 1);
      const shown = found.slice(0, limit);
      const items = shown.flatMap(dueItem);
      const last = shown.at(-1);
      if (found.length <= limit || last === undefined) return { items };
      return { items, next: cursorAfter(name, DUE_INDEX, last) };
    },
  };
}

function failed(write: Write, row: Attributes): CommitResult {
  const item = PARTITION_KEY in row ? parseItem(write.key.kind, row) : undefined;
  return { ok: false, failed: [{ key: write.key, ...(item !== undefined && { item }) }] };
}

function dueItem(row: Attributes): readonly DueItem[] {
  const key = dueKeyOf(primaryKey(row));
  return key === undefined ? [] : [{ key, due_at: dueAtOf(String(row[DUE_INDEX.sortKey])) }];
}
