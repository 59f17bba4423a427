// Everything a command can answer: a closed union, its codes listed in order of precedence.
// Operational faults are thrown elsewhere and become BACKEND_UNAVAILABLE at the service's edge.
import type { InputFault } from './input-fault.ts';
import type { Json } from './json.ts';
import type { DeviationRule } from './model/procedure.ts';
import type { Original, Receipt } from './model/workflow.ts';
import type { Forbidden } from './runs/outcome.ts';
import type { WorkflowView } from './view.ts';

/** Outcome codes in order of precedence: of several that apply, the first is answered. */
export const OUTCOME_CODES = [
  'FORBIDDEN',
  'INVALID_ARGUMENT',
  'BACKEND_UNAVAILABLE',
  'IDEMPOTENCY_CONFLICT',
  'AMBIGUOUS',
  'NOT_FOUND',
  'NOT_ASSIGNED',
  'STALE_REFERENCE',
  'ALREADY_DECIDED',
  'STALE_PROPOSAL',
  'APPROVAL_EXPIRED',
  'ASSET_BUSY',
  'WORKFLOW_COMPLETED',
  'WORKFLOW_BLOCKED',
  'SECOND_PERSON_REQUIRED',
  'NOT_SKIPPABLE',
  'STEP_NOT_READY',
  'STEPS_MISSING',
  'LIMIT_REACHED',
  'NEEDS_CONFIRMATION',
  'OK',
] as const;

/** One outcome code. */
export type OutcomeCode = (typeof OUTCOME_CODES)[number];

/** A workflow offered for choice when a question was ambiguous. */
export interface Choice {
  readonly workflow: string;
  readonly asset: string;
  readonly procedure: string;
  readonly title: string;
}

/** Why a value has to be said again before it is written. */
export type ConfirmationReason =
  | 'out_of_bounds'
  | 'rule_broken'
  | 'not_confirmed'
  | 'deviating_choice'
  | 'already_recorded'
  | 'was_skipped'
  | 'already_skipped'
  | 'second_person'
  | 'ends_assignment';

/** An outcome that wrote nothing. */
export type Refusal =
  | Forbidden
  | {
      readonly code: 'INVALID_ARGUMENT';
      readonly faults: readonly InputFault[];
      /** Assets that may be meant, to be asked about. */
      readonly suggestions?: readonly string[];
    }
  /** `retryable` is false where trying again cannot help before somebody has mended the fault. */
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
  | {
      readonly code: 'AMBIGUOUS';
      readonly about: 'workflow' | 'person';
      readonly choices: readonly Choice[];
      readonly people?: readonly { readonly subject: string; readonly name: string }[];
      readonly total: number;
      /** The signed question, for a command; its answer comes back with it. */
      readonly state?: string;
    }
  | {
      readonly code: 'NOT_FOUND';
      readonly what: 'workflow' | 'procedure' | 'person' | 'asset';
      readonly name: string;
      readonly known?: readonly string[];
      /** Assets that may be meant, to be asked about. */
      readonly suggestions?: readonly string[];
    }
  | { readonly code: 'NOT_ASSIGNED'; readonly holder: string; readonly workflow: WorkflowView }
  | {
      readonly code: 'STALE_REFERENCE';
      readonly names: 'block' | 'assignment' | 'reading' | 'confirmation';
      readonly given: number | string;
      readonly current?: number;
      readonly workflow: WorkflowView;
    }
  /** Somebody decided otherwise on the action that is named. */
  | {
      readonly code: 'ALREADY_DECIDED';
      readonly decision: 'approved' | 'denied';
      readonly by: string;
      readonly name: string;
      readonly at: string;
      readonly action_hash: string;
      readonly workflow: WorkflowView;
    }
  /** The digest is not that of the action that is proposed now; `current` is, where there is one. */
  | {
      readonly code: 'STALE_PROPOSAL';
      readonly given: string;
      readonly current?: string;
      readonly workflow: WorkflowView;
    }
  | {
      readonly code: 'APPROVAL_EXPIRED';
      readonly expires_at: string;
      readonly workflow: WorkflowView;
    }
  | {
      readonly code: 'ASSET_BUSY';
      readonly asset: string;
      readonly holder: string;
      /** Whether the caller holds it, with another procedure. */
      readonly mine: boolean;
      readonly procedure: string;
      readonly since: string;
    }
  | { readonly code: 'WORKFLOW_COMPLETED'; readonly workflow: WorkflowView }
  | { readonly code: 'WORKFLOW_BLOCKED'; readonly workflow: WorkflowView }
  | {
      readonly code: 'SECOND_PERSON_REQUIRED';
      readonly step?: string;
      readonly differs?: boolean;
      readonly workflow: WorkflowView;
    }
  | {
      readonly code: 'NOT_SKIPPABLE';
      readonly step: string;
      /** It has to be done, a step that has to be done needs it, or it is on record. */
      readonly why: 'required' | 'needed' | 'recorded';
      readonly workflow: WorkflowView;
    }
  | {
      readonly code: 'STEP_NOT_READY';
      readonly step: string;
      readonly requires: readonly string[];
      readonly workflow: WorkflowView;
    }
  | {
      readonly code: 'STEPS_MISSING';
      readonly missing: readonly string[];
      readonly workflow: WorkflowView;
    }
  | { readonly code: 'LIMIT_REACHED'; readonly limit: string; readonly max: number }
  | {
      readonly code: 'NEEDS_CONFIRMATION';
      readonly reason: ConfirmationReason;
      readonly step?: string;
      /** What was understood, and for `already_recorded` what is on record; absent if sensitive. */
      readonly heard?: Json;
      /** What was heard, where it was said in another unit. */
      readonly original?: Original;
      readonly recorded?: Json;
      readonly unit?: string;
      readonly limit?: number;
      readonly message?: string;
      readonly follows?: DeviationRule;
      /** The signed question; a yes comes back with it. */
      readonly state?: string;
      /** Give one of these back in the second call. */
      readonly confirmation?: string;
      readonly replaces?: number;
      readonly confirms?: number;
      readonly tenure?: number;
      /** Name of the receiver, where a hand-over asks, and the subject to give back as `to`. */
      readonly to?: string;
      readonly to_subject?: string;
      /** Name of who made the record that another person is asked to confirm, if known. */
      readonly by?: string;
      readonly workflow: WorkflowView;
    };

/** The command took effect, now or (`duplicate`) when it was first sent. */
export interface Committed {
  readonly code: 'OK';
  readonly duplicate: boolean;
  readonly receipt: Receipt;
  readonly workflow: WorkflowView;
}

/** What a command answers. */
export type Outcome = Committed | Refusal;

/** The refusal of an answer whose signed question does not belong to its call, or is over. */
export const NOT_ASKED: Refusal = {
  code: 'INVALID_ARGUMENT',
  faults: [{ path: '/state', message: 'expected the state of an open question' }],
};
