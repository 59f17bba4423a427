// The times of a workflow: what its procedure asks for, as moments in the aggregate. Every change of the
// aggregate keeps them, so what is due is known from the record alone. Pure.
import { Fault } from './fault.ts';
import { instantMs } from './instant.ts';
import type { Procedure, Step } from './model/procedure.ts';
import type { Proposal } from './model/run.ts';
import type { Block, DueTime, Timers, Workflow } from './model/workflow.ts';
import { RECONCILE } from './reconcile/timing.ts';
import { unmetRequirements } from './view.ts';

const MINUTE_MS = 60_000;

/** When a block that still stands is told again, and to whom; `afterMs` counts from the block. */
export interface EscalationLevel {
  readonly afterMs: number;
  readonly audiences: readonly string[];
}

/** Later tellings of a block, the earliest first, each moment once. */
export function escalationLevels({ escalation }: Procedure): readonly EscalationLevel[] {
  const levels = new Map<number, string[]>();
  for (const { after_minutes, times = 1, notify } of escalation) {
    if (after_minutes === undefined) continue;
    for (let n = 1; n <= times; n++) {
      const afterMs = n * after_minutes * MINUTE_MS;
      levels.set(afterMs, [...new Set([...(levels.get(afterMs) ?? []), notify])]);
    }
  }
  return [...levels]
    .map(([afterMs, audiences]) => ({ afterMs, audiences }))
    .toSorted((a, b) => a.afterMs - b.afterMs);
}

/** How long nothing may happen before a reminder, in milliseconds. */
export const idleMs = ({ idle_minutes }: NonNullable<Procedure['reminder']>): number =>
  idle_minutes * MINUTE_MS;

/**
 * The times of a workflow as it is after a change at `now` (epoch milliseconds); undefined where its
 * procedure has none, and after its end. `worked` says that the change was a command: idleness counts
 * anew from it.
 */
export function timersAfter(
  after: Workflow,
  procedure: Procedure,
  now: number,
  { worked }: { readonly worked: boolean },
): Timers | undefined {
  if (!isTimed(procedure) || after.state === 'COMPLETED') return undefined;
  const { timers, block } = after;
  const blocked = after.state === 'BLOCKED';
  const deadline = deadlineOf(after, procedure);
  const reminder = blocked ? undefined : reminderAfter(timers, procedure, now, worked);
  const escalation =
    blocked && block !== undefined ? escalationAfter(timers, procedure, now, block.seq) : undefined;
  return {
    ...(deadline !== undefined && { deadline }),
    steps: blocked ? {} : stepsAfter(after, procedure, now),
    ...(reminder !== undefined && { reminder }),
    ...(escalation !== undefined && { escalation }),
  };
}

/**
 * The attributes of the state that follow from its times. `due_at` is the earliest of what is pending
 * and of the ordinary look, which a change does not put off. A look that is further away than any is
 * set comes from a clock that was ahead, and is brought back.
 */
export function timesAfter(
  after: Workflow,
  procedure: Procedure,
  now: number,
  how: { readonly worked: boolean },
): Pick<Workflow, 'timers' | 'due_at'> {
  const timers = timersAfter(after, procedure, now, how);
  const latest = now + RECONCILE.checkMs;
  const { block } = after;
  const due_at = soonest(Math.min(after.due_at ?? latest, latest), timers, block);
  return timers === undefined ? { due_at } : { timers, due_at };
}

/** The earlier of a moment and of whatever is pending, both in epoch milliseconds. */
export function soonest(at: number, timers: Timers | undefined, block?: Block): number {
  const ends = expiryOf(block?.proposal);
  // It can still be decided in its last millisecond.
  const until = ends === undefined ? at : Math.min(at, ends + 1);
  return timers === undefined ? until : soonestTimer(until, timers);
}

/** The last moment to decide on a proposal, in epoch milliseconds; 0 where it names none. */
export function expiryOf(proposal: Proposal | undefined): number | undefined {
  return proposal && (instantMs(proposal.action.expires_at) ?? 0);
}

function soonestTimer(at: number, timers: Timers): number {
  const { deadline, steps, reminder, escalation } = timers;
  const due = [deadline, ...Object.values(steps)].map((time) =>
    time === undefined || time.passed === true ? undefined : time.due_at,
  );
  const pending = [...due, reminder?.due_at, escalation?.due_at];
  return Math.min(at, ...pending.filter((one) => one !== undefined));
}

/** The deadlines of a workflow, the earliest first; that of the whole work names no step. */
export function deadlinesOf(
  timers: Timers | undefined,
): readonly (DueTime & { readonly step?: string })[] {
  if (timers === undefined) return [];
  const { deadline, steps } = timers;
  const all = Object.entries(steps).map(([step, time]) => ({ step, ...time }));
  return [...all, ...(deadline === undefined ? [] : [deadline])].toSorted(
    (a, b) => a.due_at - b.due_at,
  );
}

/** Whether a procedure asks for any time at all. */
function isTimed({ deadline, reminder, escalation, steps }: Procedure): boolean {
  return (
    deadline !== undefined ||
    reminder !== undefined ||
    escalation.some(({ after_minutes }) => after_minutes !== undefined) ||
    steps.some((step) => step.deadline !== undefined)
  );
}

function deadlineOf(
  { timers, created_at }: Workflow,
  { deadline }: Procedure,
): DueTime | undefined {
  if (deadline === undefined) return undefined;
  if (timers?.deadline !== undefined) return timers.deadline;
  const started = instantMs(created_at);
  if (started === undefined) {
    throw new Fault('retryable', 'ITEM_DAMAGED', 'the start of a workflow is no time');
  }
  return { due_at: started + deadline.minutes * MINUTE_MS };
}

/** A step that goes on being open keeps its time; one that can be done anew has all of it again. */
function stepsAfter(after: Workflow, procedure: Procedure, now: number): Timers['steps'] {
  const open = procedure.steps.flatMap((step) => {
    const { id, deadline } = step;
    if (deadline === undefined || !isOpen(step, after)) return [];
    const known = after.timers?.steps[id];
    return [[id, known ?? { due_at: now + deadline.minutes * MINUTE_MS }] as const];
  });
  return Object.fromEntries(open);
}

function isOpen(step: Step, workflow: Workflow): boolean {
  const status = workflow.steps[step.id]?.status;
  const over = status === 'done' || status === 'skipped';
  return !over && unmetRequirements(step, workflow).length === 0;
}

function reminderAfter(
  timers: Timers | undefined,
  { reminder }: Procedure,
  now: number,
  worked: boolean,
): Timers['reminder'] {
  if (reminder === undefined) return undefined;
  if (!worked && timers?.reminder !== undefined) return timers.reminder;
  return { since: now, told: 0, due_at: now + idleMs(reminder) };
}

function escalationAfter(
  timers: Timers | undefined,
  procedure: Procedure,
  now: number,
  block: number,
): Timers['escalation'] {
  if (timers?.escalation?.block === block) return timers.escalation;
  const [first] = escalationLevels(procedure);
  if (first === undefined) return undefined;
  return { block, since: now, told: 0, due_at: now + first.afterMs };
}
