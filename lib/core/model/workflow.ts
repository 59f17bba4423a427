// The workflow aggregate and the rows that live around it, as they are stored.
// Names are snake_case because they are also attribute names in every backend.
import type { Json } from '../json.ts';
import type { Actor } from './principal.ts';
import type { DeviationRule } from './procedure.ts';
import type { Approval, Proposal, RunReceipt } from './run.ts';
import type { RunEventType } from './run-events.ts';

/** The format number that this release writes; a higher one in storage is refused, not guessed. */
export const FORMAT = 1;

/** The four business states. Nothing but a committed command moves a workflow between them. */
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

/** Every state there is, in the order in which work goes through them. */
export const WORKFLOW_STATES = ['CREATED', 'RUNNING', 'BLOCKED', 'COMPLETED'] as const;

/** How a completed workflow ended. */
export type WorkflowResult = 'completed' | 'abandoned';

/** The person who is assigned to the workflow. */
export interface Holder {
  readonly subject: string;
  readonly name: string;
}

/**
 * `deviation`: a step that has to be decided. `lock_released`: the asset was taken away by force.
 * `asset_conflict`: the lock was lost, and somebody else holds the asset. `overdue`: a deadline passed.
 */
export type BlockReason = 'deviation' | 'lock_released' | 'asset_conflict' | 'overdue';

/** Why a workflow is blocked; `seq` names this very block, for `resolve_block`. */
export interface Block {
  readonly seq: number;
  readonly reason: BlockReason;
  /** The step of a deviation, or of a deadline. */
  readonly step?: string;
  readonly by: string;
  readonly at: string;
  readonly message: string;
  /** What is proposed, until it is decided, expires, or the block is closed some other way. */
  readonly proposal?: Proposal;
  /** Who denied what was proposed: from then on only a resolution ends the block. */
  readonly denied?: Approval;
  /** A block by a deviation that stood when the lock was lost, and stands again once it is back. */
  readonly earlier?: Block;
}

/** A reading as it was said in another unit than its step's, whose symbol is in the procedure. */
export type Original = { readonly value: number; readonly unit: string };

/**
 * `done`: counts. `awaiting_second`: another person must confirm it. `retake`: to be done again.
 * `skipped`: an optional step that was passed over with a reason, whose digest the slot keeps.
 */
export type SlotStatus = 'done' | 'awaiting_second' | 'retake' | 'skipped';

/**
 * The bounded record of one step. `seq` is the event that last recorded it, `basis` the step's
 * sequence before that (0 for the first). A text is kept as a digest, because a slot is bounded; a
 * sensitive one leaves nothing here.
 */
export interface Slot {
  readonly seq: number;
  readonly basis: number;
  readonly status: SlotStatus;
  readonly by: string;
  readonly at: string;
  readonly value?: Json;
  readonly original?: Original;
  readonly digest?: string;
  readonly witness?: { readonly seq: number; readonly by: string };
}

/** Values by step: numbers, chosen options, yes or no. Never a text. */
export type Values = { readonly [step: string]: Json };
/** What was recorded on the asset last time by the same procedure; `at` is when that ended. */
export type PreviousValues = { readonly at: string; readonly values: Values };
/** The same on the asset's lock, with the procedure version it comes from. */
export type LastValues = PreviousValues & { readonly procedure: string; readonly version: number };

/** A moment by which something has to be done; `passed` once it has been told that it was not. */
export interface DueTime {
  readonly due_at: number;
  readonly passed?: true;
}

/** What is told while nothing happens: since when, how often so far, and when next, if ever. */
export interface Repeating {
  readonly since: number;
  readonly told: number;
  readonly due_at?: number;
}

/** The times that a procedure asks for and what of them has been ticked; all in epoch milliseconds. */
export interface Timers {
  /** That of the whole work. */
  readonly deadline?: DueTime;
  /** Those of the steps that can be done now. */
  readonly steps: { readonly [step: string]: DueTime };
  readonly reminder?: Repeating;
  /** That of the block with this sequence. */
  readonly escalation?: Repeating & { readonly block: number };
}

/** The aggregate. `version` grows with every change; head is the last event of the chain. */
export interface Workflow {
  readonly format: number;
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly procedure: string;
  readonly procedure_version: number;
  readonly asset: string;
  readonly state: WorkflowState;
  readonly holder: Holder;
  /** Sequence of the event that began the present assignment; names it for hand-over and abandon. */
  readonly tenure: number;
  /** True from a hand-over until the receiver's first command. */
  readonly offered: boolean;
  readonly fence: number;
  readonly steps: { readonly [step: string]: Slot };
  readonly head_seq: number;
  readonly head_hash: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly block?: Block;
  /** Told with the next step; the first to give way where the state has no room. */
  readonly previous?: PreviousValues;
  readonly result?: WorkflowResult;
  readonly ended_seq?: number;
  /** Only where the procedure has times, and only while the work is active. */
  readonly timers?: Timers;
  /** When the reconciler looks at it next, in epoch milliseconds. */
  readonly due_at?: number;
  /** Set where the trail does not verify: nothing more is done until a person has looked. */
  readonly frozen?: { readonly at: string; readonly what: string };
}

/** Whether a workflow holds its asset, or ought to (I1). */
export function holdsAsset({ state, block }: Pick<Workflow, 'state' | 'block'>): boolean {
  const lost = block?.reason === 'lock_released' || block?.reason === 'asset_conflict';
  return state !== 'COMPLETED' && !lost;
}

/** Everything an event can be. */
export type EventType =
  | 'workflow_started'
  | 'step_recorded'
  | 'step_confirmed'
  | 'step_corrected'
  | 'step_skipped'
  | 'block_resolved'
  | 'workflow_handed_over'
  | 'workflow_completed'
  | 'workflow_abandoned'
  | 'value_erased'
  | 'lock_released'
  | 'lock_restored'
  | 'asset_conflict_found'
  | 'orphan_lock_released'
  | 'pointers_rebuilt'
  | 'stray_event_moved'
  | 'faults_acknowledged'
  | 'notification_redriven'
  | 'deadline_passed'
  | 'reminder_sent'
  | 'block_escalated'
  | 'proposal_withdrawn'
  | RunEventType;

/** One line of the audit trail before it is hashed. */
export interface EventBody {
  readonly format: number;
  readonly tenant: string;
  readonly workflow: string;
  readonly seq: number;
  readonly type: EventType;
  readonly at: string;
  readonly actor: Actor;
  readonly data: { readonly [key: string]: Json };
  readonly prev: string;
}

/** The same of a run, which it names in place of a workflow. */
export type RunEventBody = Omit<EventBody, 'workflow'> & { readonly run: string };

/** A stored event of a workflow or a run: `text` is the canonical JSON that was hashed, and the only thing verified. */
export interface StoredEvent {
  readonly format: number;
  readonly tenant: string;
  readonly workflow: string;
  readonly seq: number;
  readonly text: string;
  readonly hash: string;
}

/** The lock on an asset. It survives release, so that its fence only grows. */
export interface Lock {
  readonly format: number;
  readonly tenant: string;
  readonly asset: string;
  readonly fence: number;
  readonly held: boolean;
  readonly workflow?: string;
  readonly procedure?: string;
  readonly subject?: string;
  readonly name?: string;
  readonly since?: string;
  /** Values of the last workflow that ended on the asset; survives release and taking. */
  readonly last?: LastValues;
}

/** What a person did to keep the system going. */
export type OperationType =
  'release_lock' | 'redrive_notification' | 'repair_torn' | 'acknowledge_faults';

/** The lasting answer to an operation: the event that tells of it, and codes. */
export interface OperationReceipt {
  readonly operation: OperationType;
  readonly workflow: string;
  readonly seq: number;
  readonly at: string;
}

/** What a key did. Digests are HMACs under the tenant's secret; `expires_at` is in epoch seconds. */
export interface LedgerRow {
  readonly format: number;
  readonly tenant: string;
  readonly key: string;
  readonly operation: string;
  readonly digest: string;
  readonly fields: { readonly [field: string]: string };
  readonly receipt: Receipt | RunReceipt | OperationReceipt;
  readonly expires_at: number;
}

/** A strongly consistent row per active workflow of a person, for disambiguation. */
export interface Pointer {
  readonly format: number;
  readonly tenant: string;
  readonly subject: string;
  readonly workflow: string;
  readonly asset: string;
  readonly procedure: string;
  readonly since: string;
}

/** A sensitive value with the random key of its commitment; deleting the row erases both. */
export interface VaultRow {
  readonly format: number;
  readonly tenant: string;
  readonly workflow: string;
  readonly seq: number;
  readonly key: string;
  readonly value: Json;
}

/** A dispatcher that is delivering a row; after `until` (epoch milliseconds) it counts as dead. */
export interface Claim {
  readonly by: string;
  readonly until: number;
}

/**
 * An effect that still has to leave. `due_at` is in epoch milliseconds; `rev` grows with every write
 * of the row, so that whoever claimed it is known by it. `attempts` are counted at the claim.
 */
export interface OutboxRow {
  readonly format: number;
  readonly tenant: string;
  readonly workflow: string;
  readonly lane: string;
  readonly seq: number;
  /** Stable over all deliveries: what a receiver knows a repeat by. */
  readonly id: string;
  readonly payload: { readonly [key: string]: Json };
  readonly rev: number;
  readonly attempts: number;
  readonly due_at: number;
  readonly claim?: Claim;
  /** Why the last attempt failed, in one sentence. */
  readonly error?: string;
  /** Since when it waits for a person, because it was refused or failed too often. */
  readonly parked_at?: string;
}

/** A person the tenant has seen, so that work can be handed over to them. */
export interface Profile {
  readonly tenant: string;
  readonly subject: string;
  readonly name: string;
}

/** The names of commands that change state. */
export type CommandType =
  | 'start_workflow'
  | 'record_step'
  | 'correct_step'
  | 'resolve_block'
  | 'decide_approval'
  | 'hand_over'
  | 'complete_workflow'
  | 'abandon_workflow';

/** What became of a command. */
export type ReceiptResult =
  | 'started'
  | 'recorded'
  | 'recorded_with_warning'
  | 'awaiting_second_person'
  | 'confirmed'
  | 'deviation_recorded'
  | 'skipped'
  | 'retake_required'
  | 'blocked'
  | 'continued'
  | 'reopened'
  | 'approved'
  | 'denied'
  | 'handed_over'
  | 'completed'
  | 'abandoned';

/** The lasting answer to a command: codes, sequence and values that are not sensitive; no text. */
export interface Receipt {
  readonly command: CommandType;
  readonly workflow: string;
  readonly seq: number;
  readonly at: string;
  readonly result: ReceiptResult;
  readonly step?: string;
  readonly value?: Json;
  /** What was said, where the value was converted from another unit. */
  readonly original?: Original;
  readonly rule?: DeviationRule;
  /** The receiver of a hand-over: subject and spoken name. */
  readonly to?: string;
  readonly to_name?: string;
  /** Digest of the action that was decided on. */
  readonly action_hash?: string;
}
