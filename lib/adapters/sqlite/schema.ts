// The tables, as ordered migrations. A migration that has been released is never changed.
// Every table has its key in columns of their own and the whole item as JSON beside it.
import type { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../core/fault.ts';
import { unavailable } from './faults.ts';

/** Marks a file as Checkpoint's, in the header of the database. */
const APPLICATION_ID = 0x43_4b_50_54;

const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE workflows (
    tenant TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, id)
  ) STRICT;
  CREATE INDEX workflows_by_state ON workflows (tenant, state, created_at, id);
  CREATE TABLE events (
    tenant TEXT NOT NULL, workflow TEXT NOT NULL, seq INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, workflow, seq)
  ) STRICT;
  CREATE TABLE ledger (
    tenant TEXT NOT NULL, "key" TEXT NOT NULL, expires_at INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, "key")
  ) STRICT;
  CREATE TABLE locks (
    tenant TEXT NOT NULL, asset TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, asset)
  ) STRICT;
  CREATE INDEX locks_held ON locks (tenant, body ->> 'since', asset) WHERE body ->> 'held';
  CREATE TABLE pointers (
    tenant TEXT NOT NULL, subject TEXT NOT NULL, workflow TEXT NOT NULL, since TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, subject, workflow)
  ) STRICT;
  CREATE TABLE vault (
    tenant TEXT NOT NULL, workflow TEXT NOT NULL, seq INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, workflow, seq)
  ) STRICT;
  CREATE TABLE outbox (
    tenant TEXT NOT NULL, workflow TEXT NOT NULL, lane TEXT NOT NULL, seq INTEGER NOT NULL,
    due_at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant, workflow, lane, seq)
  ) STRICT;
  CREATE INDEX outbox_by_due ON outbox (due_at);
  CREATE TABLE profiles (
    tenant TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
    PRIMARY KEY (tenant, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX profiles_by_name ON profiles (tenant, name_key, subject);
  CREATE TABLE procedures (
    id TEXT NOT NULL, version INTEGER NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (id, version)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  `,
  `
  UPDATE outbox SET body = json_set(body, '$.rev', 0) WHERE body ->> 'rev' IS NULL;
  ALTER TABLE outbox ADD COLUMN parked_at TEXT
    GENERATED ALWAYS AS (CASE WHEN json_valid(body) THEN body ->> 'parked_at' END) VIRTUAL;
  DROP INDEX outbox_by_due;
  CREATE INDEX outbox_by_due ON outbox (due_at) WHERE parked_at IS NULL;
  CREATE INDEX outbox_parked ON outbox (tenant, parked_at) WHERE parked_at IS NOT NULL;
  `,
  `
  ALTER TABLE workflows ADD COLUMN due_at INTEGER
    GENERATED ALWAYS AS (CASE WHEN json_valid(body) THEN body ->> 'due_at' END) VIRTUAL;
  CREATE INDEX workflows_by_due ON workflows (due_at) WHERE due_at IS NOT NULL;
  UPDATE workflows SET body = json_set(body, '$.due_at', 0)
    WHERE state <> 'COMPLETED' AND json_valid(body) AND body ->> 'due_at' IS NULL;
  CREATE TABLE leases (
    shard INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, holder TEXT NOT NULL, until INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE runs (
    tenant TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    due_at INTEGER GENERATED ALWAYS AS (CASE WHEN json_valid(body) THEN body ->> 'due_at' END) VIRTUAL,
    PRIMARY KEY (tenant, id)
  ) STRICT;
  CREATE INDEX runs_by_state ON runs (tenant, state, created_at, id);
  CREATE INDEX runs_by_due ON runs (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE evidence (
    tenant TEXT NOT NULL, run TEXT NOT NULL, seq INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (tenant, run, seq)
  ) STRICT;
  `,
  `
  CREATE TABLE tickets (
    tenant TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant, key)
  ) STRICT;
  `,
  `
  CREATE TABLE sweeps (
    day TEXT NOT NULL, part TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (day, part)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The schema that this release knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The schema version of an open file. */
export function schemaVersion(db: DatabaseSync): number {
  return pragma(db, 'user_version');
}

/** Refuses a schema of a newer release with the retryable fault `FORMAT_TOO_NEW`. */
export function requireKnown(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  const what = `the database has schema ${version}, this release knows ${SCHEMA_VERSION}`;
  throw new Fault('retryable', 'FORMAT_TOO_NEW', what);
}

/**
 * Refuses a file that is not Checkpoint's, before anything is written to it. An empty database
 * counts as Checkpoint's only where `empty` allows it.
 */
export function requireOwn(db: DatabaseSync, empty: 'allowed' | 'refused'): void {
  if (pragma(db, 'application_id') !== APPLICATION_ID) {
    const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'];
    if (empty === 'refused' || tables !== 0 || schemaVersion(db) !== 0) {
      throw unavailable('the file is not a Checkpoint database');
    }
  }
  requireKnown(schemaVersion(db));
}

/**
 * Applies the missing migrations up to the version `to`, each in its own transaction; several
 * processes may do so.
 */
export function migrate(db: DatabaseSync, to = SCHEMA_VERSION): void {
  while (schemaVersion(db) < to) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have been faster.
      const version = schemaVersion(db);
      const next = MIGRATIONS[version];
      if (next !== undefined) db.exec(`${next}; PRAGMA user_version = ${version + 1};`);
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

function pragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
