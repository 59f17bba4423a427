import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Decision } from '../../../lib/core/decide/decision.ts';
import { itemBytes } from '../../../lib/core/keys.ts';
import type { StepInput } from '../../../lib/core/model/commands.ts';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import { viewOf } from '../../../lib/core/view.ts';
import { parsedProcedure } from '../../support/parsed-procedure.ts';
import { person, PureWorld, refusalOf, valveCheck, eventsFound } from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
const cara = person('Cara', ['procedures:supervise']);
const anaSupervises = person('Ana', ['procedures:run', 'procedures:supervise']);
const profile = (who: typeof ana) => ({ tenant: 'acme', subject: who.subject, name: who.name });

let world: PureWorld;
const start = { type: 'start_workflow', procedure: 'valve-check', asset: ' v-101 ' } as const;
const yes: StepInput = { kind: 'confirm', confirmed: true };
const id = (): string => world.state.id;
const record = (step: string, input: StepInput, confirmation?: string) => ({
  type: 'record_step' as const,
  workflow: id(),
  step,
  input,
  ...(confirmation !== undefined && { confirmation }),
});
const isolate = (): void => {
  world.run(ana, record('isolated', yes));
  world.run(ben, { ...record('isolated', yes), confirms: 2 });
};
/** Records a blocking outlet pressure; the block is named by the sequence answered. */
const block = (who = ana): number => {
  const input = { kind: 'reading', value: 42 } as const;
  const asked = refusalOf(world.decide(who, record('outlet', input)));
  const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
  world.run(who, record('outlet', input, confirmation));
  return world.state.block?.seq ?? 0;
};
const resolve = (seq: number, decision: 'continue' | 'retake' | 'abandon') =>
  ({ type: 'resolve_block', workflow: id(), block: seq, decision, reason: 'seen' }) as const;
const handOver = (tenure?: number, to = ben) => ({
  type: 'hand_over' as const,
  workflow: id(),
  to: to.subject,
  ...(tenure !== undefined && { tenure }),
});
const abandon = (tenure?: number) => ({
  type: 'abandon_workflow' as const,
  workflow: id(),
  reason: 'pump removed',
  ...(tenure !== undefined && { tenure }),
});
const complete = () => ({ type: 'complete_workflow', workflow: id() }) as const;
const finish = (): void => {
  isolate();
  world.run(ana, record('inlet', { kind: 'reading', value: 5 }));
  world.run(ana, record('outlet', { kind: 'reading', value: 3 }));
  world.run(ana, record('leak', { kind: 'choice', option: 'dry' }));
};
const found = (decision: Decision): readonly number[] => {
  if (decision.kind !== 'search') throw new Error(`expected a search, not ${decision.kind}`);
  return eventsFound(world, decision).map(({ seq }) => seq);
};

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, start);
});

describe('a start', () => {
  it('creates the workflow, takes the lock with the first fence and points the person to it', () => {
    expect(world.state).toMatchObject({
      state: 'CREATED',
      version: 1,
      asset: 'V-101',
      procedure: 'valve-check',
      procedure_version: 3,
      fence: 1,
      tenure: 1,
      holder: { subject: 'dev:ana', name: 'Ana' },
    });
    expect(world.lock).toEqual({
      format: 1,
      tenant: 'acme',
      asset: 'V-101',
      fence: 1,
      held: true,
      workflow: 'w001',
      procedure: 'valve-check',
      subject: 'dev:ana',
      name: 'Ana',
      since: '2026-01-02T03:04:05.678Z',
    });
    expect(world.plan?.pointers).toMatchObject([{ op: 'add', pointer: { subject: 'dev:ana' } }]);
  });

  it('on an asset that somebody holds is refused and names the holder', () => {
    expect(refusalOf(world.run(ben, start))).toEqual({
      code: 'ASSET_BUSY',
      asset: 'V-101',
      holder: 'Ana',
      mine: false,
      procedure: 'Valve check',
      since: '2026-01-02T03:04:05.678Z',
    });
  });

  it('on an asset that the same person holds with the same procedure is a duplicate', () => {
    isolate();
    expect(world.run(ana, start)).toEqual({ kind: 'duplicate', seq: 1 });
  });

  it('after the workflow has ended takes the lock again with a higher fence', () => {
    world.run(ana, abandon(1));
    world.run(ben, start);
    expect(world.state).toMatchObject({ fence: 2, holder: { name: 'Ben' } });
    expect(world.lock).toMatchObject({ fence: 2, held: true, subject: 'dev:ben' });
  });

  it.each([
    [
      'an unknown procedure',
      { ...start, procedure: 'nope' },
      { code: 'NOT_FOUND', known: ['valve-check'] },
    ],
    ['a name that is no valve', { ...start, asset: 'V-1' }, { code: 'INVALID_ARGUMENT' }],
    ['a name around a valve', { ...start, asset: 'xV-101x' }, { code: 'INVALID_ARGUMENT' }],
  ])('with %s is refused', (_name, command, outcome) => {
    expect(refusalOf(new PureWorld().decide(ana, command))).toMatchObject(outcome);
  });

  it('uses the newest version, and a workflow keeps the one it started with', () => {
    const newer = new PureWorld({ domain: 'more', procedures: [{ ...valveCheck, version: 4 }] });
    newer.run(ana, start);
    expect(newer.state.procedure_version).toBe(4);
  });
});

describe('a block', () => {
  beforeEach(isolate);

  it('keeps steps, completion and abandoning from its operator', () => {
    block();
    const leak: StepInput = { kind: 'choice', option: 'dry' };
    for (const command of [record('leak', leak), complete(), abandon(1)]) {
      expect(refusalOf(world.decide(ana, command)).code).toBe('WORKFLOW_BLOCKED');
    }
  });

  it('resolved with continue keeps the value on record', () => {
    const seq = block();
    world.run(cara, resolve(seq, 'continue'));
    expect(world.state).toMatchObject({
      state: 'RUNNING',
      steps: { outlet: { status: 'done', value: 42 } },
    });
    expect(world.state).not.toHaveProperty('block');
  });

  it('resolved with retake opens the step again, named by its record', () => {
    const seq = block();
    world.run(cara, resolve(seq, 'retake'));
    expect(world.state.steps['outlet']).toMatchObject({ status: 'retake', seq });
    const corrected = {
      ...record('outlet', { kind: 'reading', value: 3 }),
      type: 'correct_step',
      replaces: seq,
    } as const;
    expect(world.run(ana, corrected)).toMatchObject({ receipt: { result: 'recorded' } });
  });

  it('resolved with abandon ends the workflow and frees the asset', () => {
    world.run(cara, resolve(block(), 'abandon'));
    expect(world.state).toMatchObject({ state: 'COMPLETED', result: 'abandoned' });
    expect(world.lock).toEqual({
      format: 1,
      tenant: 'acme',
      asset: 'V-101',
      fence: 1,
      held: false,
      last: {
        procedure: 'valve-check',
        version: 3,
        at: '2026-01-02T03:04:05.678Z',
        values: { isolated: true, outlet: 42 },
      },
    });
    expect(world.plan?.pointers).toEqual([{ op: 'remove', subject: 'dev:ana' }]);
  });

  it('is not accepted by somebody who recorded or confirmed a step of the work', () => {
    const seq = block();
    const benSupervises = person('Ben', ['procedures:supervise']);
    expect(refusalOf(world.decide(benSupervises, resolve(seq, 'continue'))).code).toBe(
      'SECOND_PERSON_REQUIRED',
    );
  });

  it('is not accepted by the person who recorded the value or holds the workflow', () => {
    const seq = block();
    expect(refusalOf(world.decide(anaSupervises, resolve(seq, 'continue'))).code).toBe(
      'SECOND_PERSON_REQUIRED',
    );
    world.run(cara, { ...handOver(1, ben) }, profile(ben));
    const benSupervises = person('Ben', ['procedures:supervise']);
    for (const who of [anaSupervises, benSupervises]) {
      expect(refusalOf(world.decide(who, resolve(seq, 'continue'))).code).toBe(
        'SECOND_PERSON_REQUIRED',
      );
    }
    expect(world.decide(anaSupervises, resolve(seq, 'retake')).kind).toBe('commit');
  });

  it('resolved twice the same way by the same person is looked up; otherwise it is stale', () => {
    const first = block();
    world.run(cara, resolve(first, 'retake'));
    const asked = refusalOf(
      world.decide(ana, {
        ...record('outlet', { kind: 'reading', value: 43 }),
        type: 'correct_step',
        replaces: first,
      }),
    );
    const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
    world.run(ana, {
      ...record('outlet', { kind: 'reading', value: 43 }, confirmation),
      type: 'correct_step',
      replaces: first,
    });
    const second = world.state.block?.seq;
    expect(second).toBe(6);
    expect(found(world.run(cara, resolve(first, 'retake')))).toEqual([5]);
    expect(found(world.run(cara, resolve(first, 'abandon')))).toEqual([]);
    expect(
      found(world.run(person('Dan', ['procedures:supervise']), resolve(first, 'retake'))),
    ).toEqual([]);
    expect(refusalOf(world.run(cara, resolve(first, 'abandon')))).toMatchObject({
      code: 'STALE_REFERENCE',
      names: 'block',
      given: first,
      current: second,
    });
    expect(world.state.state).toBe('BLOCKED');
    world.run(cara, resolve(6, 'retake'));
    expect(found(world.run(cara, resolve(first, 'retake')))).toEqual([5]);
  });
});

describe('a hand-over', () => {
  it('moves state, lock holder and both pointers, keeps the fence, and shows as offered', () => {
    world.run(ana, handOver(1, ben), profile(ben));
    expect(world.state).toMatchObject({
      holder: { subject: 'dev:ben', name: 'Ben' },
      tenure: 2,
      offered: true,
      fence: 1,
    });
    expect(world.lock).toMatchObject({ subject: 'dev:ben', name: 'Ben', fence: 1, held: true });
    expect(world.plan?.pointers).toMatchObject([
      { op: 'remove', subject: 'dev:ana' },
      { op: 'add', pointer: { subject: 'dev:ben' } },
    ]);
  });

  it('is never decided without its receiver', () => {
    expect(() => world.decide(ana, handOver(1, ben))).toThrow(
      'assertion failed: a hand-over has its receiver',
    );
  });

  it('by its receiver is offered in turn', () => {
    world.run(ana, handOver(1, ben), profile(ben));
    world.run(ben, handOver(2, cara), profile(cara));
    expect(world.state).toMatchObject({ holder: { name: 'Cara' }, offered: true });
  });

  it('by name asks for the account that was read back, and a yes counts for that account only', () => {
    const named = { ...handOver(1), to: 'Ben' };
    expect(refusalOf(world.decide(ana, named, profile(ben)))).toMatchObject({
      reason: 'ends_assignment',
      to: 'Ben',
      to_subject: 'dev:ben',
    });
    const impostor = person('Ben');
    const other = { ...profile(impostor), subject: 'dev:impostor' };
    expect(refusalOf(world.decide(ana, named, other))).toMatchObject({
      to_subject: 'dev:impostor',
    });
  });

  it('is no longer offered after the first command of its receiver', () => {
    world.run(ana, handOver(1, ben), profile(ben));
    world.run(ben, record('isolated', yes));
    expect(world.state.offered).toBe(false);
  });

  it('that names no assignment is answered with the one it would end', () => {
    expect(refusalOf(world.decide(ana, handOver(undefined, ben), profile(ben)))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'ends_assignment',
      tenure: 1,
    });
  });

  it('to oneself is a duplicate of one’s own assignment', () => {
    expect(world.run(ana, handOver(1, ana), profile(ana))).toEqual({ kind: 'duplicate', seq: 1 });
  });

  it('by somebody who neither holds nor supervises is refused', () => {
    expect(refusalOf(world.decide(ben, handOver(1, ben), profile(ben)))).toMatchObject({
      code: 'NOT_ASSIGNED',
    });
    expect(world.decide(cara, handOver(1, ben), profile(ben)).kind).toBe('commit');
  });

  it('late and repeated never ends a later assignment', () => {
    world.run(ana, handOver(1, ben), profile(ben));
    world.run(ben, handOver(2, ana), profile(ana));
    expect(found(world.run(ana, handOver(1, ben), profile(ben)))).toEqual([2]);
    expect(found(world.run(ana, handOver(1, cara), profile(cara)))).toEqual([]);
    expect(refusalOf(world.run(cara, handOver(2, ben), profile(ben)))).toMatchObject({
      code: 'STALE_REFERENCE',
      names: 'assignment',
      given: 2,
      current: 3,
    });
    expect(world.state.holder.name).toBe('Ana');
  });
});

describe('abandoning', () => {
  it('names the assignment it ends, frees the asset, and repeated is looked up', () => {
    expect(refusalOf(world.decide(ana, abandon()))).toMatchObject({
      reason: 'ends_assignment',
      tenure: 1,
    });
    world.run(ana, abandon(1));
    expect(world.state).toMatchObject({ state: 'COMPLETED', result: 'abandoned', ended_seq: 2 });
    expect(world.lock?.held).toBe(false);
    expect(found(world.run(ana, abandon(1)))).toEqual([2]);
    expect(refusalOf(world.run(ana, abandon()))).toMatchObject({ code: 'WORKFLOW_COMPLETED' });
  });
});

describe('completing', () => {
  it('is refused while a required step is missing, and names them in order', () => {
    isolate();
    expect(refusalOf(world.decide(ana, complete()))).toMatchObject({
      code: 'STEPS_MISSING',
      missing: ['inlet', 'outlet', 'leak'],
    });
  });

  it('is refused while a step waits for its second person', () => {
    finish();
    const { steps } = world.state;
    world.workflow = {
      ...world.state,
      steps: { ...steps, isolated: { ...steps['isolated'], status: 'awaiting_second' } as never },
    };
    expect(refusalOf(world.decide(ana, complete()))).toMatchObject({ missing: ['isolated'] });
  });

  it('ends the workflow without its optional step, frees asset and pointer', () => {
    finish();
    world.run(ana, complete());
    expect(world.state).toMatchObject({ state: 'COMPLETED', result: 'completed', ended_seq: 7 });
    expect(world.lock).toEqual({
      format: 1,
      tenant: 'acme',
      asset: 'V-101',
      fence: 1,
      held: false,
      last: {
        procedure: 'valve-check',
        version: 3,
        at: '2026-01-02T03:04:05.678Z',
        values: { isolated: true, inlet: 5, outlet: 3, leak: 'dry' },
      },
    });
    expect(world.plan?.pointers).toEqual([{ op: 'remove', subject: 'dev:ana' }]);
  });

  it('what is complete is a duplicate; steps and hand-over are refused then', () => {
    finish();
    world.run(ana, complete());
    expect(world.run(ana, complete())).toEqual({ kind: 'duplicate', seq: 7 });
    expect(refusalOf(world.run(ana, handOver(1, ben), profile(ben)))).toMatchObject({
      code: 'WORKFLOW_COMPLETED',
    });
    const remarks = record('remarks', { kind: 'text', text: 'late' });
    expect(refusalOf(world.run(ana, remarks)).code).toBe('WORKFLOW_COMPLETED');
    expect(world.run(ana, record('inlet', { kind: 'reading', value: 5 }))).toEqual({
      kind: 'duplicate',
      seq: 4,
    });
  });

  it('is refused to anybody but the person it is assigned to', () => {
    finish();
    expect(refusalOf(world.decide(cara, complete()))).toMatchObject({ code: 'NOT_ASSIGNED' });
  });
});

describe('what was recorded last time', () => {
  const next = () => viewOf(world.state, parsedProcedure(valveCheck)).next;

  it('is told with the next step of the next workflow on the asset, and survives its start', () => {
    finish();
    world.nowMs += 60_000;
    world.run(ana, complete());
    world.nowMs += 60_000;
    world.run(ben, start);
    const at = '2026-01-02T03:05:05.678Z';
    expect(next()).toMatchObject({ step: 'isolated', last: { value: true, at } });
    expect(world.state.previous?.values).toEqual({
      isolated: true,
      inlet: 5,
      outlet: 3,
      leak: 'dry',
    });
    expect(world.lock).toMatchObject({ held: true, last: { at } });
    world.run(ben, record('leak', { kind: 'choice', option: 'dry' }));
    world.run(ben, { ...abandon(1), workflow: id() });
    expect(world.lock?.last?.values).toEqual({ leak: 'dry' });
  });

  it('by an earlier version is told where the step still measures the same', () => {
    finish();
    world.run(ana, complete());
    const newer = new PureWorld({ domain: 'more', procedures: [{ ...valveCheck, version: 4 }] });
    newer.lock = world.lock;
    newer.run(ben, start);
    expect(newer.state).toMatchObject({
      procedure_version: 4,
      previous: { values: { isolated: true, inlet: 5, outlet: 3, leak: 'dry' } },
    });
  });

  it('stays on the lock when a workflow ends without a value', () => {
    finish();
    world.run(ana, complete());
    world.run(ben, start);
    world.run(ben, abandon(1));
    expect(world.lock).toMatchObject({ held: false, last: { values: { outlet: 3 } } });
  });

  it('is not told of a step that waits for its second person', () => {
    finish();
    world.run(ana, complete());
    world.run(ben, start);
    world.run(ben, record('isolated', yes));
    world.run(ben, record('leak', { kind: 'choice', option: 'dry' }));
    world.run(ben, record('remarks', { kind: 'skip', reason: 'none' }));
    expect(next()).toMatchObject({ step: 'isolated', awaiting_second: true });
    expect(next()).not.toHaveProperty('last');
  });

  it('gives way where the state has no room for a record', () => {
    finish();
    world.run(ana, complete());
    world.run(ben, start);
    const bytes = itemBytes(world.state);
    const dry = record('leak', { kind: 'choice', option: 'dry' });
    const filled = (size: number): void => {
      world.workflow = { ...world.state, filler: 'x'.repeat(size - bytes - 10) } as Workflow;
    };
    const before = world.state;
    filled(32_000);
    world.run(ben, dry);
    const room = 32_768 - itemBytes(world.state);
    world.workflow = before;
    filled(32_000 + room);
    world.run(ben, dry);
    expect(world.state).toHaveProperty('previous');
    expect(itemBytes(world.state)).toBe(32_768);
    world.workflow = before;
    filled(32_001 + room);
    world.run(ben, dry);
    expect(world.state).not.toHaveProperty('previous');
    expect(world.state.steps['leak']).toMatchObject({ value: 'dry' });
  });
});

describe('a workflow at its event limit', () => {
  it('takes no more steps but can still be ended', () => {
    isolate();
    world.workflow = { ...world.state, head_seq: 10_000 };
    const leak = record('leak', { kind: 'choice', option: 'dry' });
    expect(refusalOf(world.decide(ana, leak))).toEqual({
      code: 'LIMIT_REACHED',
      limit: 'eventsPerWorkflow',
      max: 10_000,
    });
    expect(world.decide(ana, abandon(1)).kind).toBe('commit');
    world.workflow = { ...world.state, head_seq: 9_999 };
    expect(world.decide(ana, leak).kind).toBe('commit');
  });
});
