// What every backend refuses before it sends anything, by the rules of the strictest one.
// Shared by the plan compiler and by backends, because a transaction can come from elsewhere.
import { Fault } from './fault.ts';
import { checkJson, JsonFault } from './json.ts';
import { itemBytes, keyFault, keyText, storedBytes } from './keys.ts';
import { LIMITS } from './limits.ts';
import type { ItemKey, Write } from './ports/storage.ts';

/** The smallest amount above zero that DynamoDB keeps. */
const SMALLEST_NUMBER = 1e-130;

/** The fault for a plan, a transaction or a snapshot that no backend takes. */
export function planRefused(what: string): Fault {
  return new Fault('terminal', 'PLAN_REFUSED', `plan refused: ${what}`);
}

/** Bytes of what a checked list of writes creates. A list is never changed once it is made. */
const checked = new WeakMap<readonly Write[], number>();

/**
 * Checks the writes of one transaction, once; answers the bytes of the items it creates. Throws a terminal fault `PLAN_REFUSED` for none or more
 * than 100 items, two writes of one item, items of two tenants, an item under another item's key,
 * content that cannot be kept exactly, keys or items too long, and more than 4 MB in all.
 */
export function checkTransaction(writes: readonly Write[]): number {
  const known = checked.get(writes);
  if (known !== undefined) return known;
  if (writes.length === 0 || writes.length > LIMITS.transactionItems.max) {
    throw planRefused(`${writes.length} items in one transaction`);
  }
  checkKeys(writes.map(({ key }) => key));
  let created = 0;
  let changed = 0;
  for (const write of writes) {
    if (write.key.tenant !== writes[0]?.key.tenant) throw planRefused('items of two tenants');
    checkContent(write);
    if (write.op === 'create') created += checkStored(write.key, write.item);
    else changed += checkBytes(write.key, itemBytes(write));
  }
  checkTotal(created + changed);
  checked.set(writes, created);
  return created;
}

/**
 * Checks one write of bookkeeping: an update or a delete of an outbox row, or another due time of a
 * workflow or a run. Throws `PLAN_REFUSED` for anything else, and for what `checkTransaction` refuses.
 */
export function checkBookkeeping(write: Write): void {
  if (!isBookkeeping(write)) {
    throw planRefused(`a ${write.op} of a ${write.key.kind} is no bookkeeping`);
  }
  checkTransaction([write]);
}

function isBookkeeping(write: Write): boolean {
  if (write.key.kind === 'outbox') return write.op === 'update' || write.op === 'delete';
  const { kind } = write.key;
  if ((kind !== 'workflow' && kind !== 'run') || write.op !== 'update') return false;
  const changed = [...Object.keys({ ...write.set, ...write.put_in }), ...(write.remove ?? [])];
  return 'version' in write.expect && changed.every((name) => name === 'due_at');
}

/** Checks the keys of one snapshot: at most 100, none twice. Throws `PLAN_REFUSED`. */
export function checkSnapshot(keys: readonly ItemKey[]): void {
  if (keys.length > LIMITS.transactionItems.max) {
    throw planRefused(`${keys.length} items in one snapshot`);
  }
  checkDistinct(keys);
}

/** The bytes of an item as it is stored. Throws `PLAN_REFUSED` beyond the largest item. */
export function checkStored(key: ItemKey, item: unknown): number {
  return checkBytes(key, storedBytes(key, item));
}

/** Checks the bytes of all items of a transaction together. Throws `PLAN_REFUSED`. */
export function checkTotal(bytes: number): void {
  if (bytes > LIMITS.transactionBytes.max) throw planRefused(`a transaction of ${bytes} bytes`);
}

function checkKeys(keys: readonly ItemKey[]): void {
  for (const key of keys) {
    const fault = keyFault(key);
    if (fault !== undefined) throw planRefused(`a ${key.kind} key ${fault}`);
  }
  checkDistinct(keys);
}

function checkDistinct(keys: readonly ItemKey[]): void {
  const seen = new Set<string>();
  for (const key of keys) {
    const text = keyText(key);
    if (seen.has(text)) throw planRefused(`the plan names one ${key.kind} twice`);
    seen.add(text);
  }
}

function checkBytes(key: ItemKey, bytes: number): number {
  if (bytes > LIMITS.itemBytes.max) throw planRefused(`a ${key.kind} of ${bytes} bytes`);
  return bytes;
}

function checkContent(write: Write): void {
  const { kind } = write.key;
  const { kind: _kind, ...identity } = write.key;
  try {
    checkJson(write.op === 'create' ? write.item : write);
  } catch (error) {
    if (error instanceof JsonFault) throw planRefused(`a ${kind} with ${error.message}`);
    throw error;
  }
  if (hasTinyNumber(write)) throw planRefused(`a ${kind} with a number too small to be kept`);
  if (write.op === 'create') {
    const item = write.item as unknown as Readonly<Record<string, unknown>>;
    const differs = Object.entries(identity).some(([name, value]) => item[name] !== value);
    if (differs) throw planRefused(`a ${kind} under a key that is not its own`);
  } else if (write.op === 'update') {
    const changed = [...Object.keys({ ...write.set }), ...Object.keys({ ...write.put_in })];
    changed.push(...(write.remove ?? []));
    const named = changed.find((name) => Object.hasOwn(identity, name));
    if (named !== undefined) throw planRefused(`a change of the key attribute ${kind}.${named}`);
    if (new Set(changed).size < changed.length) {
      throw planRefused(`two changes of one attribute of a ${kind}`);
    }
  }
}

function hasTinyNumber(value: unknown): boolean {
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < SMALLEST_NUMBER;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasTinyNumber);
}
