// Items as rows: which columns a kind has, and what is checked when a row is read.
// The body is the whole item; columns repeat what is searched by. Unknown attributes are kept.
import { Fault } from '../../core/fault.ts';
import { keyFault } from '../../core/keys.ts';
import { FORMAT } from '../../core/model/workflow.ts';
import type { ItemKey, ItemKind, Items } from '../../core/ports/storage.ts';
import type { Connection } from './connection.ts';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  /** Attributes of the item that have a column because lists search by them. */
  readonly also: readonly string[];
}

const TABLES: { readonly [K in ItemKind]: Table } = {
  workflow: { name: 'workflows', key: ['tenant', 'id'], also: ['state', 'created_at'] },
  event: { name: 'events', key: ['tenant', 'workflow', 'seq'], also: [] },
  ledger: { name: 'ledger', key: ['tenant', 'key'], also: ['expires_at'] },
  lock: { name: 'locks', key: ['tenant', 'asset'], also: [] },
  pointer: { name: 'pointers', key: ['tenant', 'subject', 'workflow'], also: ['since'] },
  vault: { name: 'vault', key: ['tenant', 'workflow', 'seq'], also: [] },
  outbox: { name: 'outbox', key: ['tenant', 'workflow', 'lane', 'seq'], also: ['due_at'] },
  run: { name: 'runs', key: ['tenant', 'id'], also: ['state', 'created_at'] },
  evidence: { name: 'evidence', key: ['tenant', 'run', 'seq'], also: [] },
  ticket: { name: 'tickets', key: ['tenant', 'key'], also: [] },
};

interface Statements {
  readonly get: string;
  readonly put: string;
  readonly delete: string;
}

const STATEMENTS = Object.fromEntries(
  Object.entries(TABLES).map(([kind, table]) => [kind, statementsOf(table)]),
) as { readonly [K in ItemKind]: Statements };

function statementsOf({ name, key, also }: Table): Statements {
  const quoted = (names: readonly string[]): string => names.map((n) => `"${n}"`).join(', ');
  const columns = [...key, ...also, 'body'];
  const where = key.map((column) => `"${column}" = ?`).join(' AND ');
  const changes = [...also, 'body'].map((column) => `"${column}" = excluded."${column}"`);
  return {
    get: `SELECT body FROM ${name} WHERE ${where}`,
    put: `INSERT INTO ${name} (${quoted(columns)}) VALUES (${columns.map(() => '?').join(', ')})
          ON CONFLICT (${quoted(key)}) DO UPDATE SET ${changes.join(', ')}`,
    delete: `DELETE FROM ${name} WHERE ${where}`,
  };
}

/** Reads one item. A key that nothing can be written under finds nothing. */
export function readItem<K extends ItemKey>(
  connection: Connection,
  key: K,
): Items[K['kind']] | undefined {
  if (keyFault(key) !== undefined) return undefined;
  const { get } = STATEMENTS[key.kind];
  const row = connection.statement(get).get(...attributes(key, TABLES[key.kind].key));
  return row === undefined ? undefined : parseItem<K['kind']>(key.kind, row['body']);
}

/** Writes one item under its key, whether there was one or not. */
export function putItem(connection: Connection, key: ItemKey, item: Items[ItemKind]): void {
  const { key: columns, also } = TABLES[key.kind];
  const values = [...attributes(key, columns), ...attributes(item, also)];
  connection.statement(STATEMENTS[key.kind].put).run(...values, JSON.stringify(item));
}

/** Deletes one item, if there is one. */
export function deleteItem(connection: Connection, key: ItemKey): void {
  const values = attributes(key, TABLES[key.kind].key);
  connection.statement(STATEMENTS[key.kind].delete).run(...values);
}

/**
 * Parses a stored body. Throws the retryable fault `FORMAT_TOO_NEW` for an item that a newer
 * release wrote, and `BACKEND_UNAVAILABLE` for one that cannot be read.
 */
export function parseItem<K extends ItemKind>(kind: K, body: unknown): Items[K] {
  let item: unknown;
  try {
    item = JSON.parse(String(body));
  } catch (error) {
    throw damaged(kind, error);
  }
  const format = typeof item === 'object' && item !== null && 'format' in item && item.format;
  if (typeof format !== 'number') throw damaged(kind);
  if (format > FORMAT) {
    const what = `a stored ${kind} has format ${format}, this release reads ${FORMAT}`;
    throw new Fault('retryable', 'FORMAT_TOO_NEW', what);
  }
  return item as Items[K];
}

/** The fault for an item that is there and cannot be understood. */
export function damaged(kind: ItemKind, cause?: unknown): Fault {
  return new Fault('retryable', 'ITEM_DAMAGED', `a stored ${kind} is damaged`, { cause });
}

function attributes(of: object, names: readonly string[]): (string | number)[] {
  const values = of as Readonly<Record<string, string | number>>;
  return names.map((name) => values[name] as string | number);
}
