// Everything a command or a step on a run can answer: a closed union.
import type { InputFault } from '../input-fault.ts';
import type { Run, RunReceipt, RunState } from '../model/run.ts';

/** Somebody may not do that, and what it takes. */
export interface Forbidden {
  readonly code: 'FORBIDDEN';
  /** `channel`: approvals do not come this way. `involved`: the caller asked for it or worked on it. */
  readonly why: 'scope' | 'person' | 'channel' | 'involved';
  readonly need: string;
}

/** An outcome that wrote nothing. */
export type RunRefusal =
  | Forbidden
  | { readonly code: 'INVALID_ARGUMENT'; readonly faults: readonly InputFault[] }
  | {
      readonly code: 'BACKEND_UNAVAILABLE';
      readonly retryable: boolean;
      readonly retryAfterMs: number;
    }
  | {
      readonly code: 'IDEMPOTENCY_CONFLICT';
      readonly operation: string;
      readonly fields: readonly string[];
    }
  | { readonly code: 'NOT_FOUND'; readonly what: 'run'; readonly name: string }
  /** Somebody decided otherwise, or on another action. */
  | {
      readonly code: 'ALREADY_DECIDED';
      readonly decision: 'approved' | 'denied';
      readonly by: string;
      readonly name: string;
      readonly at: string;
      readonly action_hash: string;
      readonly run: Run;
    }
  /** The digest is not that of the action that is proposed now. */
  | { readonly code: 'STALE_PROPOSAL'; readonly given: string; readonly run: Run }
  | { readonly code: 'APPROVAL_EXPIRED'; readonly expires_at: string; readonly run: Run }
  | { readonly code: 'WRONG_STATE'; readonly state: RunState; readonly run: Run }
  | { readonly code: 'LIMIT_REACHED'; readonly limit: string; readonly max: number }
  /** The step belongs to an attempt that is over. */
  | { readonly code: 'STALE_ATTEMPT'; readonly given: number; readonly run: Run }
  /** The last moment to send is over. */
  | { readonly code: 'TOO_LATE'; readonly not_after: string; readonly run: Run };

/** The command took effect, now or (`duplicate`) when it was first sent. */
export interface RunCommitted {
  readonly code: 'OK';
  readonly duplicate: boolean;
  readonly receipt: RunReceipt;
  readonly run: Run;
}

/** What a command on a run answers. */
export type RunOutcome = RunCommitted | RunRefusal;

/** What a step of a worker answers. */
export type StepOutcome = { readonly code: 'OK'; readonly run: Run } | RunRefusal;
