// One conditional transaction on rows: every condition is evaluated at once, then all is written or nothing.
import { canonicalJson } from '../../../lib/core/canonical.ts';
import {
  checkStored,
  checkTotal,
  checkTransaction,
  planRefused,
} from '../../../lib/core/check-transaction.ts';
import type { Json } from '../../../lib/core/json.ts';
import type {
  Expectation,
  FailedCondition,
  ItemKind,
  Items,
  Write,
} from '../../../lib/core/ports/storage.ts';
import { kept, type Row, type Rows } from './rows.ts';

type Item = Items[ItemKind];
type Attributes = Readonly<Record<string, Json>>;

/** A row and what it becomes; without an item it goes. */
export interface Change {
  readonly row: Row;
  readonly item: Item | undefined;
}

/** The conditions that do not hold now. */
export function failures(rows: Rows, writes: readonly Write[]): readonly FailedCondition[] {
  return writes.flatMap((write) => {
    const item = rows.read(write.key);
    if (holds(write, item)) return [];
    return [{ key: write.key, ...(item !== undefined && { item }) }];
  });
}

/** What the writes make of their rows. Throws `PLAN_REFUSED` for items that get too large. */
export function changes(rows: Rows, writes: readonly Write[]): readonly Change[] {
  let total = checkTransaction(writes);
  const made = writes.flatMap((write): readonly (() => Change)[] => {
    if (write.op === 'check' || write.op === 'absent') return [];
    if (write.op === 'delete') return [() => ({ row: rows.at(write.key), item: undefined })];
    if (write.op === 'create') {
      return [() => ({ row: rows.at(write.key), item: kept(write.item) })];
    }
    const after = changed(rows.read(write.key) as unknown as Attributes, write);
    total += checkStored(write.key, after);
    return [() => ({ row: rows.at(write.key), item: kept(after) })];
  });
  checkTotal(total);
  return made.map((make) => make());
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
    if (value === undefined || value === wanted) return value !== undefined;
    const both = typeof value === 'object' && typeof wanted === 'object';
    return both && canonicalJson(value) === canonicalJson(wanted);
  });
}

function changed(before: Attributes, write: Extract<Write, { op: 'update' }>): Attributes {
  const after: Record<string, Json> = { ...before, ...write.set };
  for (const [name, members] of Object.entries(write.put_in ?? {})) {
    const map = after[name];
    if (typeof map !== 'object' || map === null || Array.isArray(map)) {
      throw planRefused(`${write.key.kind}.${name} has no members`);
    }
    after[name] = { ...(map as Attributes), ...members };
  }
  for (const name of write.remove ?? []) delete after[name];
  return after;
}
