// One more event of an existing workflow, and what of its state moves with every event.
import { appendEvent } from '../events.ts';
import type { Json } from '../json.ts';
import { actorOf, type Principal } from '../model/principal.ts';
import { recordKey, type Trailed } from '../model/aggregate.ts';
import type { EventType, StoredEvent, Workflow } from '../model/workflow.ts';
import { eventWrite, type CommitPlan, type WorkflowChange } from '../plan.ts';
import type { Write } from '../ports/storage.ts';

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

/** The writes of an appended event for a workflow or a run, with what else of its record changes. */
export function appendedWrites(
  { tenant, id, version, head_seq, head_hash }: Trailed,
  { event, set }: Pick<Appended, 'event' | 'set'>,
  {
    also = {},
    remove = [],
  }: {
    readonly also?: { readonly [name: string]: Json };
    readonly remove?: readonly string[];
  } = {},
): readonly Write[] {
  const record: Write = {
    op: 'update',
    key: recordKey(tenant, id),
    expect: { version, head_seq, head_hash },
    set: { ...set, ...also },
    ...(remove.length > 0 && { remove }),
  };
  return [record, eventWrite(event)];
}

/** The request that an event comes from, where there is one. */
export function requested({ requestId }: Pick<AppendContext, 'requestId'>): {
  readonly request_id?: string;
} {
  return requestId === undefined ? {} : { request_id: requestId };
}
