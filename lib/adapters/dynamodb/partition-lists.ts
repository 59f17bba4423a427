// Lists within one partition of the table: consistent, and in the order of its keys.
import { keyFault, tableKey } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type { ItemKey, ItemKind, Items, StorageBackend } from '../../core/ports/storage.ts';
import { parseItem } from './items.ts';
import { rangeOf, SORT_PREFIX, TENANTS, tenantKey, vaultSeqOf, type Attributes } from './keys.ts';
import { byteOrder, taken, type Walks } from './query.ts';
import { fits } from './single.ts';
import { PARTITION_KEY, SORT_KEY } from './table.ts';
import { placeholders } from './write-item.ts';

type PartitionLists = Pick<
  StorageBackend,
  'listEvents' | 'listEvidence' | 'listVault' | 'listOutbox' | 'listPointers' | 'listTenants'
>;

/** The consistent lists of the port. */
export function createPartitionLists(walks: Walks, tableName: string): PartitionLists {
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

  return {
    listEvents: async (tenant, workflow, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const [first, end] = rangeOf('event', after);
      return first > end
        ? []
        : within({ kind: 'event', tenant, workflow, seq: 1 }, [first, end], limit);
    },
    listEvidence: async (tenant, run, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const [first, end] = rangeOf('evidence', after);
      return first > end
        ? []
        : within({ kind: 'evidence', tenant, run, seq: 1 }, [first, end], limit);
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
        (a, b) => byteOrder(a.since, b.since) || byteOrder(a.workflow, b.workflow),
      );
      return order.slice(0, limit);
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
  };
}
