// Transactions on one file. Waiting for other processes never blocks the event loop, and nothing is
// open across an await. Invariants: a transaction counts only when its files are still in place at
// its end; a running process never creates a file.
import { closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Fault } from '../../core/fault.ts';
import type { Clock, Random } from '../../core/ports/runtime.ts';
import { openConnection, type Connection } from './connection.ts';
import { isBusy, isSuspect, isUnknown, systemCode, translated, unavailable } from './faults.ts';
import type { Placement } from './file-identity.ts';

/** How a database is opened. */
export interface DatabaseOptions {
  readonly path: string;
  /** How long to wait for another process, at most, in milliseconds. */
  readonly lockTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly readOnly: boolean;
}

/** What a write answers, and whether it is to be kept. */
export interface Written<T> {
  readonly keep: boolean;
  readonly value: T;
}

/** Transactions on one file. `work` is synchronous and may run more than once. */
export interface Database {
  /** Runs reads as of one moment. */
  read<T>(work: (connection: Connection) => T): Promise<T>;
  /** Runs a write alone. Nothing is begun after `deadlineMs` (epoch milliseconds). */
  write<T>(deadlineMs: number, work: (connection: Connection) => Written<T>): Promise<T>;
  /** Empties the write-ahead log; false when readers were in the way until the lock timeout. */
  emptyWal(): Promise<boolean>;
  close(): void;
}

/** The longest pause between two attempts. */
const LONGEST_PAUSE_MS = 50;
/** The deadline of what has none. */
const NEVER = Number.POSITIVE_INFINITY;

/** Opens a database, creating folder, file and tables where they are missing. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { clock, readOnly } = options;
  let path = resolve(options.path);
  let connection: Connection | undefined;
  let closed = false;
  let suspect = false;

  /** Tries until another process is out of the way, the lock timeout or the deadline. */
  const patiently = async <T>(deadlineMs: number, attempt: () => T): Promise<T> => {
    const until = Math.min(deadlineMs, clock.now() + options.lockTimeoutMs);
    for (let n = 1; ; n++) {
      if (clock.now() >= deadlineMs) throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'too late');
      try {
        return attempt();
      } catch (error) {
        const left = until - clock.now();
        if (!isBusy(error) || left <= 0) throw translated(error, 'work');
        const most = Math.min(2 ** n, LONGEST_PAUSE_MS, left);
        await clock.sleep(Math.max(1, options.random.fraction() * most));
      }
    }
  };

  const reopen = (): Connection => {
    const fresh = openConnection({ path, readOnly, empty: 'refused' });
    // The old connection goes second, so that it is not the last one and writes nothing.
    connection?.close();
    suspect = false;
    connection = fresh;
    return fresh;
  };

  const usable = (): Connection => {
    if (closed) throw unavailable('the store is closed');
    return connection === undefined || suspect ? reopen() : connection;
  };

  const transaction = <T>(
    deadlineMs: number,
    begin: string,
    work: (connection: Connection) => Written<T>,
  ): T => {
    const open = usable();
    try {
      return within(open, begin, work);
    } catch (error) {
      suspect ||= isSuspect(error) && !readOnly;
      const placement = open.placement();
      if (placement === 'in_place' || isUnknown(error)) throw error;
      const other = recovered(open, placement);
      if (clock.now() >= deadlineMs) throw error;
      return within(other, begin, work);
    }
  };

  /** A connection that may be used in place of one whose files have moved, or a fault. */
  const recovered = (open: Connection, placement: Placement): Connection => {
    if (placement === 'main_replaced') return reopen();
    if (placement !== 'sidecar_absent' || readOnly) {
      throw unavailable(`the database file was moved or removed (${placement})`);
    }
    open.leaveWal();
    return reopen();
  };

  await patiently(NEVER, () => {
    try {
      if (!readOnly) createFile(path);
      path = realpathSync(path);
      connection = openConnection({ path, readOnly, empty: 'allowed' });
    } catch (error) {
      throw isBusy(error) ? error : translated(error, 'open');
    }
  });

  return {
    read: (work) =>
      patiently(NEVER, () =>
        transaction(NEVER, 'BEGIN', (open) => ({ keep: false, value: work(open) })),
      ),
    write: (deadlineMs, work) =>
      patiently(deadlineMs, () => transaction(deadlineMs, 'BEGIN IMMEDIATE', work)),
    emptyWal: async () => {
      const until = clock.now() + options.lockTimeoutMs;
      for (;;) {
        const emptied = await patiently(NEVER, () => {
          const open = usable();
          if (open.placement() !== 'in_place') throw unavailable('the database file has moved');
          return open.emptyWal();
        });
        if (emptied || clock.now() >= until) return emptied;
        await clock.sleep(LONGEST_PAUSE_MS);
      }
    },
    close: () => {
      closed = true;
      connection?.close();
      connection = undefined;
    },
  };
}

/** One transaction, kept only if its files are in place when it ends. */
function within<T>(
  connection: Connection,
  begin: string,
  work: (connection: Connection) => Written<T>,
): T {
  connection.statement(begin).run();
  try {
    connection.requireKnownSchema();
    const { keep, value } = work(connection);
    if (connection.placement() !== 'in_place') throw unavailable('the database file has moved');
    if (keep) commit(connection);
    else connection.statement('ROLLBACK').run();
    return value;
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

function commit(connection: Connection): void {
  try {
    connection.statement('COMMIT').run();
  } catch (error) {
    throw isBusy(error) ? error : translated(error, 'commit');
  }
}

/** Some errors have ended the transaction already; a failing rollback must not hide the error. */
function rollBack(connection: Connection): void {
  if (!connection.inTransaction()) return;
  try {
    connection.statement('ROLLBACK').run();
  } catch {
    // The connection is suspect already, and closing it rolls back.
  }
}

function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
