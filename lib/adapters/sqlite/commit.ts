// One conditional transaction: every condition is evaluated, then everything is written or nothing.
import { canonicalJson } from '../../core/canonical.ts';
import {
  checkStored,
  checkTotal,
  checkTransaction,
  planRefused,
} from '../../core/check-transaction.ts';
import type { Json } from '../../core/json.ts';
import type {
  CommitResult,
  Expectation,
  FailedCondition,
  Items,
  ItemKind,
  Transaction,
  Write,
} from '../../core/ports/storage.ts';
import type { Connection } from './connection.ts';
import type { Written } from './database.ts';
import { deleteItem, putItem, readItem } from './items.ts';
import { holdsLease } from './leases.ts';

type Item = Items[ItemKind];
type Attributes = Readonly<Record<string, Json>>;

/** Applies a transaction that was checked before, within a database transaction. */
export function applyTransaction(
  connection: Connection,
  { writes, lease }: Transaction,
): Written<CommitResult> {
  if (lease !== undefined && !holdsLease(connection, lease)) {
    return { keep: false, value: { ok: false, failed: [], leaseLost: true } };
  }
  const present = writes.map(({ key }) => readItem(connection, key));
  const failed = writes.flatMap((write, i) => failure(write, present[i]));
  if (failed.length > 0) return { keep: false, value: { ok: false, failed } };
  let total = checkTransaction(writes);
  writes.forEach((write, i) => {
    total += apply(connection, write, present[i]);
  });
  checkTotal(total);
  return { keep: true, value: { ok: true } };
}

function failure(write: Write, item: Item | undefined): readonly FailedCondition[] {
  if (holds(write, item)) return [];
  return [{ key: write.key, ...(item !== undefined && { item }) }];
}

function holds(write: Write, item: Item | undefined): boolean {
  if (write.op === 'create') {
    return item === undefined || write.replace === true || isExpired(item, write.expiredAt);
  }
  if (write.op === 'absent') return item === undefined;
  if (item !== undefined) return meets(item, write.expect);
  return write.op === 'delete' && Object.keys(write.expect).length === 0;
}

function isExpired(item: Item, expiredAt: number | undefined): boolean {
  return expiredAt !== undefined && 'expires_at' in item && item.expires_at <= expiredAt;
}

function meets(item: Item, expect: Expectation): boolean {
  const attributes = item as unknown as Attributes;
  return Object.entries(expect).every(([name, wanted]) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return value !== undefined && (value === wanted || sameJson(value, wanted));
  });
}

function sameJson(a: Json, b: Json): boolean {
  const scalar = typeof a !== 'object' || typeof b !== 'object';
  return !scalar && canonicalJson(a) === canonicalJson(b);
}

/** Writes one item; answers its bytes as stored, where the check could not know them. */
function apply(connection: Connection, write: Write, item: Item | undefined): number {
  switch (write.op) {
    case 'create':
      putItem(connection, write.key, write.item);
      return 0;
    case 'update': {
      const after = changed(item as unknown as Attributes, write);
      putItem(connection, write.key, after);
      return checkStored(write.key, after);
    }
    case 'delete':
      deleteItem(connection, write.key);
      return 0;
    case 'check':
    case 'absent':
      return 0;
  }
}

function changed(before: Attributes, write: Extract<Write, { op: 'update' }>): Item {
  const after: Record<string, Json> = { ...before, ...write.set };
  for (const [name, members] of Object.entries(write.put_in ?? {})) {
    const map = after[name];
    if (typeof map !== 'object' || map === null || Array.isArray(map)) {
      throw planRefused(`${write.key.kind}.${name} has no members`);
    }
    after[name] = { ...(map as Attributes), ...members };
  }
  for (const name of write.remove ?? []) delete after[name];
  return after as unknown as Item;
}
