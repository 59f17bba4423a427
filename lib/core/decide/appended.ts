// One more event of an existing workflow, and what of its state moves with every event.
import { appendEvent } from '../events.ts';
import type { Json } from '../json.ts';
import { actorOf, type Principal } from '../model/principal.ts';
import type { Trailed } from '../model/aggregate.ts';
import type { EventType, StoredEvent, Workflow } from '../model/workflow.ts';
import type { CommitPlan, WorkflowChange } from '../plan.ts';

/** The event, its place in the chain, and the attributes of the state that follow from it. */
export interface Appended {
  readonly event: StoredEvent;
  readonly head: { readonly seq: number; readonly hash: string };
  readonly at: string;
  readonly set: Pick<Workflow, 'version' | 'head_seq' | 'head_hash' | 'updated_at'>;
}

/** Who appends, when, and for which request. `now` is in epoch milliseconds. */
export interface AppendContext {
  readonly principal: Principal;
  readonly now: number;
  readonly requestId?: string;
}

/** Appends to the trail of a workflow or a run. */
export function appended(
  { tenant, id, version, head_seq, head_hash }: Trailed,
  context: AppendContext,
  type: EventType,
  data: { readonly [name: string]: Json },
): Appended {
  const at = new Date(context.now).toISOString();
  const { event, head } = appendEvent(
    { tenant, workflow: id, head: { seq: head_seq, hash: head_hash } },
    { type, at, actor: actorOf(context.principal), data: { ...data, ...requested(context) } },
  );
  const set = {
    version: version + 1,
    head_seq: head.seq,
    head_hash: head.hash,
    updated_at: at,
  };
  return { event, head, at, set };
}

/** The plan that writes an appended event with a change of its workflow; `part` adds what else it does. */
export function appendedPlan(
  before: Workflow,
  { now }: Pick<AppendContext, 'now'>,
  { event, set }: Pick<Appended, 'event' | 'set'>,
  part: Partial<CommitPlan> & { readonly also?: WorkflowChange['set'] } = {},
): CommitPlan {
  const { also, ...rest } = part;
  return {
    tenant: before.tenant,
    now,
    aggregate: { op: 'update', before, change: { set: { ...set, ...also } } },
    events: [event],
    locks: [],
    pointers: [],
    vault: [],
    outbox: [],
    guards: [],
    ...rest,
  };
}

/** The request that an event comes from, where there is one. */
export function requested({ requestId }: Pick<AppendContext, 'requestId'>): {
  readonly request_id?: string;
} {
  return requestId === undefined ? {} : { request_id: requestId };
}
