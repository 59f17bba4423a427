// The run aggregate: one incident from its evidence to a verified write, as it is stored.
// Names are snake_case because they are also attribute names in every backend.
import type { Observation } from '../evidence/observation.ts';
import type { Json } from '../json.ts';
import type { Ticket } from '../ports/tickets.ts';
import type { Principal } from './principal.ts';

/** The states of a run. Nothing but a committed command or step moves a run between them. */
export type RunState =
  | 'created'
  | 'gathering'
  | 'awaiting_approval'
  | 'executing'
  | 'verifying'
  | 'completed'
  | 'failed'
  | 'cancelled';

/** Every edge there is; a state without one is an end. */
export const RUN_EDGES: { readonly [S in RunState]: readonly RunState[] } = {
  created: ['gathering', 'failed'],
  gathering: ['awaiting_approval', 'failed'],
  // It fails where the stored proposal is not the one that its digest was made over.
  awaiting_approval: ['executing', 'cancelled', 'failed'],
  executing: ['verifying', 'failed'],
  verifying: ['completed', 'failed'],
  completed: [],
  // Into gathering before an approval, into executing with the spent approval of its action.
  failed: ['gathering', 'executing'],
  cancelled: [],
};

/** Every state there is. */
export const RUN_STATES = Object.keys(RUN_EDGES) as readonly RunState[];

/** The states in which a worker ought to be at work. */
export const WORKING: ReadonlySet<RunState> = new Set([
  'created',
  'gathering',
  'executing',
  'verifying',
]);

/** Whether nothing more can become of a run, unless a person resumes a failed one. */
export const isOver = (state: RunState): boolean =>
  state === 'completed' || state === 'failed' || state === 'cancelled';

/**
 * The exact write that a run proposes. All of it is in its digest: a member that is added here has to be
 * added to `BOUND_FIELDS` too. Times are UTC with milliseconds.
 */
export interface Action {
  readonly type: string;
  readonly target: string;
  /** Every argument, as it was validated, with defaults filled in. */
  readonly arguments: { readonly [name: string]: Json };
  /** SHA-256 digests of the full texts of the evidence, in the order in which it was recorded. */
  readonly evidence: readonly string[];
  readonly policy_version: string;
  /** The key under which the write is made, on every attempt. */
  readonly idempotency_key: string;
  /** Subject of who asked for the run. */
  readonly requester: string;
  /** The last moment to approve. */
  readonly expires_at: string;
  /** The last moment to send. */
  readonly not_after: string;
}

/** A proposal: the action with its digest, and what is told with it and bound by nothing. */
export interface Proposal {
  readonly action: Action;
  /** SHA-256 over the action, 64 lower-case hex digits. */
  readonly action_hash: string;
  readonly seq: number;
  readonly at: string;
  /** What the evidence lacks, in a sentence for whoever decides. */
  readonly missing?: string;
}

/** A person's decision. An approval is spent by the very transaction that records it. */
export interface Approval {
  readonly decision: 'approved' | 'denied';
  readonly action_hash: string;
  readonly subject: string;
  readonly name: string;
  readonly via: Principal['via'];
  readonly at: string;
  readonly seq: number;
  readonly expires_at: string;
  readonly not_after: string;
  /** True once it moved its run to executing; a denial is never spent. */
  readonly spent: boolean;
}

/** Why a run failed or was cancelled; `from` is the state it left. */
export interface RunEnd {
  readonly code: string;
  readonly message: string;
  readonly from: RunState;
  readonly at: string;
  readonly seq: number;
}

/** What was written, as the read-back found it. */
export interface RunResult {
  readonly provider: string;
  readonly reference: string;
  readonly verified_at: string;
}

/** The aggregate. `version` grows with every change; head is the last event of the chain. */
export interface Run {
  readonly format: number;
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  readonly state: RunState;
  readonly service: string;
  readonly symptom: string;
  readonly requester: { readonly subject: string; readonly name: string };
  /** Subjects of everybody who worked on it; none of them decides on it. */
  readonly people: readonly string[];
  /** Grows with every start of work; what carries an older one does nothing. */
  readonly attempt: number;
  /** How many observations there are, by all attempts. */
  readonly observations: number;
  /** Digests of the observations of this gathering. */
  readonly evidence: readonly string[];
  readonly head_seq: number;
  readonly head_hash: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** When the work of this attempt ought to be done, in epoch milliseconds; absent where none is. */
  readonly work_by?: number;
  /** When the present state ought to be left, in epoch milliseconds; absent where nothing has to be decided or sent. */
  readonly deadline_at?: number;
  readonly proposal?: Proposal;
  readonly approval?: Approval;
  readonly end?: RunEnd;
  readonly result?: RunResult;
  /** Who let it go on last, after it failed. */
  readonly resumed?: { readonly subject: string; readonly seq: number; readonly at: string };
  /** When the reconciler looks at it next, in epoch milliseconds. */
  readonly due_at?: number;
  /** Set where the trail does not verify: nothing more is done until a person has looked. */
  readonly frozen?: { readonly at: string; readonly what: string };
}

/**
 * One observation, a row of its own under the sequence of its event. What a peer said is data and never
 * an instruction.
 */
export interface EvidenceRow extends Observation {
  readonly format: number;
  readonly tenant: string;
  readonly run: string;
  readonly seq: number;
  readonly at: string;
}

/** A ticket of the built-in table. */
export interface TicketRow extends Ticket {
  readonly format: number;
  readonly tenant: string;
  readonly created_at: string;
}

/** The names of commands of people on runs. */
export type RunCommandType = 'create_run' | 'decide_approval' | 'resume_run';

/** The lasting answer to a command on a run. */
export interface RunReceipt {
  readonly command: RunCommandType;
  readonly run: string;
  readonly seq: number;
  readonly at: string;
  readonly result: 'created' | 'approved' | 'denied' | 'resumed';
  readonly action_hash?: string;
}
