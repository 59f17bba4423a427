// Operational faults. A fault is thrown, an outcome is returned; the kind is the retry policy.

/** `retryable`: nothing happened, try again. `unknown`: it may have happened. `terminal`: trying again cannot help. */
export type FaultKind = 'retryable' | 'unknown' | 'terminal';

/** Stable names of operational faults. */
export type FaultCode =
  | 'BACKEND_UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'PROCEDURE_VERSION_MISSING'
  | 'FORMAT_TOO_NEW'
  | 'ITEM_DAMAGED'
  | 'CHAIN_TORN'
  | 'CHAIN_BROKEN'
  | 'PLAN_REFUSED'
  | 'STATE_TOO_LARGE'
  | 'POLICY_FAILED'
  | 'START_REFUSED';

/** An operational fault: `kind` says whether to retry, `code` what it was, `cause` what lies under it. */
export class Fault extends Error {
  override readonly name = 'CheckpointFault';
  readonly kind: FaultKind;
  readonly code: FaultCode;

  constructor(kind: FaultKind, code: FaultCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
    this.code = code;
  }
}

/** Recognises a fault by name, because two copies of this module in one bundle defeat `instanceof`. */
export function isFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === 'CheckpointFault' && 'kind' in error;
}

/** Whether a stored item is there and this release cannot read it. */
export function isDamage(error: unknown): error is Fault {
  return isFault(error) && ['ITEM_DAMAGED', 'FORMAT_TOO_NEW'].includes(error.code);
}

/** What a caller is told of a fault. */
export function unavailable(fault: Fault) {
  const retryable = fault.kind !== 'terminal';
  return { code: 'BACKEND_UNAVAILABLE', retryable, retryAfterMs: 1_000 } as const;
}

/** Asserts what the code around it guarantees; failing is a programmer error. */
export function assert(condition: unknown, what: string): asserts condition {
  if (condition !== true) throw new Error(`assertion failed: ${what}`);
}
