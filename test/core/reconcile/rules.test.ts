// Each rule as a table: what is seen, and whether something is found.
import { describe, expect, it } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Block, Lock, Pointer, Workflow } from '../../../lib/core/model/workflow.ts';
import { aggregateAfter, compilePlan } from '../../../lib/core/plan.ts';
import { books, pointerOf } from '../../../lib/core/reconcile/books.ts';
import { lostLock } from '../../../lib/core/reconcile/lost-lock.ts';
import { orphanLock } from '../../../lib/core/reconcile/orphan-lock.ts';
import type { Observation, Repair, RuleFunction } from '../../../lib/core/reconcile/rules.ts';
import { reconciler } from '../../../lib/core/reconcile/reconciler.ts';
import { START_MS, testRegistry } from '../../support/harness.ts';
import { lockOf, workflowOf } from '../../support/plans.ts';

const tenant = 'acme';
const { workflow } = workflowOf({ tenant });
const lock = lockOf({ tenant });
const free: Lock = { format: 1, tenant, asset: 'A-1', fence: 4, held: false };
const procedure = testRegistry().find('sample');
if (procedure === undefined) throw new Error('the test domain has a sample procedure');
const block = (reason: Block['reason']): Block => ({
  seq: 1,
  reason,
  by: 'dev:ana',
  at: workflow.created_at,
  message: 'm',
});
const completed: Partial<Workflow> = { state: 'COMPLETED', result: 'completed' };
const blocked = (reason: Block['reason']): Partial<Workflow> => ({
  state: 'BLOCKED',
  block: block(reason),
});
const other: Workflow = { ...workflow, id: 'w2' };
const otherLock: Lock = { ...lock, workflow: 'w2' };
const context = { principal: reconciler(tenant), now: START_MS, sinks: ['log'] };

const seen = (part: Partial<Observation> = {}): Observation => ({
  workflow,
  procedure,
  lock,
  holder: undefined,
  pointers: new Map([['dev:ana', pointerOf(workflow)]]),
  ...part,
});
const on = (rule: RuleFunction, part: Partial<Observation>): Repair | undefined =>
  rule(seen(part), context);
const planOf = (repair: Repair | undefined) => {
  if (repair?.work.kind !== 'plan') throw new Error('expected a plan');
  compilePlan(repair.work.plan);
  return repair.work.plan;
};
const eventOf = (repair: Repair | undefined) => {
  const [event] = planOf(repair).events;
  if (event === undefined) throw new Error('expected an event');
  return eventBody(event);
};

describe('R4, a lock that was left behind', () => {
  it.each([
    ['is held by its workflow', {}, false],
    ['is held by a workflow that a deviation blocks', { workflow: blocked('deviation') }, false],
    ['is free', { lock: free }, false],
    ['is not there', { lock: undefined }, false],
    ['is held by another workflow by right', { lock: otherLock, holder: other }, false],
    ['names nobody', { lock: { ...free, held: true } }, false],
    ['is held by its workflow after the end', { workflow: completed }, true],
    ['is held by a workflow that lost it', { workflow: blocked('lock_released') }, true],
    ['is held by a workflow in conflict', { workflow: blocked('asset_conflict') }, true],
    ['names a workflow that is gone', { lock: otherLock }, true],
    ['names one at its end', { lock: otherLock, holder: { ...other, ...completed } }, true],
    ['names one on another asset', { lock: otherLock, holder: { ...other, asset: 'B' } }, true],
  ] as const)('%s', (_what, part, found) => {
    const { workflow: change, ...rest } = part as Partial<Observation>;
    const repair = on(orphanLock, { ...rest, workflow: { ...workflow, ...change } });
    expect(repair !== undefined).toBe(found);
  });

  it('is released under its fence, as an event of the workflow that left it', () => {
    const holder = { ...other, ...completed };
    const repair = on(orphanLock, { lock: otherLock, holder });
    expect(repair).toMatchObject({
      rule: 'R4',
      finding: 'the lock of A-1 was left behind by w2',
    });
    expect(planOf(repair)).toMatchObject({
      aggregate: { op: 'update', before: holder, change: { set: { version: 2, head_seq: 2 } } },
      locks: [{ op: 'release', asset: 'A-1', workflow: 'w2', fence: 1 }],
    });
    expect(eventOf(repair)).toMatchObject({
      type: 'orphan_lock_released',
      workflow: 'w2',
      data: { asset: 'A-1', fence: 1, rule: 'R4' },
    });
  });

  it('of a workflow that is gone is released as long as it stays gone', () => {
    const repair = on(orphanLock, { lock: otherLock });
    expect(repair).toMatchObject({
      rule: 'R4',
      finding: 'the lock of A-1 names a workflow that is gone',
    });
    expect(repair?.work).toEqual({
      kind: 'writes',
      writes: [
        {
          op: 'update',
          key: { kind: 'lock', tenant, asset: 'A-1' },
          expect: { held: true, workflow: 'w2', fence: 1 },
          set: { held: false },
          remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
        },
        { op: 'absent', key: { kind: 'workflow', tenant, id: 'w2' } },
      ],
    });
  });
});

describe('R5, a lock that was lost', () => {
  it.each([
    ['is its own', {}, undefined],
    ['is no more its own after the end', { workflow: completed, lock: free }, undefined],
    ['was taken by force', { workflow: blocked('lock_released'), lock: free }, undefined],
    ['was left behind by somebody else', { lock: otherLock }, undefined],
    ['is free', { lock: free }, 'lock_restored'],
    ['is not there', { lock: undefined }, 'lock_restored'],
    ['is its own under another fence', { lock: { ...lock, fence: 3 } }, 'lock_restored'],
    ['is held by nobody that it names', { lock: { ...free, held: true } }, 'lock_restored'],
    ['is missed by blocked work', { workflow: blocked('deviation'), lock: free }, 'lock_restored'],
    ['is held by another one', { lock: otherLock, holder: other }, 'asset_conflict_found'],
  ] as const)('%s', (_what, part, type) => {
    const { workflow: change, ...rest } = part as Partial<Observation>;
    const repair = on(lostLock, { ...rest, workflow: { ...workflow, ...change } });
    expect(repair && eventOf(repair).type).toBe(type);
  });

  it.each([
    ['free', free, { freeAt: 4 }, 5],
    ['not there', undefined, { freeAt: undefined }, 2],
    ['its own under another fence', { ...lock, fence: 3 }, { freeAt: 3, orphanOf: 'w1' }, 4],
    ['held by nobody that it names', { ...free, held: true }, { freeAt: 4 }, 5],
  ])('that is %s is taken under a fence that nobody has seen', (_what, found, from, fence) => {
    const repair = on(lostLock, { lock: found });
    expect(repair).toMatchObject({ rule: 'R5', finding: 'w1 has lost the lock of A-1' });
    const plan = planOf(repair);
    expect(plan.locks).toMatchObject([
      { op: 'take', ...from, lock: { fence, held: true, workflow: 'w1', subject: 'dev:ana' } },
    ]);
    expect(aggregateAfter(plan)).toMatchObject({ state: 'CREATED', fence, version: 2 });
    expect(eventOf(on(lostLock, { lock: found })).data).toEqual({
      asset: 'A-1',
      fence,
      rule: 'R5',
    });
    expect('orphanOf' in (plan.locks[0] ?? {})).toBe('orphanOf' in from);
  });

  it('that somebody else has by right blocks the work, checks that lock, and tells of it', () => {
    const deviation = { ...workflow, ...blocked('deviation') };
    const repair = on(lostLock, { workflow: deviation, lock: otherLock, holder: other });
    expect(repair).toMatchObject({ rule: 'R5', finding: 'A-1 of w1 is held by w2' });
    expect(eventOf(repair).data).toEqual({ asset: 'A-1', held_by: 'w2', rule: 'R5' });
    const plan = planOf(repair);
    expect(plan.locks).toEqual([]);
    expect(plan.guards).toEqual([
      {
        key: { kind: 'lock', tenant, asset: 'A-1' },
        expect: { held: true, workflow: 'w2', fence: 1 },
      },
    ]);
    expect(aggregateAfter(plan)).toMatchObject({
      state: 'BLOCKED',
      block: {
        seq: 2,
        reason: 'asset_conflict',
        by: 'system:reconciler',
        message: 'somebody else holds its asset',
        earlier: block('deviation'),
      },
    });
    expect(plan.outbox).toMatchObject([
      { lane: 'notify:log', seq: 2, payload: { kind: 'block', reason: 'asset_conflict' } },
    ]);
  });
});

describe('R8, lists of people', () => {
  const pointer = pointerOf(workflow);
  const stale: Pointer = { ...pointer, subject: 'dev:ben' };
  const lists = (...entries: readonly (readonly [string, Pointer | undefined])[]) =>
    new Map(entries);

  it.each([
    ['agree', workflow, lists(['dev:ana', pointer], ['dev:ben', undefined]), undefined],
    [
      'differ only in since when',
      workflow,
      lists(['dev:ana', { ...pointer, since: 'x' }]),
      undefined,
    ],
    [
      'are empty after the end',
      { ...workflow, ...completed },
      lists(['dev:ana', undefined]),
      undefined,
    ],
    ['lack the work', workflow, lists(['dev:ana', undefined]), ['add dev:ana']],
    [
      'name another asset',
      workflow,
      lists(['dev:ana', { ...pointer, asset: 'B' }]),
      ['add dev:ana'],
    ],
    [
      'name another procedure',
      workflow,
      lists(['dev:ana', { ...pointer, procedure: 'p' }]),
      ['add dev:ana'],
    ],
    [
      'were left with somebody who had it before',
      workflow,
      lists(['dev:ana', pointer], ['dev:ben', stale]),
      ['remove dev:ben'],
    ],
    [
      'were left after the end',
      { ...workflow, ...completed },
      lists(['dev:ana', pointer], ['dev:ben', stale]),
      ['remove dev:ana', 'remove dev:ben'],
    ],
  ] as const)('%s', (_what, of, pointers, changes) => {
    const repair = on(books, { workflow: of, pointers });
    const found = repair && planOf(repair).pointers;
    expect(
      found?.map(
        (change) => `${change.op} ${change.op === 'add' ? change.pointer.subject : change.subject}`,
      ),
    ).toEqual(changes);
  });

  it('are rebuilt as an event that names the people, and nothing else changes', () => {
    const repair = on(books, { pointers: lists(['dev:ana', undefined]) });
    expect(repair).toMatchObject({
      rule: 'R8',
      finding: 'the lists of 1 people disagree with w1',
    });
    expect(planOf(repair).aggregate.op).toBe('update');
    expect(eventOf(repair)).toMatchObject({
      type: 'pointers_rebuilt',
      data: { people: ['dev:ana'], rule: 'R8' },
    });
    const { head_hash: _hash, ...after } = aggregateAfter(planOf(repair));
    const { head_hash: _before, ...before } = workflow;
    expect(after).toEqual({ ...before, version: 2, head_seq: 2 });
  });
});
