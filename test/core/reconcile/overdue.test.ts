// R6 as a table: what is pending at a moment, and whether something is ticked.
import { describe, expect, it } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Block, Timers, Workflow } from '../../../lib/core/model/workflow.ts';
import { aggregateAfter, compilePlan } from '../../../lib/core/plan.ts';
import { nextLook } from '../../../lib/core/reconcile/due-time.ts';
import { overdue } from '../../../lib/core/reconcile/overdue.ts';
import { reconciler } from '../../../lib/core/reconcile/reconciler.ts';
import { START_MS, testRegistry } from '../../support/harness.ts';
import { workflowOf } from '../../support/plans.ts';

const MINUTE = 60_000;
const procedure = testRegistry().find('timed');
if (procedure === undefined) throw new Error('the test domain has a timed procedure');
const base: Workflow = { ...workflowOf({ tenant: 'acme' }).workflow, procedure: 'timed' };
const at = (minutes: number): number => START_MS + minutes * MINUTE;
const block: Block = {
  seq: 1,
  reason: 'deviation',
  step: 'ready',
  by: 'dev:ana',
  at: base.created_at,
  message: 'm',
};
const blocked: Partial<Workflow> = { state: 'BLOCKED', block };
const none: Timers = { steps: {} };
const level: Timers = { steps: { level: { due_at: at(30) } } };
const check: Timers = { steps: { check: { due_at: at(30) } } };
const both: Timers = { steps: { ...level.steps, check: { due_at: at(29) } } };
const passed: Timers = { steps: { level: { due_at: at(30), passed: true } } };
const whole: Timers = { steps: {}, deadline: { due_at: at(240) } };
const idle = (told: number, minutes?: number): Timers => ({
  steps: {},
  reminder: { since: START_MS, told, ...(minutes !== undefined && { due_at: at(minutes) }) },
});
const stands = (told: number, minutes?: number): Timers => ({
  steps: {},
  escalation: {
    block: 1,
    since: START_MS,
    told,
    ...(minutes !== undefined && { due_at: at(minutes) }),
  },
});

/** What is done at a minute: the type of the event with what it says, or nothing. */
function tickAt(minutes: number, timers: Timers | undefined, part: Partial<Workflow> = {}) {
  const workflow = { ...base, ...part, ...(timers !== undefined && { timers }) };
  const observed = { workflow, procedure: procedure!, lock: undefined, holder: undefined };
  const context = { principal: reconciler('acme'), now: at(minutes), sinks: ['log', 'hook'] };
  const repair = overdue({ ...observed, pointers: new Map() }, context);
  if (repair === undefined) return undefined;
  if (repair.work.kind !== 'plan') throw new Error('a tick has an event');
  const { plan } = repair.work;
  compilePlan(plan);
  const [event] = plan.events;
  if (event === undefined) throw new Error('a tick has an event');
  const { type, data } = eventBody(event);
  return { type, data, finding: repair.finding, plan, after: aggregateAfter(plan) };
}

describe('a time of a workflow', () => {
  it.each([
    ['is not there', 999, undefined, {}, undefined],
    ['is not asked for now', 999, none, {}, undefined],
    ['of a step is a millisecond away', 30 - 1 / MINUTE, level, {}, undefined],
    ['of a step is now', 30, level, {}, 'deadline_passed'],
    ['of a step has been told', 31, passed, {}, undefined],
    ['of the whole lies ahead', 239, whole, {}, undefined],
    ['of the whole is now', 240, whole, {}, 'deadline_passed'],
    ['of the whole passes blocked work', 240, whole, blocked, 'deadline_passed'],
    ['belongs to work at its end', 999, level, { state: 'COMPLETED' }, undefined],
    ['of a reminder lies ahead', 19, idle(0, 20), {}, undefined],
    ['of a reminder is now', 20, idle(0, 20), {}, 'reminder_sent'],
    ['of a reminder comes no more', 999, idle(2), {}, undefined],
    ['of a block lies ahead', 29, stands(0, 30), blocked, undefined],
    ['of a block is now', 30, stands(0, 30), blocked, 'block_escalated'],
    ['of a block comes no more', 999, stands(3), blocked, undefined],
    ['of a block that is over', 30, stands(0, 30), {}, undefined],
  ] as const)('%s', (_what, minutes, timers, part, type) => {
    expect(tickAt(minutes, timers, part)?.type).toBe(type);
  });
});

describe('a tick', () => {
  it('is guarded by the version and the head, names its rule, and has one row for each sink', () => {
    const tick = tickAt(31, level);
    expect(tick?.plan.aggregate).toMatchObject({
      op: 'update',
      before: { version: 1, head_seq: 1 },
    });
    expect(tick?.data).toEqual({
      rule: 'R6',
      due: '2026-03-01T09:30:00.000Z',
      whole: false,
      steps: ['level'],
      follows: 'notify',
      message: 'the deadline of Level has passed',
    });
    expect(tick?.after).toMatchObject({ version: 2, state: 'CREATED', timers: passed });
    expect(tick?.plan.outbox.map(({ lane, seq }) => [lane, seq])).toEqual([
      ['notify:log', 2],
      ['notify:hook', 2],
    ]);
    expect(tick?.plan.outbox[0]?.payload).toEqual({
      kind: 'overdue',
      audiences: ['planner'],
      workflow: 'w1',
      asset: 'A-1',
      procedure: 'timed@1',
      head_seq: 2,
      head_hash: tick?.after.head_hash,
      at: '2026-03-01T09:31:00.000Z',
      message: 'the deadline of Level has passed',
      due: '2026-03-01T09:30:00.000Z',
      whole: false,
      steps: [{ step: 'level', title: 'Level' }],
    });
  });

  it('takes all deadlines that have passed at once, and blocks where one of them says so', () => {
    const tick = tickAt(30, both);
    expect(tick?.data).toMatchObject({
      due: '2026-03-01T09:29:00.000Z',
      steps: ['level', 'check'],
      follows: 'block',
      message: 'the deadline of Level and 1 more has passed',
    });
    expect(tick?.finding).toBe('a deadline of w1 has passed: level, check');
    expect(tick?.after).toMatchObject({
      state: 'BLOCKED',
      block: { seq: 2, reason: 'overdue', step: 'check', by: 'system:reconciler' },
      timers: { steps: {}, escalation: { block: 2, told: 0, due_at: at(60) } },
      due_at: at(60),
    });
    expect(tick?.plan.outbox[0]?.payload).toMatchObject({
      kind: 'block',
      reason: 'overdue',
      audiences: ['supervisor', 'planner'],
    });
    expect(tick?.plan.locks).toEqual([]);
  });

  it.each([
    ['the whole', { ...whole }, 'its deadline has passed', 'all'],
    [
      'the whole and a step',
      { ...whole, ...level },
      'its deadline has passed, and that of Level',
      'all, level',
    ],
  ])('says that it is about %s', (_what, timers, message, named) => {
    const tick = tickAt(240, timers);
    expect(tick?.data).toMatchObject({ whole: true, message, follows: 'notify' });
    expect(tick?.finding).toBe(`a deadline of w1 has passed: ${named}`);
    expect(tick?.after.timers?.deadline).toEqual({ due_at: at(240), passed: true });
  });

  it('changes no state of work that is blocked already', () => {
    const timers = { ...whole, ...check };
    expect(tickAt(240, timers, blocked)?.after).toMatchObject({ state: 'BLOCKED', block });
  });

  it.each([
    [20, 0, 1, 40],
    [39, 0, 1, 40],
    [40, 1, 2, undefined],
    [999, 0, 2, undefined],
  ])('at %d minutes reminds after %d with reminder %d, and next at %p', (m, told, n, next) => {
    const tick = tickAt(m, idle(told, 20));
    expect(tick?.data).toEqual({ rule: 'R6', reminder: n, of: 2, minutes: m });
    expect(tick?.after.timers).toEqual(idle(n, next));
    expect(tick?.finding).toBe(`w1 has stood still for ${m} minutes`);
  });

  it.each([
    [30, 0, 1, ['supervisor'], 60],
    [60, 1, 2, ['supervisor', 'manager'], 90],
    [61, 0, 2, ['supervisor', 'manager'], 90],
    [999, 2, 3, ['supervisor'], undefined],
  ])('at %d minutes tells after level %d of level %d: %j', (m, told, n, audiences, next) => {
    const tick = tickAt(m, stands(told, 30), blocked);
    expect(tick?.data).toEqual({ rule: 'R6', block: 1, level: n, of: 3, minutes: m });
    expect(tick?.after.timers).toEqual(stands(n, next));
    expect(tick?.plan.outbox[0]?.payload).toMatchObject({
      kind: 'escalation',
      audiences,
      reason: 'deviation',
      step: 'ready',
      title: 'Ready',
    });
  });
});

describe('the next look', () => {
  it.each([
    ['is in an hour where nothing is pending', {}, 60],
    ['is in an hour where all has been told', { timers: passed }, 60],
    ['is at a deadline that comes sooner', { timers: level }, 30],
    ['is at a reminder that comes sooner', { timers: idle(0, 20) }, 20],
    ['is in an hour where the deadline is later', { timers: whole }, 60],
    ['is at the next level of a block', { ...blocked, timers: stands(0, 30) }, 30],
    [
      'is in an hour where the work is frozen',
      { timers: level, frozen: { at: base.created_at, what: 'x' } },
      60,
    ],
  ] as const)('%s', (_what, part, minutes) => {
    expect(nextLook({ ...base, ...part }, START_MS)).toBe(at(minutes));
  });

  it('never comes after the end', () => {
    expect(nextLook({ ...base, state: 'COMPLETED' }, START_MS)).toBeUndefined();
  });
});
