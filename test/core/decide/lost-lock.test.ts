// Work that loses its asset by another hand, and what a supervisor can decide about it then.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { canLose, forcedRelease } from '../../../lib/core/decide/lost-lock.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { ResolveBlock } from '../../../lib/core/model/commands.ts';
import type { Block, Lock, Workflow } from '../../../lib/core/model/workflow.ts';
import { aggregateAfter, compilePlan } from '../../../lib/core/plan.ts';
import { testRegistry } from '../../support/harness.ts';
import { lockOf, workflowOf } from '../../support/plans.ts';
import { person, PureWorld, START_MS } from '../../support/pure-world.ts';

const ana = person('Ana', ['procedures:run', 'procedures:supervise']);
const at = '2026-01-02T03:04:05.678Z';

describe('a forced release', () => {
  const { workflow } = workflowOf({ tenant: 'acme' });
  const lock = lockOf({ tenant: 'acme' });
  const procedure = testRegistry().find('sample');
  if (procedure === undefined) throw new Error('the test domain has a sample procedure');
  const context = { principal: ana, now: START_MS, sinks: ['log'], requestId: 'r-1' };

  it('blocks the holder, raises the fence, tells of it, and says why in the trail', () => {
    const plan = forcedRelease({ workflow, procedure, lock }, 'fire', context);
    compilePlan(plan);
    const [event] = plan.events;
    if (event === undefined) throw new Error('expected an event');
    expect(eventBody(event)).toMatchObject({
      type: 'lock_released',
      actor: { subject: 'dev:ana' },
      data: { asset: 'A-1', fence: 1, reason: 'fire', request_id: 'r-1' },
    });
    expect(plan.locks).toEqual([{ op: 'force_release', asset: 'A-1', workflow: 'w1', fence: 1 }]);
    expect(aggregateAfter(plan)).toMatchObject({
      state: 'BLOCKED',
      version: 2,
      block: {
        seq: 2,
        reason: 'lock_released',
        by: 'dev:ana',
        at,
        message: 'its asset was released by an administrator',
      },
    });
    expect(plan.outbox).toMatchObject([
      {
        payload: {
          kind: 'block',
          reason: 'lock_released',
          message: 'its asset was released by an administrator',
        },
      },
    ]);
    const { writes } = compilePlan(plan);
    expect(writes.find(({ key }) => key.kind === 'lock')).toMatchObject({
      expect: { held: true, workflow: 'w1', fence: 1 },
      set: { held: false, fence: 2 },
      remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
    });
    expect(aggregateAfter(plan).block).not.toHaveProperty('earlier');
  });

  it('takes the lock at the fence that it has, whatever the work remembers', () => {
    const plan = forcedRelease(
      { workflow, procedure, lock: { ...lock, fence: 7 } },
      'fire',
      context,
    );
    expect(plan.locks).toMatchObject([{ op: 'force_release', fence: 7 }]);
    const unknown = forcedRelease({ workflow, procedure, lock: undefined }, 'fire', context);
    expect(unknown.locks).toMatchObject([{ op: 'force_release', fence: 1 }]);
  });

  const block: Block = { seq: 1, reason: 'deviation', by: 'a', at, message: 'm' };
  it.each([
    ['holds it', {}, {}, true],
    ['holds it while a deviation blocks it', { state: 'BLOCKED', block }, {}, true],
    [
      'has lost it already',
      { state: 'BLOCKED', block: { ...block, reason: 'lock_released' } },
      {},
      false,
    ],
    ['is at its end', { state: 'COMPLETED' }, {}, false],
    ['has it under another fence', {}, { fence: 2 }, true],
    ['is not the one it names', {}, { workflow: 'w2' }, false],
    ['is on another asset', {}, { asset: 'A-2' }, false],
  ] as const)('takes the asset from work that %s: %p %p %p', (_what, change, of, can) => {
    expect(canLose({ ...workflow, ...change } as Workflow, { ...lock, ...of })).toBe(can);
  });
});

describe('work that lost its asset', () => {
  let world: PureWorld;
  const deviation: Block = { seq: 1, reason: 'deviation', step: 'leak', by: 'x', at, message: 'm' };
  const lost = (earlier?: Block): void => {
    const block: Block = {
      seq: 1,
      reason: 'lock_released',
      by: 'system:cli',
      at,
      message: 'm',
      ...(earlier !== undefined && { earlier }),
    };
    world.workflow = { ...world.state, state: 'BLOCKED', block };
  };
  const free: Lock = { format: 1, tenant: 'acme', asset: 'V-101', fence: 2, held: false };
  const decide = (decision: ResolveBlock['decision']) =>
    world.decide(ana, {
      type: 'resolve_block',
      workflow: world.state.id,
      block: 1,
      decision,
      reason: 'why',
    });

  beforeEach(() => {
    world = new PureWorld();
    world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' });
    world.lock = free;
    lost();
  });

  it('takes it again under a new fence and goes on, also by the word of whoever holds the work', () => {
    const decision = decide('continue');
    if (decision.kind !== 'commit') throw new Error(decision.kind);
    const { plan, receipt } = decision;
    expect(receipt).toMatchObject({ command: 'resolve_block', result: 'continued', seq: 2 });
    expect(receipt).not.toHaveProperty('step');
    expect(plan.locks).toEqual([
      {
        op: 'take',
        freeAt: 2,
        lock: {
          format: 1,
          tenant: 'acme',
          asset: 'V-101',
          fence: 3,
          held: true,
          workflow: world.state.id,
          procedure: 'valve-check',
          subject: 'dev:ana',
          name: 'Ana',
          since: at,
        },
      },
    ]);
    const after = aggregateAfter(plan);
    expect(after).toMatchObject({ state: 'RUNNING', fence: 3 });
    expect(after).not.toHaveProperty('block');
    const [event] = plan.events;
    expect(event && eventBody(event).data).toMatchObject({ block: 1, reason: 'why' });
  });

  it('is blocked by the deviation again that nobody has decided about', () => {
    lost(deviation);
    const decision = decide('continue');
    if (decision.kind !== 'commit') throw new Error(decision.kind);
    expect(aggregateAfter(decision.plan)).toMatchObject({
      state: 'BLOCKED',
      block: deviation,
      fence: 3,
    });
  });

  it('does not go on while somebody else has the asset, and says who', () => {
    world.lock = {
      ...free,
      held: true,
      workflow: 'w9',
      name: 'Ben',
      subject: 'dev:ben',
      since: at,
    };
    const decision = decide('continue');
    expect(decision).toMatchObject({
      kind: 'refuse',
      outcome: { code: 'ASSET_BUSY', asset: 'V-101', holder: 'Ben', mine: false, since: at },
    });
  });

  it('has no step to repeat', () => {
    expect(decide('retake')).toMatchObject({
      kind: 'refuse',
      outcome: {
        code: 'INVALID_ARGUMENT',
        faults: [
          {
            path: '/decision',
            message: 'expected continue or abandon, because no step is to be repeated',
          },
        ],
      },
    });
  });

  it('ends without a lock to give back, and points nobody to it', () => {
    const decision = decide('abandon');
    if (decision.kind !== 'commit') throw new Error(decision.kind);
    const { plan, receipt } = decision;
    expect(receipt).toMatchObject({ result: 'abandoned' });
    expect(plan.locks).toEqual([]);
    expect(plan.pointers).toEqual([{ op: 'remove', subject: 'dev:ana' }]);
    const after = aggregateAfter(plan);
    expect(after).toMatchObject({ state: 'COMPLETED', result: 'abandoned', ended_seq: 2 });
    expect(after).not.toHaveProperty('block');
  });

  it('is handed over without touching a lock', () => {
    const to = { tenant: 'acme', subject: 'dev:ben', name: 'Ben' };
    const command = {
      type: 'hand_over',
      workflow: world.state.id,
      to: 'dev:ben',
      tenure: 1,
    } as const;
    const decision = world.decide(ana, command, to);
    if (decision.kind !== 'commit') throw new Error(decision.kind);
    expect(decision.plan.locks).toEqual([]);
  });
});
