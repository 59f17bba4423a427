import { describe, expect, test } from '@jest/globals';
import { isBusy, isSuspect, translated } from '../../../lib/adapters/sqlite/faults.ts';
import { Fault } from '../../../lib/core/fault.ts';
import { InputError } from '../../../lib/core/input-error.ts';

const driverError = (errcode: number, message = 'a message'): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

describe('a driver error', () => {
  test.each([
    ['SQLITE_BUSY', 5],
    ['SQLITE_BUSY_RECOVERY', 261],
    ['SQLITE_BUSY_SNAPSHOT', 517],
    ['SQLITE_LOCKED', 6],
    ['SQLITE_NOMEM', 7],
    ['SQLITE_READONLY', 8],
    ['SQLITE_READONLY_DBMOVED', 1032],
    ['SQLITE_INTERRUPT', 9],
    ['SQLITE_IOERR', 10],
    ['SQLITE_IOERR_SHORT_READ', 522],
    ['SQLITE_CORRUPT', 11],
    ['SQLITE_FULL', 13],
    ['SQLITE_CANTOPEN', 14],
    ['SQLITE_PROTOCOL', 15],
    ['SQLITE_CONSTRAINT', 19],
    ['SQLITE_NOTADB', 26],
    ['a code of the future', 127],
  ])('%s is a retryable BACKEND_UNAVAILABLE with its cause', (_name, code) => {
    const error = driverError(code);
    expect(translated(error, 'work')).toMatchObject({
      name: 'CheckpointFault',
      kind: 'retryable',
      code: 'BACKEND_UNAVAILABLE',
      cause: error,
    });
  });

  test.each([
    ['an I/O error while committing leaves open what happened', 10, 'unknown'],
    ['a full disk while committing changes nothing', 13, 'retryable'],
  ])('%s', (_what, code, kind) => {
    expect(translated(driverError(code), 'commit')).toMatchObject({ kind });
  });

  test('is never read by its message', () => {
    const error = driverError(19, 'database is locked');
    expect(isBusy(error)).toBe(false);
    expect(translated(error, 'work').message).not.toContain('locked');
  });

  test.each([
    [5, true, false],
    [6, true, false],
    [15, true, false],
    [8, false, true],
    [10, false, true],
    [11, false, true],
    [14, false, true],
    [26, false, true],
    [13, false, false],
    [19, false, false],
  ])('with code %i: waiting helps %s, another connection may help %s', (code, busy, suspect) => {
    expect([isBusy(driverError(code)), isSuspect(driverError(code))]).toEqual([busy, suspect]);
  });
});

describe('any other error', () => {
  test('of the operating system is retryable', () => {
    const error = Object.assign(new Error('no'), { code: 'EACCES', syscall: 'open' });
    expect(translated(error, 'open')).toMatchObject({ kind: 'retryable', cause: error });
  });

  test('that nobody expected is a terminal fault with its cause', () => {
    const error = new TypeError('no');
    expect(translated(error, 'work')).toMatchObject({
      kind: 'terminal',
      code: 'BACKEND_UNAVAILABLE',
      cause: error,
    });
  });

  test('that is a fault or about the input stays what it is', () => {
    const fault = new Fault('terminal', 'PLAN_REFUSED', 'no');
    const input = new InputError([{ path: '/limit', message: 'no' }]);
    expect(translated(fault, 'work')).toBe(fault);
    expect(translated(input, 'work')).toBe(input);
  });
});
