// What a decision is, what it may look at, and how a plan for an existing workflow is put together.
import { newRow, notifyLane } from '../dispatch/new-row.ts';
import { RECONCILE } from '../reconcile/timing.ts';
import { ledgerRow, type KeyedCommand } from '../ledger.ts';
import type { CommandType, EventBody, Receipt, VaultRow, Workflow } from '../model/workflow.ts';
import { holdsAsset, type EventType, type OutboxRow } from '../model/workflow.ts';
import type { Json } from '../json.ts';
import { itemBytes } from '../keys.ts';
import { lastValues } from '../last-values.ts';
import { LIMITS } from '../limits.ts';
import type { Principal } from '../model/principal.ts';
import type { Procedure } from '../model/procedure.ts';
import { NOT_ASKED, type Refusal } from '../outcome.ts';
import { applyChange, type CommitPlan, type LockPlan, type WorkflowChange } from '../plan.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import { timesAfter } from '../timers.ts';
import { appended } from './appended.ts';
import { viewOf } from '../view.ts';

/** Everything a decision may look at besides state and command. */
export interface DecideContext {
  readonly principal: Principal;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly registry: ProcedureRegistry;
  readonly confirmationSecret: string;
  /** Names of the sinks that notifications are written for. */
  readonly sinks: readonly string[];
  /** Randomness drawn before the decision. */
  readonly fresh: { readonly workflow: string; readonly vaultKey: string };
  readonly keyed?: KeyedCommand;
  /** Names the request in the event; never part of a digest or a receipt. */
  readonly requestId?: string;
}

/** What `decide` answers: write this plan, or answer without writing. */
export type Decision =
  | { readonly kind: 'commit'; readonly plan: CommitPlan; readonly receipt: Receipt }
  /** The command took effect before: the event with this sequence is its receipt. */
  | { readonly kind: 'duplicate'; readonly seq: number }
  /** The occasion it names is over: it took effect if an event after `after` matches. */
  | {
      readonly kind: 'search';
      readonly after: number;
      readonly matches: (event: EventBody) => boolean;
      /** For an event that matches and commits to a sensitive value: whether it is the same one. */
      readonly holds?: (event: EventBody, vault: VaultRow | undefined) => boolean;
      readonly otherwise: Refusal;
    }
  | { readonly kind: 'refuse'; readonly outcome: Refusal };

/** A decision that writes nothing, and why. */
export type Refused = Extract<Decision, { readonly kind: 'refuse' }>;

/** A refusal as a decision. */
export const refuse = (outcome: Refusal): Refused => ({ kind: 'refuse', outcome });

/** The refusal of a workflow that is blocked or at its end, where a command needs an open one. */
export function closedFor(workflow: Workflow, procedure: Procedure): Decision | undefined {
  if (workflow.state === 'CREATED' || workflow.state === 'RUNNING') return undefined;
  const code = workflow.state === 'BLOCKED' ? 'WORKFLOW_BLOCKED' : 'WORKFLOW_COMPLETED';
  return refuse({ code, workflow: viewOf(workflow, procedure) });
}

/** The refusal of a caller that the workflow is not assigned to. */
export function notAssigned({
  workflow,
  procedure,
}: {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
}): Decision {
  const { name } = workflow.holder;
  return refuse({ code: 'NOT_ASSIGNED', holder: name, workflow: viewOf(workflow, procedure) });
}

/** One invalid argument as a decision. */
export const invalid = (path: string, message: string): Decision =>
  refuse({ code: 'INVALID_ARGUMENT', faults: [{ path, message }] });

/** The refusal of an answer to a question that this call was not asked, or not in time. */
export const notAsked = (): Decision => refuse(NOT_ASKED);

/** A change of an existing workflow, before it has its event, ledger row and effects. */
export interface Change {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly event: {
    readonly type: EventType;
    readonly data: { readonly [key: string]: Json };
  };
  readonly receipt: Omit<Receipt, 'workflow' | 'seq' | 'at' | 'command'> & {
    readonly command: CommandType;
  };
  /** The named attributes that change, given the new event's sequence and time. */
  readonly change: (seq: number, at: string) => WorkflowChange;
  readonly ends?: boolean;
  readonly locks?: readonly LockPlan[];
  readonly pointers?: CommitPlan['pointers'];
  readonly vault?: (seq: number) => VaultRow;
  readonly notify?: Notice;
}

/** A redacted notification payload. */
export type Payload = { readonly [key: string]: Json };

/** What somebody is told of. */
export interface Notice {
  readonly on:
    | 'warning'
    | 'deviation'
    | 'block'
    | 'overdue'
    | 'reminder'
    | 'escalation'
    | 'approval_decided'
    | 'approval_ended';
  readonly payload: Payload;
  /** Who is told; those that the procedure names for it where left out. */
  readonly audiences?: readonly string[];
}

/** Builds the commit of a change: event, head, ledger row and outbox rows in one plan. */
export function commitChange(context: DecideContext, input: Change): Decision {
  const { workflow, procedure } = input;
  const { max } = LIMITS.eventsPerWorkflow;
  // Ending a workflow is never refused: its asset must not stay locked.
  if (workflow.head_seq >= max && input.ends !== true) {
    return refuse({ code: 'LIMIT_REACHED', limit: 'eventsPerWorkflow', max });
  }
  const { event, head, at, set } = appended(workflow, context, input.event.type, {
    ...input.receipt,
    ...input.event.data,
  });
  const receipt: Receipt = { ...input.receipt, workflow: workflow.id, seq: head.seq, at };
  const own = input.change(head.seq, at);
  const change: WorkflowChange = {
    ...own,
    set: {
      ...(workflow.offered &&
        context.principal.subject === workflow.holder.subject && { offered: false }),
      ...own.set,
      ...set,
    },
  };
  const plan: CommitPlan = {
    tenant: workflow.tenant,
    now: context.now,
    aggregate: {
      op: 'update',
      before: workflow,
      change: withRoom(workflow, timed(input, change, context.now)),
    },
    events: [event],
    ...(context.keyed !== undefined && { ledger: ledgerRow(context.keyed, receipt, context.now) }),
    locks: input.locks ?? [],
    pointers: input.pointers ?? [],
    vault: input.vault === undefined ? [] : [input.vault(head.seq)],
    outbox: notifications(context, procedure, workflow, input.notify, head),
    guards: [],
  };
  return { kind: 'commit', plan, receipt };
}

/** The change with its times, written by every command: an index that lost its entry gets it back. */
function timed(
  { workflow, procedure, ends }: Change,
  change: WorkflowChange,
  now: number,
): WorkflowChange {
  if (ends !== true) {
    const times = timesAfter(applyChange(workflow, change), procedure, now, { worked: true });
    return { ...change, set: { ...change.set, ...times } };
  }
  const over = { ...change, set: { ...change.set, due_at: now + RECONCILE.lastCheckMs } };
  if (workflow.timers === undefined) return over;
  return { ...over, remove: [...(change.remove ?? []), 'timers'] };
}

/** What was recorded last time gives way where the state has no room for what is recorded now. */
function withRoom(before: Workflow, change: WorkflowChange): WorkflowChange {
  if (before.previous === undefined || change.steps === undefined) return change;
  if (itemBytes(applyChange(before, change)) <= LIMITS.stateBytes.max) return change;
  return { ...change, remove: [...(change.remove ?? []), 'previous'] };
}

/**
 * Ends a workflow at `now` (epoch milliseconds): frees its asset and its holder's pointer, and leaves
 * its values on the lock.
 */
export function endings(
  workflow: Workflow,
  now: number,
): Pick<Change, 'ends' | 'locks' | 'pointers'> {
  const { asset, fence, id } = workflow;
  const last = lastValues(workflow, new Date(now).toISOString());
  return {
    ends: true,
    // Whoever lost the asset has no lock to give back.
    locks: holdsAsset(workflow)
      ? [{ op: 'release', asset, fence, workflow: id, ...(last !== undefined && { last }) }]
      : [],
    pointers: [{ op: 'remove', subject: workflow.holder.subject }],
  };
}

/** Who is told of something when it happens, everybody once. */
export function audiencesOf(
  { escalation }: Procedure,
  ...on: readonly Notice['on'][]
): readonly string[] {
  const told = escalation.filter(
    (rule) => on.includes(rule.on) && rule.after_minutes === undefined,
  );
  return [...new Set(told.map((rule) => rule.notify))];
}

/** The outbox rows of an event, one per sink, where somebody is to be told of it. */
export function notifications(
  context: Pick<DecideContext, 'now' | 'sinks'>,
  procedure: Procedure,
  workflow: Workflow,
  notify: Change['notify'],
  head: { readonly seq: number; readonly hash: string },
): readonly OutboxRow[] {
  if (notify === undefined) return [];
  const { on, payload, audiences = audiencesOf(procedure, on) } = notify;
  if (audiences.length === 0) return [];
  return context.sinks.map((sink) => {
    const { tenant, id } = workflow;
    const told = {
      kind: on,
      audiences,
      workflow: id,
      asset: workflow.asset,
      procedure: `${procedure.id}@${procedure.version}`,
      head_seq: head.seq,
      head_hash: head.hash,
      at: new Date(context.now).toISOString(),
      ...payload,
    };
    return newRow({ tenant, workflow: id, lane: notifyLane(sink) }, head, told, context.now);
  });
}

/** The receipt that an event gives for the command that caused it. */
export function receiptOf(event: EventBody): Receipt {
  const { data } = event;
  return {
    command: data['command'] as CommandType,
    workflow: event.workflow,
    seq: event.seq,
    at: event.at,
    result: data['result'] as Receipt['result'],
    ...(data['step'] !== undefined && { step: data['step'] as string }),
    ...(data['value'] !== undefined && { value: data['value'] }),
    ...(data['original'] !== undefined && {
      original: data['original'] as NonNullable<Receipt['original']>,
    }),
    ...(data['rule'] !== undefined && { rule: data['rule'] as NonNullable<Receipt['rule']> }),
    ...(data['to'] !== undefined && { to: data['to'] as string }),
    ...(data['to_name'] !== undefined && { to_name: data['to_name'] as string }),
    ...(data['action_hash'] !== undefined && { action_hash: data['action_hash'] as string }),
  };
}
