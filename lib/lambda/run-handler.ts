// The task of the state machine of runs: works on one attempt for as long as the function has time. The
// function that answers callers asks it for the tools of evidence servers. Absent members and null are the same,
// and whatever else does not fit is refused by name.
import type { Context } from 'aws-lambda';
import type { ToolVerdicts } from '../core/evidence/report.ts';
import type { Worker } from '../core/runs/worker.ts';
import { RUN } from '../core/runs/timing.ts';
import type { Observers } from './observers.ts';
import { cannotStart, taskFunction, text, whole, type TaskHandler } from './task-function.ts';
import { toldStart } from './told-start.ts';

/** Answer of the task; `more` says that the time ran out before the work did. */
export interface Worked {
  readonly round: number;
  readonly more: boolean;
}

/** What works, and what says which tools there are, until a moment in epoch milliseconds. */
export interface RunApp {
  readonly worker: Worker;
  readonly tools: (deadlineMs: number) => Promise<ToolVerdicts>;
}

/** The handler, and its start. */
export interface RunFunction {
  readonly handler: TaskHandler<Worked | ToolVerdicts>;
  /** Resolves when the first start has ended, whichever way. */
  readonly started: Promise<unknown>;
}

/** Nothing is begun that may not come to its end: one call, and the steps around it. */
const MARGIN_MS = RUN.callMs + 2 * RUN.stepMs + 5_000;

/** Builds the function and starts it. `open` is called again by the next task after it failed. */
export function createRunFunction(observers: Observers, open: () => Promise<RunApp>): RunFunction {
  const app = toldStart(observers, open);
  const handler = taskFunction<Worked | ToolVerdicts>(observers, async (event, context) => {
    const members = (event ?? {}) as Members;
    if (members.task === 'tools') {
      const deadlineMs = whole(members.deadline_ms, 'deadline_ms');
      const opened = await app();
      if (opened === undefined) throw cannotStart();
      return opened.tools(deadlineMs);
    }
    const of = {
      tenant: text(members.tenant, 'tenant'),
      run: text(members.run, 'run'),
      attempt: whole(members.attempt, 'attempt'),
    };
    const round = whole(members.round ?? 0, 'round') + 1;
    const opened = await app();
    if (opened === undefined) throw cannotStart();
    const signal = timeLeft(context);
    await opened.worker(of, signal);
    return { round, more: signal.aborted };
  });
  return { handler, started: app() };
}

/** Aborts once there is no time for more than what has been begun. */
function timeLeft(context: Context): AbortSignal {
  const ms = context.getRemainingTimeInMillis() - MARGIN_MS;
  return ms > 0 ? AbortSignal.timeout(ms) : AbortSignal.abort();
}

interface Members {
  readonly task?: unknown;
  readonly deadline_ms?: unknown;
  readonly tenant?: unknown;
  readonly run?: unknown;
  readonly attempt?: unknown;
  readonly round?: unknown;
}
