// One more event of an existing run, with what of its state moves with it: head, times, people, effects.
import { appended, type AppendContext } from '../decide/appended.ts';
import { newRow, notifyLane, ORCHESTRATE } from '../dispatch/new-row.ts';
import type { Head } from '../events.ts';
import type { Json } from '../json.ts';
import { ledgerRow, type KeyedCommand } from '../ledger.ts';
import { isOver, WORKING, type EvidenceRow, type Run, type RunReceipt } from '../model/run.ts';
import type { RunEventType } from '../model/run-events.ts';
import type { OutboxRow } from '../model/workflow.ts';
import type { RunChange, RunPlan } from './plan.ts';
import { RUN } from './timing.ts';

/** What every change of a run knows. */
export interface RunContext extends AppendContext {
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
  readonly keyed?: KeyedCommand;
}

/** What happens to a run. */
export interface RunStep {
  readonly type: RunEventType;
  readonly data: { readonly [name: string]: Json };
  /** The attributes that change, given the new event's sequence and time. */
  readonly change?: (seq: number, at: string) => RunChange;
  readonly evidence?: (seq: number, at: string) => EvidenceRow;
  /** Starts the work of a new attempt. */
  readonly starts?: true;
  /** The times of the state before go on. */
  readonly lastingTimes?: true;
  readonly notify?: 'approval_requested' | 'run_failed';
  readonly receipt?: Pick<RunReceipt, 'command' | 'result' | 'action_hash'>;
}

/** The plan of a step, and the receipt of the command that it carries out, if it does. */
export interface Changed {
  readonly plan: RunPlan;
  readonly receipt: RunReceipt | undefined;
}

/** Builds the plan of one step of a run. */
export function changed(before: Run, context: RunContext, step: RunStep): Changed {
  const { now, keyed } = context;
  const attempt = before.attempt + (step.starts === true ? 1 : 0);
  const data = { ...step.receipt, ...step.data, ...(step.starts === true && { attempt }) };
  const { event, head, at, set } = appended(before, context, step.type, data);
  const own = step.change?.(head.seq, at) ?? { set: {} };
  const moved: Run = { ...before, ...own.set, attempt };
  const times = step.lastingTimes === true ? NO_CHANGE : timesOf(before, moved, now);
  const change: RunChange = {
    set: { ...own.set, ...(step.starts === true && { attempt }), ...times.set, ...set },
    remove: [...(own.remove ?? []), ...times.remove],
  };
  const receipt = step.receipt && { ...step.receipt, run: before.id, seq: head.seq, at };
  const plan: RunPlan = {
    now,
    aggregate: { op: 'update', before, change },
    events: [event],
    ...(keyed !== undefined && receipt !== undefined && { ledger: ledgerRow(keyed, receipt, now) }),
    evidence: step.evidence === undefined ? [] : [step.evidence(head.seq, at)],
    outbox: [
      ...(step.starts === true ? [startRow(moved, head, now)] : []),
      ...(step.notify === undefined ? [] : notices(moved, head, context, step.notify)),
    ],
  };
  return { plan, receipt };
}

const NO_CHANGE = { set: {}, remove: [] } as const;

/** The row that starts the work of a run's attempt. */
export function startRow({ tenant, id, attempt }: Run, head: Head, now: number): OutboxRow {
  const lane = { tenant, workflow: id, lane: ORCHESTRATE };
  return newRow(lane, head, { kind: 'run', run: id, attempt }, now);
}

/** When work and state are to be looked at, in epoch milliseconds, for a run that is new or has moved. */
export function timesFor(
  run: Pick<Run, 'state' | 'proposal'>,
  now: number,
): Pick<Run, 'work_by' | 'deadline_at'> & { readonly due_at: number } {
  const { state, proposal } = run;
  if (isOver(state)) return { due_at: now + RUN.lastCheckMs };
  if (state === 'awaiting_approval') {
    const deadline_at = Date.parse(proposal?.action.expires_at ?? '');
    return { deadline_at, due_at: deadline_at };
  }
  const work_by = now + RUN.workMs;
  // Gathering ends with its attempts and its budget: no time that passes while nothing runs fails it (I6).
  if (state === 'created' || state === 'gathering') return { work_by, due_at: work_by };
  const notAfter = Date.parse(proposal?.action.not_after ?? '');
  // Whoever resumes late has the time of one attempt to find out what was written.
  const deadline_at = Math.max(notAfter, work_by);
  return { work_by, deadline_at, due_at: work_by };
}

/** Times begin anew with a state; within one, only the time of the work does. */
function timesOf(
  before: Run,
  moved: Run,
  now: number,
): { readonly set: RunChange['set']; readonly remove: NonNullable<RunChange['remove']> } {
  const fresh = timesFor(moved, now);
  if (before.state !== moved.state) {
    const gone = (['work_by', 'deadline_at'] as const).filter((name) => !(name in fresh));
    return { set: fresh, remove: gone };
  }
  if (!WORKING.has(moved.state)) {
    return { set: { due_at: moved.due_at ?? fresh.due_at }, remove: [] };
  }
  const work_by = now + RUN.workMs;
  return { set: { work_by, due_at: Math.min(work_by, moved.deadline_at ?? work_by) }, remove: [] };
}

/** Notifications carry no symptom and no evidence: both may hold anything. */
function notices(
  { tenant, id, service, proposal, end }: Run,
  head: Head,
  { now, sinks }: Pick<RunContext, 'now' | 'sinks'>,
  kind: NonNullable<RunStep['notify']>,
): readonly OutboxRow[] {
  const payload = {
    kind,
    run: id,
    service,
    head_seq: head.seq,
    head_hash: head.hash,
    at: new Date(now).toISOString(),
    ...(kind === 'approval_requested' &&
      proposal !== undefined && {
        action_hash: proposal.action_hash,
        expires_at: proposal.action.expires_at,
      }),
    ...(kind === 'run_failed' && end !== undefined && { reason: end.code }),
  };
  return sinks.map((sink) =>
    newRow({ tenant, workflow: id, lane: notifyLane(sink) }, head, payload, now),
  );
}
