// A tick: what happens because a time has passed (rules R6 and R7). It is an event that raises in the aggregate what
// has been told, together with the outbox rows it causes: one that was decided on an older state, or on an
// older attempt, writes nothing. No value on record is part of any. Pure.
import type { Json } from '../json.ts';
import type { Procedure } from '../model/procedure.ts';
import type { EventType, Workflow } from '../model/workflow.ts';
import type { CommitPlan, WorkflowChange } from '../plan.ts';
import { appended, appendedPlan } from './appended.ts';
import { notifications, type Notice } from './decision.ts';
import type { RepairContext } from './lost-lock.ts';

/** What ticks look at, as of one moment. */
export interface TimedWork {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
}

/** A tick, and what was found in words. */
export interface Tick {
  readonly finding: string;
  readonly plan: CommitPlan;
}

/** What a tick is made of; `change` gets the sequence and the time of its event. */
export interface Telling {
  readonly rule?: 'R6' | 'R7';
  readonly type: EventType;
  readonly data: { readonly [name: string]: Json };
  readonly notice: Notice;
  readonly change: (seq: number, at: string) => WorkflowChange['set'];
}

/** The plan of a tick. */
export function tickPlan(
  { workflow, procedure }: TimedWork,
  context: RepairContext,
  { rule = 'R6', type, data, notice, change }: Telling,
): CommitPlan {
  const appendix = appended(workflow, context, type, { ...data, rule });
  const { head, at } = appendix;
  return appendedPlan(workflow, context, appendix, {
    also: change(head.seq, at),
    outbox: notifications(context, procedure, workflow, notice, head),
  });
}
