// Errors of the SDK become faults here, by name and never by message: a bundle may hold two copies of
// an error's class, and messages are nobody's contract.
// Source: DynamoDB API reference, common errors and TransactWriteItems.
import { Fault, isFault } from '../../core/fault.ts';
import { InputError } from '../../core/input-error.ts';

/** Why one item of a transaction was not written, by the code of the service. */
export interface CancellationReason {
  readonly Code?: string;
  readonly Item?: unknown;
}

/** Somebody else is writing the same item at this moment. */
const CONTENTION = new Set(['TransactionConflictException', 'ReplicatedWriteConflictException']);

/** Too much was sent to the table or the account. */
const THROTTLED = new Set([
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingError',
  'ThrottlingException',
]);

/** What was sent cannot be done, however often it is sent. */
const REFUSED = new Set([
  'ItemCollectionSizeLimitExceeded',
  'ItemCollectionSizeLimitExceededException',
  'SerializationException',
  'ValidationError',
  'ValidationException',
]);

/** Nothing reached the service. */
const NOT_SENT = new Set([
  'CredentialsProviderError',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** The way to the service was cut. */
const TRANSPORT = new Set(['AbortError', 'TimeoutError', ...NOT_SENT]);

const WHAT: { readonly [name: string]: string } = {
  AccessDeniedException: 'the table may not be used',
  CredentialsProviderError: 'there are no credentials',
  ExpiredTokenException: 'the credentials have expired',
  IdempotentParameterMismatchException: 'the token of a transaction was used before',
  ResourceNotFoundException: 'there is no such table',
  UnrecognizedClientException: 'the credentials are not accepted',
};

/** The name of an error; empty for what is no error. */
export function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
}

/** The reasons of a cancelled transaction in the order of its items; undefined for other errors. */
export function cancellationReasons(error: unknown): readonly CancellationReason[] | undefined {
  if (nameOf(error) !== 'TransactionCanceledException') return undefined;
  const reasons = (error as { readonly CancellationReasons?: unknown }).CancellationReasons;
  return Array.isArray(reasons) ? (reasons as readonly CancellationReason[]) : [];
}

/** Whether an error says that nothing happened because of others, so that the same may be sent again. */
export function isContention(error: unknown): boolean {
  const codes = failingCodes(cancellationReasons(error));
  if (codes.length > 0) return codes.every((code) => code === 'TransactionConflict');
  return CONTENTION.has(nameOf(error));
}

/** Whether an earlier send of the same transaction has not ended yet. */
export const isInProgress = (error: unknown): boolean =>
  nameOf(error) === 'TransactionInProgressException';

/** The codes of the items that stood in the way. */
export function failingCodes(reasons: readonly CancellationReason[] = []): readonly string[] {
  return reasons.flatMap(({ Code = 'None' }) => (Code === 'None' ? [] : [Code]));
}

/** A retryable fault: the store cannot be used now, and nothing was changed. */
export function unavailable(what: string, cause?: unknown): Fault {
  return new Fault('retryable', 'BACKEND_UNAVAILABLE', what, { cause });
}

/** A fault that leaves open if a change happened. */
export function unknownEffect(what: string, cause?: unknown): Fault {
  return new Fault('unknown', 'BACKEND_UNAVAILABLE', what, { cause });
}

/** The fault of a deadline that passed before anything was sent. */
export function tooLate(): Fault {
  return new Fault(
    'retryable',
    'DEADLINE_EXCEEDED',
    'the deadline passed before the call was sent',
  );
}

/**
 * Any error as the port may throw it. `uncertain` says that a write may have happened nevertheless,
 * and makes the fault `unknown`; what the service refuses as such is `terminal`.
 */
export function translated(error: unknown, uncertain: boolean): Error {
  if (error instanceof InputError) return error;
  if (uncertain) return unknownEffect('the write was not answered', error);
  if (isFault(error)) return error;
  const reasons = cancellationReasons(error);
  if (reasons !== undefined) return cancelled(failingCodes(reasons), error);
  const name = nameOf(error);
  if (THROTTLED.has(name)) return unavailable('the table is throttled', error);
  if (REFUSED.has(name)) return refused(name, error);
  if (CONTENTION.has(name)) return unavailable('the item is being written by others', error);
  const what = WHAT[name] ?? (isOfTheSdk(error) ? 'the table does not answer' : undefined);
  if (what !== undefined) return unavailable(what, error);
  return error instanceof Error ? error : new Error(String(error));
}

/** Whether a failed send may have had its effect: it was not answered, or by a failure of the service. */
export function isUncertain(error: unknown): boolean {
  return !isFault(error) && !NOT_SENT.has(nameOf(error)) && !NOT_SENT.has(codeOf(error));
}

/** Whatever the reasons are, nothing of a cancelled transaction was written. */
function cancelled(codes: readonly string[], cause: unknown): Fault {
  const refusal = codes.find((code) => REFUSED.has(code));
  if (refusal !== undefined) return refused(refusal, cause);
  if (codes.some((code) => THROTTLED.has(code)))
    return unavailable('the table is throttled', cause);
  return unavailable('the transaction was cancelled', cause);
}

function refused(code: string, cause: unknown): Fault {
  const what = `plan refused: the table answers ${code}`;
  return new Fault('terminal', 'PLAN_REFUSED', what, { cause });
}

/** Whether an error comes from the service or from the way there, and not from code of ours. */
function isOfTheSdk(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return '$metadata' in error || codeOf(error) !== '' || TRANSPORT.has(nameOf(error));
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
