// Driver errors become faults here, by result code and never by message.
// Source: https://www.sqlite.org/rescode.html
import { Fault, isFault } from '../../core/fault.ts';
import { InputError } from '../../core/input-error.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

const WHAT: { readonly [code: number]: string } = {
  [BUSY]: 'the database file is locked',
  [LOCKED]: 'the database file is locked',
  [READONLY]: 'the database file cannot be written',
  [IOERR]: 'the database file could not be read or written',
  [CORRUPT]: 'the database file is damaged',
  [FULL]: 'the disk is full',
  [CANTOPEN]: 'the database file cannot be opened',
  [PROTOCOL]: 'the database file is locked',
  [NOTADB]: 'the file is not a database',
};

/** The primary result code of a driver error; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!isObject(error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/** Whether another connection is in the way, so that waiting helps. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
}

/** Whether a connection may be at fault, so that a new one is tried next time. */
export function isSuspect(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && [READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB].includes(code);
}

/** Whether an error leaves open if a change happened, so that nothing may be tried again. */
export function isUnknown(error: unknown): boolean {
  return isFault(error) && error.kind === 'unknown';
}

/** A retryable fault: the store cannot be used now, and nothing was changed. */
export function unavailable(what: string, cause?: unknown): Fault {
  return new Fault('retryable', 'BACKEND_UNAVAILABLE', what, { cause });
}

/**
 * Any error as the port may throw it. During `commit` an I/O error leaves open whether the change
 * is durable, so it is `unknown`; an error that is none of the driver's is `terminal`.
 */
export function translated(error: unknown, phase: 'open' | 'work' | 'commit'): Error {
  if (isFault(error) || error instanceof InputError) return error;
  const code = resultCode(error);
  if (code === IOERR && phase === 'commit') {
    return new Fault('unknown', 'BACKEND_UNAVAILABLE', 'the commit was interrupted', {
      cause: error,
    });
  }
  if (code !== undefined) return unavailable(WHAT[code] ?? 'the database refused', error);
  if (systemCode(error) !== undefined)
    return unavailable('the database file cannot be reached', error);
  const what = 'the database adapter failed';
  return new Fault('terminal', 'BACKEND_UNAVAILABLE', what, { cause: error });
}

/** The code of an error of the operating system, such as `EEXIST`. */
export function systemCode(error: unknown): string | undefined {
  if (!isObject(error) || !('syscall' in error) || !('code' in error)) return undefined;
  return String(error.code);
}

/** Errors of Node are recognised by shape: they may come from another realm than this module. */
function isObject(error: unknown): error is object {
  return typeof error === 'object' && error !== null;
}
