// Times of a workflow for a terminal: what is due when, the earliest first.
import type { Workflow } from '../../core/model/workflow.ts';
import { deadlinesOf } from '../../core/timers.ts';
import { lasted } from '../text.ts';

/** What is due when, in words; the deadline of the whole is called `all`. */
export function timeTexts(workflow: Workflow, now: number): readonly string[] {
  const { reminder, escalation } = workflow.timers ?? {};
  const again = (at: number | undefined): string =>
    at === undefined ? 'no more' : `again ${awayText(at, now)}`;
  return [
    ...deadlineTexts(workflow, now),
    ...(reminder === undefined
      ? []
      : [`reminded ${reminder.told} times, ${again(reminder.due_at)}`]),
    ...(escalation === undefined
      ? []
      : [`block told ${escalation.told} times since, ${again(escalation.due_at)}`]),
  ];
}

/** The deadlines alone. */
export function deadlineTexts({ timers }: Workflow, now: number): readonly string[] {
  return deadlinesOf(timers).map(({ step = 'all', due_at }) => `${step} ${dueText(due_at, now)}`);
}

function dueText(at: number, now: number): string {
  return at > now ? `due in ${lasted(at - now)}` : `overdue for ${lasted(now - at)}`;
}

function awayText(at: number, now: number): string {
  return at > now ? `in ${lasted(at - now)}` : 'now';
}
