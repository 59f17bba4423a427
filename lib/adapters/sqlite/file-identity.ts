// Which files a connection has open, and whether they are still the ones at their paths.
// SQLite goes on writing to a file that was removed; what it writes there is lost.
import { statSync } from 'node:fs';

/** Device and inode of one file; undefined where there is none. */
export type Identity = string | undefined;

/** The identities of a database and of the two files beside it. */
export interface FileIdentities {
  readonly main: Identity;
  readonly wal: Identity;
  readonly shm: Identity;
}

/** What became of the files of a connection. */
export type Placement =
  /** All are where they were. */
  | 'in_place'
  /** There is no database at the path. */
  | 'main_absent'
  /** Another database is at the path, with files beside it that are its own. */
  | 'main_replaced'
  /** A file beside the database was removed, and the database is the same. */
  | 'sidecar_absent'
  /** Files of two databases are mixed; only a person can tell which belong together. */
  | 'mixed';

/** Reads the identities of the files at a path. */
export function identitiesAt(path: string): FileIdentities {
  return { main: identity(path), wal: identity(`${path}-wal`), shm: identity(`${path}-shm`) };
}

/** Compares the files at the path with those that a connection opened. */
export function placementOf(opened: FileIdentities, path: string): Placement {
  const now = identitiesAt(path);
  if (now.main === undefined) return 'main_absent';
  const sameWal = now.wal === opened.wal;
  const sameShm = now.shm === opened.shm;
  if (now.main !== opened.main) {
    // An old write-ahead log beside a new database would be replayed into it.
    const old = (now.wal !== undefined && sameWal) || (now.shm !== undefined && sameShm);
    return old ? 'mixed' : 'main_replaced';
  }
  if (sameWal && sameShm) return 'in_place';
  const absent = (now.wal === undefined || sameWal) && (now.shm === undefined || sameShm);
  return absent ? 'sidecar_absent' : 'mixed';
}

function identity(path: string): Identity {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
