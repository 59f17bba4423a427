// Each rule over runs as a table: what is seen, and what is done about it.
import { describe, expect, it } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Approval, Run, RunState } from '../../../lib/core/model/run.ts';
import { RUN_STATES } from '../../../lib/core/model/run.ts';
import { overdueRun } from '../../../lib/core/reconcile/overdue-run.ts';
import { reconciler } from '../../../lib/core/reconcile/reconciler.ts';
import type { RunObservation, RunRepair, RunRule } from '../../../lib/core/reconcile/run-rules.ts';
import { stalledRun } from '../../../lib/core/reconcile/stalled-run.ts';
import { compileRunPlan, runAfter } from '../../../lib/core/runs/plan.ts';
import { START_MS } from '../../support/harness.ts';
import { PROPOSAL, runOf } from '../../support/runs.ts';

const MINUTE = 60_000;
const { action } = PROPOSAL;
const approval: Approval = {
  decision: 'approved',
  action_hash: PROPOSAL.action_hash,
  subject: 'dev:cara',
  name: 'Cara',
  via: 'rest',
  at: PROPOSAL.at,
  seq: 5,
  expires_at: action.expires_at,
  not_after: action.not_after,
  spent: true,
};

/** A run in a state, as its commands leave it at the start. */
function inState(state: RunState, part: Partial<Run> = {}): Run {
  const writing = state === 'executing' || state === 'verifying';
  const decided = writing || state === 'awaiting_approval';
  return runOf('acme', {
    state,
    ...(decided && { proposal: PROPOSAL }),
    ...(writing && { approval, deadline_at: START_MS + 75 * MINUTE }),
    ...part,
  });
}
const seen = (run: Run, part: Partial<RunObservation> = {}): RunObservation => ({
  run,
  waiting: false,
  execution: undefined,
  written: undefined,
  ...part,
});
const on = (rule: RunRule, observed: RunObservation, minutes: number): RunRepair | undefined =>
  rule(observed, {
    principal: reconciler('acme'),
    now: START_MS + minutes * MINUTE,
    sinks: ['log'],
  });
/** The repair in words: event, state, attempt; compiled, so that it is a move there is. */
const told = (repair: RunRepair | undefined): string => {
  if (repair === undefined) return 'nothing';
  compileRunPlan(repair.plan);
  const { state, attempt, end } = runAfter(repair.plan);
  const [event] = repair.plan.events.map(eventBody);
  expect(event?.data).toMatchObject({ rule: repair.rule });
  expect(event?.actor).toMatchObject({ subject: 'system:reconciler', via: 'system' });
  return [event?.type, state, attempt, ...(end === undefined ? [] : [end.code])].join(' ');
};

describe('R6, work that should be running and is not', () => {
  const ended = { execution: 'ended' } as const;
  const absent = { execution: 'absent' } as const;
  it.each([
    ['created, not yet overdue', inState('created'), 4, absent, 'nothing'],
    ['created, overdue and absent', inState('created'), 5, absent, 'work_restarted created 2'],
    ['gathering, overdue and ended', inState('gathering'), 5, ended, 'work_restarted gathering 2'],
    [
      'gathering, overdue and running',
      inState('gathering'),
      5,
      { execution: 'running' },
      'nothing',
    ],
    ['gathering, overdue, nobody asked', inState('gathering'), 5, {}, 'nothing'],
    [
      'gathering, its start waits in the outbox',
      inState('gathering'),
      40,
      { waiting: true },
      'nothing',
    ],
    [
      'gathering, hours later and running',
      inState('gathering'),
      500,
      { execution: 'running' },
      'nothing',
    ],
    [
      'gathering, hours later and absent',
      inState('gathering'),
      500,
      absent,
      'work_restarted gathering 2',
    ],
    [
      'gathering, no attempt left',
      inState('gathering', { attempt: 20 }),
      5,
      ended,
      'run_failed failed 20 ATTEMPTS_SPENT',
    ],
    ['executing, overdue and ended', inState('executing'), 5, ended, 'work_restarted executing 2'],
    ['verifying, overdue and ended', inState('verifying'), 5, ended, 'work_restarted verifying 2'],
    ['executing, past its deadline', inState('executing'), 75, ended, 'nothing'],
    ['executing, no attempt left', inState('executing', { attempt: 20 }), 5, ended, 'nothing'],
    ['awaiting a decision', inState('awaiting_approval'), 50, absent, 'nothing'],
    ['completed', inState('completed'), 500, absent, 'nothing'],
    ['failed', inState('failed'), 500, absent, 'nothing'],
    ['cancelled', inState('cancelled'), 500, absent, 'nothing'],
  ] as const)('%s', (_what, run, minutes, part, expected) => {
    expect(told(on(overdueRun, seen(run, part), minutes))).toBe(expected);
  });

  it('raises the attempt in the transaction that writes the row which starts it', () => {
    const repair = on(overdueRun, seen(inState('executing'), ended), 5);
    const [row] = repair?.plan.outbox ?? [];
    expect(row).toMatchObject({ lane: 'orchestrate', payload: { attempt: 2 } });
    expect(repair && runAfter(repair.plan)).toMatchObject({
      work_by: START_MS + 10 * MINUTE,
      deadline_at: START_MS + 75 * MINUTE,
      due_at: START_MS + 10 * MINUTE,
    });
  });
});

describe('R7, stalled decisions', () => {
  const builtin = { provider: 'builtin', settlesInMs: MINUTE } as const;
  const ticket = { reference: 'T-1', differs: [] } as const;
  const same = { written: { ...builtin, ticket } } as const;
  const absent = { written: builtin } as const;
  const different = { written: { ...builtin, ticket: { ...ticket, differs: ['severity'] } } };
  const changedAction = { proposal: { ...PROPOSAL, action: { ...action, target: 'x' } } };
  it.each([
    ['a decision in time', inState('awaiting_approval'), 60, {}, 'nothing'],
    [
      'a decision that nobody made',
      inState('awaiting_approval'),
      60.0001,
      {},
      'approval_expired cancelled 1 APPROVAL_EXPIRED',
    ],
    [
      'a proposal that was changed',
      inState('awaiting_approval', changedAction),
      1,
      {},
      'run_failed failed 1 PROPOSAL_CHANGED',
    ],
    ['executing, before its deadline', inState('executing'), 74, same, 'nothing'],
    ['executing, nobody could be asked', inState('executing'), 80, {}, 'nothing'],
    ['executing, found', inState('executing'), 75, same, 'write_made verifying 1'],
    ['verifying, found', inState('verifying'), 75, same, 'run_completed completed 1'],
    ['executing, absent while it may be under way', inState('executing'), 76, absent, 'nothing'],
    [
      'executing, absent for good',
      inState('executing'),
      76.0001,
      absent,
      'run_failed failed 1 NOT_DONE',
    ],
    [
      'verifying, absent for good',
      inState('verifying'),
      77,
      absent,
      'run_failed failed 1 NOT_DONE',
    ],
    [
      'executing, something else was written',
      inState('executing'),
      75,
      different,
      'run_failed failed 1 READ_BACK_DIFFERS',
    ],
    [
      'executing, the action was changed after its approval',
      inState('executing', changedAction),
      75,
      same,
      'run_failed failed 1 PROPOSAL_CHANGED',
    ],
    ['gathering', inState('gathering'), 500, same, 'nothing'],
    ['completed', inState('completed'), 500, same, 'nothing'],
  ] as const)('%s', (_what, run, minutes, part, expected) => {
    expect(told(on(stalledRun, seen(run, part), minutes))).toBe(expected);
  });

  it('leaves the times of a write that was found in the past, so that the next look completes it', () => {
    const repair = on(stalledRun, seen(inState('executing'), same), 80);
    const after = repair && runAfter(repair.plan);
    expect(after?.deadline_at).toBe(START_MS + 75 * MINUTE);
  });

  it.each(RUN_STATES)('finds nothing twice: %s', (state) => {
    const observed = seen(inState(state), { ...same, execution: 'ended' });
    const repair = on(overdueRun, observed, 90) ?? on(stalledRun, observed, 90);
    if (repair === undefined) return;
    const after = runAfter(repair.plan);
    expect(after.version).toBe(observed.run.version + 1);
    const again = seen(after, { ...same, execution: 'running' });
    const next = on(overdueRun, again, 90) ?? on(stalledRun, again, 90);
    expect(next === undefined || after.state === 'verifying').toBe(true);
  });
});
