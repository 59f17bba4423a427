// Sizes and keys by the rules of the strictest backend, so that every backend refuses the same.
import { LIMITS } from './limits.ts';
import { isRunId } from './model/aggregate.ts';
import type { ItemKey } from './ports/storage.ts';

/**
 * Bytes of an item by DynamoDB's rules: UTF-8 names and texts, numbers by digits, three bytes per
 * container and one per member. Source: DynamoDB developer guide, item sizes and formats.
 */
export function itemBytes(item: unknown): number {
  if (item === undefined) return 0;
  if (item === null || typeof item === 'boolean') return 1;
  if (typeof item === 'string') return Buffer.byteLength(item, 'utf8');
  if (typeof item === 'number') return Math.min(21, Math.ceil(String(item).length / 2) + 1);
  let sum = 3;
  if (Array.isArray(item)) {
    for (const member of item as unknown[]) sum += 1 + itemBytes(member);
    return sum;
  }
  const members = item as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) {
    sum += 1 + Buffer.byteLength(name, 'utf8') + itemBytes(members[name]);
  }
  return sum;
}

// eslint-disable-next-line no-control-regex -- control characters are what is escaped
const ESCAPED = /[%#\u0000-\u001f\u007f]/gu;

/** Encodes a caller-supplied key part: `%`, `#` and control characters become percent escapes. */
export function encodeKeyPart(part: string): string {
  return part.replace(ESCAPED, (c) => encodeURIComponent(c));
}

/** The partition and sort key of an item in the single-table layout of the design. */
export function tableKey(key: ItemKey): { readonly pk: string; readonly sk: string } {
  const part = encodeKeyPart;
  const tenant = `T#${part(key.tenant)}`;
  const seq = (n: number): string => String(n).padStart(12, '0');
  const owner = (id: string): string => `#${isRunId(id) ? 'R' : 'W'}#${part(id)}`;
  switch (key.kind) {
    case 'workflow':
    case 'run':
      return { pk: tenant + owner(key.id), sk: 'STATE' };
    case 'event':
      return { pk: tenant + owner(key.workflow), sk: `E#${seq(key.seq)}` };
    case 'vault':
      return { pk: tenant + owner(key.workflow), sk: `V#${seq(key.seq)}` };
    case 'evidence':
      return { pk: tenant + owner(key.run), sk: `V#${seq(key.seq)}` };
    case 'outbox':
      return { pk: tenant + owner(key.workflow), sk: `O#${part(key.lane)}#${seq(key.seq)}` };
    case 'ledger':
      return { pk: `${tenant}#I#${part(key.key)}`, sk: 'LEDGER' };
    case 'lock':
      return { pk: `${tenant}#A#${part(key.asset)}`, sk: 'LOCK' };
    case 'ticket':
      return { pk: `${tenant}#K#${part(key.key)}`, sk: 'TICKET' };
    case 'pointer':
      return { pk: `${tenant}#S#${part(key.subject)}`, sk: `ACTIVE#${part(key.workflow)}` };
  }
}

interface Derived {
  readonly text: string;
  readonly partition: number;
  readonly sort: number;
  readonly fault: string | undefined;
}

/** One transaction asks for the same key many times, from its plan to the backend. */
const derived = new WeakMap<ItemKey, Derived>();

function derive(key: ItemKey): Derived {
  const known = derived.get(key);
  if (known !== undefined) return known;
  const { pk, sk } = tableKey(key);
  const partition = Buffer.byteLength(pk, 'utf8');
  const sort = Buffer.byteLength(sk, 'utf8');
  const result = {
    text: `${pk}\n${sk}`,
    partition,
    sort,
    fault: misplaced(key) ?? faultOf(pk, partition, sk, sort),
  };
  derived.set(key, result);
  return result;
}

function faultOf(pk: string, partition: number, sk: string, sort: number): string | undefined {
  // Every lone surrogate becomes the same replacement character in UTF-8.
  if (!pk.isWellFormed() || !sk.isWellFormed()) return 'with half of a character pair';
  if (partition > LIMITS.partitionKeyBytes.max) return `of ${partition} bytes`;
  return sort > LIMITS.sortKeyBytes.max ? `of ${sort} bytes` : undefined;
}

/** An id says of which kind its aggregate is, so that no two of them share a key. */
function misplaced(key: ItemKey): string | undefined {
  switch (key.kind) {
    case 'run':
      return isRunId(key.id) ? undefined : 'that is no run’s';
    case 'evidence':
      return isRunId(key.run) ? undefined : 'that is no run’s';
    case 'workflow':
      return isRunId(key.id) ? 'that is a run’s' : undefined;
    case 'vault':
    case 'pointer':
      return isRunId(key.workflow) ? 'that is a run’s' : undefined;
    default:
      return undefined;
  }
}

/** One text per item, for finding two writes of the same one. */
export const keyText = (key: ItemKey): string => derive(key).text;

/** UTF-8 lengths of an item's keys. */
export function keyBytes(key: ItemKey): { readonly partition: number; readonly sort: number } {
  const { partition, sort } = derive(key);
  return { partition, sort };
}

/** Why no backend takes a key, or undefined: too long, not Unicode text, or of another kind. */
export const keyFault = (key: ItemKey): string | undefined => derive(key).fault;

/** What the attributes of the sparse indexes may add to an item. */
const INDEX_BYTES = 512;

/** Bytes of an item in its table, with key and index attributes. */
export function storedBytes(key: ItemKey, item: unknown): number {
  const { partition, sort } = keyBytes(key);
  return itemBytes(item) + 'pk'.length + partition + 'sk'.length + sort + INDEX_BYTES;
}
