// The peer of the store: the same rows in the same tables by the bare engine. Transactions of a service
// are recorded as rows once, and then written again with prepared statements and nothing else.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { ItemKey, ItemKind, StorageBackend } from '../../../lib/core/ports/storage.ts';
import { openStore } from './service-on.ts';

type Value = string | number;

/** One row to write: the statement's text and its values. */
export interface RowWrite {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Columns of each kind: key, others beside the body. As in the store's schema. */
const COLUMNS: {
  readonly [K in ItemKind]: readonly [string, readonly string[], readonly string[]];
} = {
  workflow: ['workflows', ['tenant', 'id'], ['state', 'created_at']],
  event: ['events', ['tenant', 'workflow', 'seq'], []],
  ledger: ['ledger', ['tenant', 'key'], ['expires_at']],
  lock: ['locks', ['tenant', 'asset'], []],
  pointer: ['pointers', ['tenant', 'subject', 'workflow'], ['since']],
  vault: ['vault', ['tenant', 'workflow', 'seq'], []],
  outbox: ['outbox', ['tenant', 'workflow', 'lane', 'seq'], ['due_at']],
  run: ['runs', ['tenant', 'id'], ['state', 'created_at']],
  evidence: ['evidence', ['tenant', 'run', 'seq'], []],
  ticket: ['tickets', ['tenant', 'key'], []],
};

/** The row of an item, inserted or (`update`) written over the one with its key. */
export function rowOf(key: ItemKey, item: object, update = false): RowWrite {
  const [table, keys, others] = COLUMNS[key.kind];
  const of = { ...item, ...key } as unknown as Readonly<Record<string, Value>>;
  const value = (name: string): Value => of[name] as Value;
  const body = JSON.stringify(item);
  if (update) {
    const set = [...others, 'body'].map((name) => `${name} = ?`).join(', ');
    const where = keys.map((name) => `"${name}" = ?`).join(' AND ');
    const values = [...others.map(value), body, ...keys.map(value)];
    return { sql: `UPDATE ${table} SET ${set} WHERE ${where}`, values };
  }
  const names = [...keys, ...others, 'body'];
  const marks = names.map(() => '?').join(', ');
  return {
    sql: `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${marks})`,
    values: [...keys.map(value), ...others.map(value), body],
  };
}

function deletionOf(key: ItemKey): RowWrite {
  const [table, keys] = COLUMNS[key.kind];
  const of = key as unknown as Readonly<Record<string, Value>>;
  const where = keys.map((name) => `"${name}" = ?`).join(' AND ');
  return { sql: `DELETE FROM ${table} WHERE ${where}`, values: keys.map((name) => of[name] ?? '') };
}

/** Wraps a store so that every committed transaction is kept as the rows it wrote. */
export function recording(store: StorageBackend, into: (readonly RowWrite[])[]): StorageBackend {
  return {
    ...store,
    commit: async (transaction, deadlineMs) => {
      const result = await store.commit(transaction, deadlineMs);
      const writes = transaction.writes.filter(({ op }) => op !== 'check');
      const after = await store.snapshot(writes.map(({ key }) => key));
      if (result.ok) {
        into.push(
          writes.map((write, i) => {
            const item = after[i];
            return item === undefined
              ? deletionOf(write.key)
              : rowOf(write.key, item, write.op === 'update');
          }),
        );
      }
      return result;
    },
  };
}

/** A file with the product's tables, opened by the bare engine. */
export interface RawEngine {
  readonly db: DatabaseSync;
  /** Writes rows in one transaction of their own. */
  write(rows: readonly RowWrite[]): void;
  close(): void;
}

/** Makes a file with the product's tables and opens it bare, with the product's durability. */
export async function openRaw(path: string): Promise<RawEngine> {
  await (await openStore(path)).close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  return {
    db,
    write: (rows) => {
      begin.run();
      for (const { sql, values } of rows) statement(sql).run(...values);
      commit.run();
    },
    close: () => {
      db.close();
    },
  };
}
