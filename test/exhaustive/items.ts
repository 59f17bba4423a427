// The table of the exhaustive check as a value: what a store does to its items, without the store.
// Nothing of it is changed in place, so that thousands of states share what they have in common.
import { isDeepStrictEqual } from 'node:util';
import { keyText } from '../../lib/core/keys.ts';
import type {
  CommitResult,
  Expectation,
  FailedCondition,
  ItemKey,
  ItemKind,
  Items,
  Lease,
  Transaction,
  Write,
} from '../../lib/core/ports/storage.ts';

/** A stored item of any kind, as its attributes. */
export type Attributes = Readonly<Record<string, unknown>>;

/** One row: its key and what is stored under it. */
export interface Row {
  readonly key: ItemKey;
  readonly item: Attributes;
}

/** Rows by the text of their keys. */
export type Table = ReadonlyMap<string, Row>;

/** The item under a key. */
export function itemAt<K extends ItemKind>(
  table: Table,
  key: ItemKey & { readonly kind: K },
): Items[K] | undefined {
  return table.get(keyText(key))?.item as Items[K] | undefined;
}

/** The items of one kind, in the order of their keys. */
export function itemsOf<K extends ItemKind>(table: Table, kind: K): readonly Items[K][] {
  const rows = [...table].filter(([, { key }]) => key.kind === kind);
  return rows
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { item }]) => item as unknown as Items[K]);
}

/** What one transaction makes of a table, and what it is answered. */
export function applied(
  table: Table,
  lease: Lease | undefined,
  transaction: Transaction,
): { readonly table: Table; readonly result: CommitResult } {
  const { writes } = transaction;
  const named = transaction.lease;
  if (named !== undefined && (lease?.epoch !== named.epoch || lease.by !== named.by)) {
    return { table, result: { ok: false, failed: [], leaseLost: true } };
  }
  const failed = writes.flatMap((write): readonly FailedCondition[] => {
    const item = table.get(keyText(write.key))?.item;
    if (holds(write, item)) return [];
    const found = item as unknown as Items[ItemKind] | undefined;
    return [{ key: write.key, ...(found !== undefined && { item: found }) }];
  });
  if (failed.length > 0) return { table, result: { ok: false, failed } };
  const after = new Map(table);
  for (const write of writes) {
    const text = keyText(write.key);
    const item = written(write, table.get(text)?.item);
    if (item === undefined) after.delete(text);
    else after.set(text, { key: write.key, item });
  }
  return { table: after, result: { ok: true } };
}

function holds(write: Write, item: Attributes | undefined): boolean {
  switch (write.op) {
    case 'create': {
      const over = Number(item?.['expires_at']) <= (write.expiredAt ?? -1);
      return item === undefined || write.replace === true || over;
    }
    case 'absent':
      return item === undefined;
    case 'delete':
      return item === undefined
        ? Object.keys(write.expect).length === 0
        : meets(item, write.expect);
    default:
      return item !== undefined && meets(item, write.expect);
  }
}

const meets = (item: Attributes, expect: Expectation): boolean =>
  Object.entries(expect).every(([name, wanted]) => isDeepStrictEqual(item[name], wanted));

function written(write: Write, before: Attributes | undefined): Attributes | undefined {
  if (write.op === 'create') return write.item as unknown as Attributes;
  if (write.op === 'delete' || write.op === 'absent') return undefined;
  if (write.op === 'check') return before;
  const after: Record<string, unknown> = { ...before, ...write.set };
  for (const [name, members] of Object.entries(write.put_in ?? {})) {
    after[name] = { ...(after[name] as Attributes | undefined), ...members };
  }
  for (const name of write.remove ?? []) delete after[name];
  return after;
}
