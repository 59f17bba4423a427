// The times of a workflow after a change, as a table of what its procedure asks for.
import { describe, expect, it } from '@jest/globals';
import type { Slot, Timers, Workflow } from '../../lib/core/model/workflow.ts';
import { deadlinesOf, escalationLevels, timersAfter, timesAfter } from '../../lib/core/timers.ts';
import { START_MS, testRegistry } from '../support/harness.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';
import { workflowOf } from '../support/plans.ts';
import { smallProcedure } from '../support/small-procedure.ts';

const MINUTE = 60_000;
const timed = testRegistry().find('timed');
const sample = testRegistry().find('sample');
if (timed === undefined || sample === undefined) throw new Error('the test domain has both');
const base = workflowOf({ tenant: 'acme' }).workflow;
const now = START_MS + 10 * MINUTE;
const slot = (status: Slot['status']): Slot => ({
  seq: 2,
  basis: 0,
  status,
  by: 'dev:ana',
  at: base.created_at,
});
const after = (part: Partial<Workflow>, worked = true): Timers | undefined =>
  timersAfter({ ...base, ...part }, timed, now, { worked });
const old: Timers = {
  deadline: { due_at: 1, passed: true },
  steps: { level: { due_at: 2, passed: true } },
  reminder: { since: 3, told: 2 },
};
const block = { seq: 5, reason: 'deviation', by: 'x', at: base.created_at, message: 'm' } as const;

describe('the times after a change', () => {
  it('are none for a procedure without any, and none at the end', () => {
    expect(timersAfter(base, sample, now, { worked: true })).toBeUndefined();
    expect(after({ state: 'COMPLETED' })).toBeUndefined();
    expect(timesAfter(base, sample, now, { worked: true })).toEqual({
      due_at: now + 60 * MINUTE,
    });
  });

  it('bring back a look that a clock ahead of all others has set', () => {
    const ahead = { ...base, due_at: now + 30 * 24 * 60 * MINUTE };
    expect(timesAfter(ahead, sample, now, { worked: true })).toEqual({ due_at: now + 60 * MINUTE });
    const sooner = { ...base, due_at: now + MINUTE };
    expect(timesAfter(sooner, sample, now, { worked: true })).toEqual({ due_at: now + MINUTE });
  });

  it.each([
    ['nothing', {}, []],
    ['what it requires', { ready: slot('done') }, ['level', 'check']],
    ['what it requires, without its second person', { ready: slot('awaiting_second') }, []],
    ['it too', { ready: slot('done'), level: slot('done') }, ['check']],
    ['it, to be repeated', { ready: slot('done'), level: slot('retake') }, ['level', 'check']],
    [
      'it, without its second person',
      { ready: slot('done'), check: slot('awaiting_second') },
      ['level', 'check'],
    ],
  ] as const)('run for a step where %s is done', (_what, steps, running) => {
    expect(Object.keys(after({ steps })?.steps ?? {})).toEqual(running);
  });

  it('go on for a step that stays open, with what was told of them', () => {
    const steps = { ready: slot('done'), level: slot('retake') };
    expect(after({ steps, timers: old })).toMatchObject({
      deadline: { due_at: 1, passed: true },
      steps: { level: { due_at: 2, passed: true }, check: { due_at: now + 60 * MINUTE } },
    });
  });

  it('count idleness anew from a command, and from nothing else', () => {
    const anew = { since: now, told: 0, due_at: now + 20 * MINUTE };
    expect(after({ timers: old })?.reminder).toEqual(anew);
    expect(after({ timers: old }, false)?.reminder).toEqual({ since: 3, told: 2 });
    expect(after({}, false)?.reminder).toEqual(anew);
  });

  it('stand still while it is blocked, but for the whole and for the block', () => {
    const blocked = { state: 'BLOCKED', block, timers: old } as const;
    const escalation = { block: 5, since: now, told: 0, due_at: now + 30 * MINUTE };
    const deadline = { due_at: 1, passed: true };
    expect(after(blocked)).toEqual({ deadline, steps: {}, escalation });
    const told = { block: 5, since: 1, told: 2 };
    expect(after({ ...blocked, timers: { ...old, escalation: told } })?.escalation).toEqual(told);
    const other = { ...told, block: 4 };
    expect(after({ ...blocked, timers: { ...old, escalation: other } })?.escalation).toEqual(
      escalation,
    );
  });

  it('come back where a record has lost them: that of the whole from the start', () => {
    expect(after({})?.deadline).toEqual({ due_at: START_MS + 240 * MINUTE });
    const damaged = { ...base, created_at: '2026-03-01 09:00' };
    expect(() => timersAfter(damaged, timed, now, { worked: true })).toThrow(
      expect.objectContaining({ code: 'ITEM_DAMAGED', kind: 'retryable' }),
    );
  });

  it('put no look off: the earlier of what is pending and of the look that was due anyway', () => {
    const due = (due_at?: number): number | undefined =>
      timesAfter({ ...base, ...(due_at !== undefined && { due_at }) }, timed, now, {
        worked: true,
      }).due_at;
    expect(due()).toBe(now + 20 * MINUTE);
    expect(due(now + MINUTE)).toBe(now + MINUTE);
    expect(due(now + 30 * MINUTE)).toBe(now + 20 * MINUTE);
  });
});

describe('later tellings of a block', () => {
  it('are in order of time, each moment once, with everybody who is told then', () => {
    expect(escalationLevels(timed)).toEqual([
      { afterMs: 30 * MINUTE, audiences: ['supervisor'] },
      { afterMs: 60 * MINUTE, audiences: ['supervisor', 'manager'] },
      { afterMs: 90 * MINUTE, audiences: ['supervisor'] },
    ]);
    const rule = { on: 'block', notify: 'a', after_minutes: 5 } as const;
    const twice = parsedProcedure(smallProcedure({ escalation: [rule, rule] }));
    expect(escalationLevels(twice)).toEqual([{ afterMs: 5 * MINUTE, audiences: ['a'] }]);
    expect(escalationLevels(sample)).toEqual([]);
  });
});

describe('the deadlines of a workflow', () => {
  it('come the earliest first, that of the whole without a step', () => {
    const timers = { deadline: { due_at: 2 }, steps: { b: { due_at: 3 }, a: { due_at: 1 } } };
    expect(deadlinesOf(timers)).toEqual([
      { step: 'a', due_at: 1 },
      { due_at: 2 },
      { step: 'b', due_at: 3 },
    ]);
    expect(deadlinesOf(undefined)).toEqual([]);
  });
});
