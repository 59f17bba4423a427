import { describe, expect, test } from '@jest/globals';
import { isContention, translated } from '../../../lib/adapters/dynamodb/faults.ts';
import { InputError } from '../../../lib/core/input-error.ts';

/** An error of another copy of the SDK: nothing of it is an instance of a class that we have. */
const errorOf = (name: string, more: object = {}): Error =>
  Object.assign(new Error('a text that means nothing'), { name, $metadata: {}, ...more });

const cancelledBy = (...codes: string[]): Error =>
  errorOf('TransactionCanceledException', {
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

describe('errors of the SDK', () => {
  test.each([
    ['ThrottlingException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['ProvisionedThroughputExceededException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['RequestLimitExceeded', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['ResourceNotFoundException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['AccessDeniedException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['ExpiredTokenException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['CredentialsProviderError', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['IdempotentParameterMismatchException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['TransactionConflictException', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['InternalServerError', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['TimeoutError', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['SomethingNew', 'retryable', 'BACKEND_UNAVAILABLE'],
    ['ValidationException', 'terminal', 'PLAN_REFUSED'],
    ['ItemCollectionSizeLimitExceededException', 'terminal', 'PLAN_REFUSED'],
  ])('%s is known by its name: %s %s', (name, kind, code) => {
    expect(translated(errorOf(name), false)).toMatchObject({ kind, code });
    expect(translated(errorOf(name), true)).toMatchObject({
      kind: 'unknown',
      code: 'BACKEND_UNAVAILABLE',
    });
  });

  test.each([
    [['TransactionConflict'], true],
    [['None', 'TransactionConflict', 'TransactionConflict'], true],
    [['TransactionConflict', 'ConditionalCheckFailed'], false],
    [['TransactionConflict', 'ThrottlingError'], false],
    [['None'], false],
    [[], false],
  ])('a transaction cancelled by %j is sent again as it is: %s', (codes, again) => {
    expect(isContention(cancelledBy(...codes))).toBe(again);
  });

  test('a message never decides', () => {
    const error = Object.assign(new Error('ConditionalCheckFailed TransactionConflict'), {
      name: 'TransactionCanceledException',
    });
    expect(isContention(error)).toBe(false);
    expect(translated(error, false)).toMatchObject({ kind: 'retryable' });
  });

  test('an error of our own code, or of the caller’s input, stays what it is', () => {
    const bug = new TypeError('x is not a function');
    expect(translated(bug, false)).toBe(bug);
    const input = new InputError([{ path: '/limit', message: 'expected a number' }]);
    expect(translated(input, false)).toBe(input);
  });
});
