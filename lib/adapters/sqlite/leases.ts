// Leases of shards: one row each, whose epoch grows with every taking.
import { isAhead } from '../../core/ahead.ts';
import type { Lease, StorageBackend } from '../../core/ports/storage.ts';
import type { Connection } from './connection.ts';
import type { Database, Written } from './database.ts';

const READ = 'SELECT epoch, holder, until FROM leases WHERE shard = ?';
const PUT = `INSERT INTO leases (shard, epoch, holder, until) VALUES (?, ?, ?, ?)
  ON CONFLICT (shard) DO UPDATE
  SET epoch = excluded.epoch, holder = excluded.holder, until = excluded.until`;
/** Leases wait for other processes, not for a caller. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;

/** Whether a lease is still its holder's: its epoch is the last one that was given. */
export function holdsLease(connection: Connection, lease: Lease): boolean {
  const found = read(connection, lease.shard);
  return found?.epoch === lease.epoch && found.by === lease.by;
}

/** The leases of the port. */
export function createLeases(
  database: Database,
): Pick<StorageBackend, 'takeLease' | 'renewLease' | 'releaseLease'> {
  const held = <T>(lease: Lease, otherwise: T, until: number, value: T): Promise<T> =>
    database.write(NO_DEADLINE, (open): Written<T> => {
      if (!holdsLease(open, lease)) return { keep: false, value: otherwise };
      put(open, { ...lease, until });
      return { keep: true, value };
    });

  return {
    takeLease: (shard, by, { now, until }) =>
      database.write(NO_DEADLINE, (open): Written<Lease | undefined> => {
        const before = read(open, shard);
        if (before !== undefined && before.by !== by && isAhead(before.until, now, until - now)) {
          return { keep: false, value: undefined };
        }
        const lease = { shard, epoch: (before?.epoch ?? 0) + 1, by, until };
        put(open, lease);
        return { keep: true, value: lease };
      }),
    renewLease: (lease, until) =>
      held<Lease | undefined>(lease, undefined, until, { ...lease, until }),
    releaseLease: (lease) => held(lease, false, 0, true),
  };
}

function read(connection: Connection, shard: number): Omit<Lease, 'shard'> | undefined {
  const row = connection.statement(READ).get(shard);
  if (row === undefined) return undefined;
  return {
    epoch: Number(row['epoch']),
    by: String(row['holder']),
    until: Number(row['until']),
  };
}

function put(connection: Connection, { shard, epoch, by, until }: Lease): void {
  connection.statement(PUT).run(shard, epoch, by, until);
}
