// What is told again while nothing happens: a block that stands, and work that nobody goes on with. What
// was missed, because nobody looked, is told once and not made up for.
import { stepOf } from '../procedures.ts';
import { escalationLevels, idleMs } from '../timers.ts';
import type { RepairContext } from './lost-lock.ts';
import { tickPlan, type Tick, type TimedWork } from './tick.ts';

/** A block that still stands is told to whoever is told by now, those whom it should have been told before included. */
export function blockEscalated(work: TimedWork, context: RepairContext): Tick | undefined {
  const { workflow, procedure } = work;
  const { timers, block } = workflow;
  const escalation = timers?.escalation;
  if (timers === undefined || block === undefined || !isDue(escalation, context.now))
    return undefined;
  const levels = escalationLevels(procedure);
  const stoodMs = context.now - escalation.since;
  const told = levels.filter(({ afterMs }) => afterMs <= stoodMs).length;
  const next = levels[told];
  const fresh = levels.slice(escalation.told, told);
  const { block: seq, since } = escalation;
  const minutes = minutesIn(stoodMs);
  const { reason, message, step } = block;
  const named = step === undefined ? {} : { step, title: stepOf(procedure, step)?.title ?? step };
  const raised = {
    block: seq,
    since,
    told,
    ...(next !== undefined && { due_at: since + next.afterMs }),
  };
  return {
    finding: `the block of ${workflow.id} has stood for ${minutes} minutes`,
    plan: tickPlan(work, context, {
      type: 'block_escalated',
      data: { block: seq, level: told, of: levels.length, minutes },
      notice: {
        on: 'escalation',
        audiences: [...new Set(fresh.flatMap(({ audiences }) => audiences))],
        payload: { block: seq, reason, message, ...named, level: told, of: levels.length, minutes },
      },
      change: () => ({ timers: { ...timers, escalation: raised } }),
    }),
  };
}

/** Somebody is reminded that nothing goes on. */
export function idleReminded(work: TimedWork, context: RepairContext): Tick | undefined {
  const { workflow, procedure } = work;
  const { timers, holder } = workflow;
  const reminder = timers?.reminder;
  const asked = procedure.reminder;
  if (timers === undefined || asked === undefined || !isDue(reminder, context.now))
    return undefined;
  const { since } = reminder;
  const idle = context.now - since;
  const told = Math.min(asked.times, Math.floor(idle / idleMs(asked)));
  const minutes = minutesIn(idle);
  const raised = {
    since,
    told,
    ...(told < asked.times && { due_at: since + (told + 1) * idleMs(asked) }),
  };
  const message = `nothing has been recorded for ${minutes} minutes`;
  return {
    finding: `${workflow.id} has stood still for ${minutes} minutes`,
    plan: tickPlan(work, context, {
      type: 'reminder_sent',
      data: { reminder: told, of: asked.times, minutes },
      notice: {
        on: 'reminder',
        payload: {
          message,
          holder: holder.subject,
          reminder: told,
          of: asked.times,
          minutes,
        },
      },
      change: () => ({ timers: { ...timers, reminder: raised } }),
    }),
  };
}

function isDue<T extends { readonly due_at?: number }>(
  time: T | undefined,
  now: number,
): time is T & { readonly due_at: number } {
  return time?.due_at !== undefined && time.due_at <= now;
}

const minutesIn = (ms: number): number => Math.floor(ms / 60_000);
