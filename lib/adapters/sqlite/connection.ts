// One connection to one file: opened without ever creating the file, with its prepared statements
// and the identities of the files it has open. Synchronous; waiting is the caller's.
import { accessSync, constants } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { unavailable } from './faults.ts';
import { identitiesAt, placementOf, type FileIdentities, type Placement } from './file-identity.ts';
import { migrate, requireKnown, requireOwn } from './schema.ts';

/** An open connection. */
export interface Connection {
  /** The statement for a text, prepared once. */
  statement(sql: string): StatementSync;
  /** Whether the files it has open are still those at the path. */
  placement(): Placement;
  /** Refuses a schema that a newer release has put in place meanwhile. */
  requireKnownSchema(): void;
  inTransaction(): boolean;
  /**
   * Takes everything out of the write-ahead log into the database and ends the connection's use of
   * it. Needs to be the only connection; throws the driver's busy error otherwise.
   */
  leaveWal(): void;
  close(): void;
}

/** How a file is opened. */
export interface ConnectionOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** Whether an empty database is given its tables. */
  readonly empty: 'allowed' | 'refused';
}

/** Connections that must not be closed: closing would write a log that is not the database's. */
const abandoned: DatabaseSync[] = [];

/** Opens an existing file. Throws driver errors and faults. */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, readOnly } = options;
  const before = identitiesAt(path);
  if (before.main === undefined) throw unavailable('there is no database file');
  // SQLite would open a file that may not be written for reading, and fail at the first write.
  if (!readOnly) accessSync(path, constants.W_OK);
  const url = pathToFileURL(path);
  // Without a mode SQLite would create a file that is missing.
  url.searchParams.set('mode', readOnly ? 'ro' : 'rw');
  const db = new DatabaseSync(url, { readOnly, timeout: 0, enableForeignKeyConstraints: true });
  try {
    requireOwn(db, readOnly ? 'refused' : options.empty);
    if (!readOnly) {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      db.exec('PRAGMA journal_size_limit = 67108864;');
      migrate(db);
    }
    // The log is opened by the first read, and from then on belongs to the connection.
    db.prepare('SELECT count(*) FROM procedures').get();
    const opened = identitiesAt(path);
    if (opened.main !== before.main) throw unavailable('the database file was replaced');
    return connectionOn(db, path, opened);
  } catch (error) {
    db.close();
    throw error;
  }
}

function connectionOn(db: DatabaseSync, path: string, opened: FileIdentities): Connection {
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let known = statements.get(sql);
    if (known === undefined) {
      known = db.prepare(sql);
      statements.set(sql, known);
    }
    return known;
  };
  return {
    statement,
    placement: () => placementOf(opened, path),
    requireKnownSchema: () => {
      requireKnown(Number(statement('PRAGMA user_version').get()?.['user_version']));
    },
    inTransaction: () => db.isTransaction,
    leaveWal: () => {
      db.exec('PRAGMA journal_mode = DELETE');
    },
    close: () => {
      if (placementOf(opened, path) === 'mixed') abandoned.push(db);
      else db.close();
    },
  };
}
