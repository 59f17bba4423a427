// What a refusal tells a caller, member by member: an assistant acts on nothing else.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Decision } from '../../../lib/core/decide/decision.ts';
import type { Command, RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import type { Lock, Workflow } from '../../../lib/core/model/workflow.ts';
import type { DomainPolicy } from '../../../lib/core/ports/policy.ts';
import { viewOf } from '../../../lib/core/view.ts';
import { parsedProcedure } from '../../support/parsed-procedure.ts';
import { person, PureWorld, refusalOf, valveCheck } from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
const cara = person('Cara', ['procedures:supervise']);
const profile = { tenant: 'acme', subject: 'dev:ben', name: 'Ben' };
const start = { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' } as const;
const yes: StepInput = { kind: 'confirm', confirmed: true };
const no: StepInput = { kind: 'confirm', confirmed: false };
const reading = (value: number, unit?: string): StepInput => ({
  kind: 'reading',
  value,
  ...(unit !== undefined && { unit }),
});
const text = (said: string): StepInput => ({ kind: 'text', text: said });
const choice = (option: string): StepInput => ({ kind: 'choice', option });
const signed: unknown = expect.stringMatching(/^c2\.[\w-]+\.[\w-]{22}$/);

let world: PureWorld;
const record = (step: string, input: StepInput, more: Partial<RecordStep> = {}): RecordStep => ({
  type: 'record_step',
  workflow: world.state.id,
  step,
  input,
  ...more,
});
const correct = (step: string, input: StepInput, replaces: number) =>
  ({ ...record(step, input), type: 'correct_step', replaces }) as const;
const resolve = (block: number, decision: 'continue' | 'retake' | 'abandon' = 'continue') =>
  ({ type: 'resolve_block', workflow: world.state.id, block, decision, reason: 'r' }) as const;
const handOver = (tenure?: number) => ({
  type: 'hand_over' as const,
  workflow: world.state.id,
  to: 'dev:ben',
  ...(tenure !== undefined && { tenure }),
});
const abandon = (tenure?: number) => ({
  type: 'abandon_workflow' as const,
  workflow: world.state.id,
  reason: 'r',
  ...(tenure !== undefined && { tenure }),
});
const complete = () => ({ type: 'complete_workflow', workflow: world.state.id }) as const;

/** A refusal without its view of the workflow, which is the one of now. */
const told = (decision: Decision): unknown => {
  const outcome = refusalOf(decision);
  if (!('workflow' in outcome)) return outcome;
  const { workflow, ...rest } = outcome;
  expect(workflow).toStrictEqual(viewOf(world.state, parsedProcedure(valveCheck)));
  return { ...rest, workflow: 'as it is' };
};
const isolate = (): void => {
  world.run(ana, record('isolated', yes));
  world.run(ben, record('isolated', yes, { confirms: 2 }));
};
/** Records a value that has to be confirmed. */
const insist = (step: string, input: StepInput): void => {
  const asked = refusalOf(world.decide(ana, record(step, input)));
  const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
  if (confirmation === undefined) throw new Error('expected a read-back');
  world.run(ana, record(step, input, { confirmation }));
};

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, start);
});

describe('a start', () => {
  const anywhere = {
    ...valveCheck,
    id: 'anywhere',
    title: 'Round',
    asset: { type: 'valve', pattern: '[^]*', example: 'V-101' },
  };
  const fresh = (): PureWorld => new PureWorld({ domain: 'more', procedures: [anywhere] });
  const faults = [{ path: '/asset', message: 'expected the name of a valve such as V-101' }];

  it('of an unknown procedure is told the known ones', () => {
    expect(told(fresh().decide(ana, { ...start, procedure: 'nope' }))).toStrictEqual({
      code: 'NOT_FOUND',
      what: 'procedure',
      name: 'nope',
      known: ['anywhere', 'valve-check'],
    });
  });

  it.each([
    ['V-1', 'valve-check'],
    [' ', 'anywhere'],
    ['x'.repeat(65), 'anywhere'],
  ])('on %j under the procedure %s is told what a name is', (asset, procedure) => {
    expect(told(fresh().decide(ana, { ...start, asset, procedure }))).toStrictEqual({
      code: 'INVALID_ARGUMENT',
      faults,
    });
  });

  it('takes a name of 64 characters', () => {
    const asset = 'x'.repeat(64);
    expect(fresh().decide(ana, { ...start, asset, procedure: 'anywhere' }).kind).toBe('commit');
  });

  it('with another procedure on an asset that one holds oneself says whose it is', () => {
    world = fresh();
    world.run(ana, start);
    const expected = {
      code: 'ASSET_BUSY',
      asset: 'V-101',
      holder: 'Ana',
      mine: true,
      procedure: 'Valve check',
      since: '2026-01-02T03:04:05.678Z',
    };
    expect(told(world.decide(ana, { ...start, procedure: 'anywhere' }))).toStrictEqual(expected);
  });

  it.each([
    ['that is unknown', undefined, { absent: true }],
    ['that has ended', { state: 'COMPLETED' } as const, { expect: { version: 1 } }],
  ])('takes over a lock that names a workflow %s, if that is still so', (_what, change, guard) => {
    const { lock, state } = world;
    const { id } = state;
    const holding = change === undefined ? undefined : { ...state, ...change };
    Object.assign(world, { lock, workflow: holding });
    const decision = world.decide(ana, start);
    if (decision.kind !== 'commit') throw new Error(`expected an effect, not ${decision.kind}`);
    const key = { kind: 'workflow', tenant: 'acme', id };
    expect(decision.plan.guards).toEqual([{ key, ...guard }]);
    expect(decision.plan.locks).toMatchObject([{ op: 'take', freeAt: 1, orphanOf: id }]);
    const [event] = decision.plan.events;
    expect(event && eventBody(event).data).toMatchObject({ rule: 'R4', taken_over_from: id });
  });

  it('takes over nothing where the asset is free, and says nothing of it', () => {
    Object.assign(world, { lock: undefined, workflow: undefined });
    const decision = world.decide(ana, start);
    if (decision.kind !== 'commit') throw new Error(`expected an effect, not ${decision.kind}`);
    expect(decision.plan.guards).toEqual([]);
    const [event] = decision.plan.events;
    const data = event && eventBody(event).data;
    expect(Object.keys(data ?? {}).toSorted()).toEqual([
      'asset',
      'command',
      'procedure',
      'procedure_version',
      'result',
    ]);
  });

  it('on an asset whose lock says nothing of its holder is refused all the same', () => {
    const { format, tenant, asset, fence } = world.lock as Lock;
    world.lock = { format, tenant, asset, fence, held: true };
    world.workflow = undefined;
    world.nowMs += 1_000;
    expect(told(world.decide(ana, start))).toStrictEqual({
      code: 'ASSET_BUSY',
      asset: 'V-101',
      holder: 'someone',
      mine: false,
      procedure: 'another procedure',
      since: '2026-01-02T03:04:06.678Z',
    });
  });
});

describe('a record', () => {
  const workflow = 'as it is';
  const unasked = {
    code: 'INVALID_ARGUMENT',
    faults: [{ path: '/state', message: 'expected the state of an open question' }],
  };

  it('of an unknown step is told the known ones in order', () => {
    expect(told(world.decide(ana, record('nope', yes)))).toStrictEqual({
      code: 'INVALID_ARGUMENT',
      faults: [
        { path: '/step', message: 'expected one of: isolated, inlet, outlet, leak, remarks' },
      ],
    });
  });

  it('by somebody else is told the holder', () => {
    expect(told(world.decide(ben, record('leak', choice('dry'))))).toStrictEqual({
      code: 'NOT_ASSIGNED',
      holder: 'Ana',
      workflow,
    });
  });

  it('before what it requires is told what that is', () => {
    expect(told(world.decide(ana, record('inlet', reading(4))))).toStrictEqual({
      code: 'STEP_NOT_READY',
      step: 'inlet',
      requires: ['isolated'],
      workflow,
    });
  });

  it('with a signed answer to nothing is told so, a skip as well', () => {
    const answer = { state: 'c2.x.y' };
    expect(told(world.decide(ana, record('leak', choice('dry'), { answer })))).toStrictEqual(
      unasked,
    );
    const skip = record('remarks', { kind: 'skip', reason: 'none' }, { answer });
    expect(told(world.decide(ana, skip))).toStrictEqual(unasked);
  });

  it.each([
    [
      'a reading',
      'inlet',
      reading(4),
      reading(5),
      { heard: 5, recorded: 4, unit: 'bar', replaces: 4 },
    ],
    [
      'a converted reading',
      'outlet',
      reading(4),
      reading(40, 'psi'),
      {
        heard: 2.8,
        original: { value: 40, unit: 'psi' },
        recorded: 4,
        unit: 'bar',
        replaces: 4,
      },
    ],
    [
      'a choice',
      'leak',
      choice('dry'),
      choice('wet'),
      { heard: 'wet', recorded: 'dry', replaces: 4 },
    ],
    ['a sensitive text', 'remarks', text('one'), text('two'), { replaces: 4 }],
  ] as [string, string, StepInput, StepInput, object][])(
    'that differs from %s on record is told both',
    (_what, step, first, second, members) => {
      isolate();
      world.run(ana, record(step, first));
      expect(told(world.decide(ana, record(step, second)))).toStrictEqual({
        code: 'NEEDS_CONFIRMATION',
        reason: 'already_recorded',
        step,
        state: signed,
        workflow,
        ...members,
      });
    },
  );

  it('of a skipped step is told that it was skipped', () => {
    world.run(ana, record('remarks', { kind: 'skip', reason: 'none' }));
    expect(told(world.decide(ana, record('remarks', text('fine'))))).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      reason: 'was_skipped',
      step: 'remarks',
      state: signed,
      replaces: 2,
      workflow,
    });
  });

  it.each([
    [
      'a reading below its bounds',
      'inlet',
      reading(-1),
      {
        reason: 'out_of_bounds',
        heard: -1,
        unit: 'bar',
        limit: 0,
        message: 'inlet pressure is beyond the lower limit',
        follows: 'retake',
      },
    ],
    [
      'a converted reading above its bounds',
      'outlet',
      reading(200, 'psi'),
      {
        reason: 'out_of_bounds',
        heard: 13.8,
        original: { value: 200, unit: 'psi' },
        unit: 'bar',
        limit: 12,
        message: 'outlet pressure is beyond the upper limit',
        follows: 'block',
      },
    ],
    [
      'a deviating choice',
      'leak',
      choice('wet'),
      {
        reason: 'deviating_choice',
        heard: 'wet',
        message: 'leak is dripping',
        follows: 'record_and_notify',
      },
    ],
  ] as [string, string, StepInput, object][])('of %s is read back', (_what, step, input, said) => {
    isolate();
    expect(told(world.decide(ana, record(step, input)))).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      step,
      state: signed,
      confirmation: signed,
      workflow,
      ...said,
    });
  });

  it('that denies a confirmation is read back', () => {
    expect(told(world.decide(ana, record('isolated', no)))).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      reason: 'not_confirmed',
      step: 'isolated',
      heard: false,
      message: 'isolation is not confirmed',
      follows: 'block',
      state: signed,
      confirmation: signed,
      workflow,
    });
  });

  it('that corrects is read back with what it replaces', () => {
    isolate();
    world.run(ana, record('inlet', reading(4)));
    expect(told(world.decide(ana, correct('inlet', reading(42), 4)))).toMatchObject({
      reason: 'out_of_bounds',
      heard: 42,
      replaces: 4,
    });
  });

  it('of a sensitive text that its domain objects to is read back without the words', () => {
    const finding = { rule: 'names', message: 'no names please', follows: 'retake' } as const;
    const strict: DomainPolicy = {
      domain: 'strict',
      procedures: [{ ...valveCheck, id: 'strict' }],
      check: ({ step }) => (step === 'remarks' ? [finding] : []),
    };
    world = new PureWorld(strict);
    world.run(ana, { ...start, procedure: 'strict' });
    const { workflow: _view, ...rest } = refusalOf(
      world.decide(ana, record('remarks', text('Köhler'))),
    ) as unknown as Record<string, unknown>;
    expect(rest).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      reason: 'rule_broken',
      step: 'remarks',
      message: 'no names please',
      follows: 'retake',
      state: signed,
      confirmation: signed,
    });
  });

  it('on a workflow that is blocked or over is told so', () => {
    isolate();
    insist('outlet', reading(42));
    const leak = record('leak', choice('dry'));
    expect(told(world.decide(ana, leak))).toStrictEqual({ code: 'WORKFLOW_BLOCKED', workflow });
    world.run(cara, resolve(4, 'abandon'));
    expect(told(world.decide(ana, leak))).toStrictEqual({ code: 'WORKFLOW_COMPLETED', workflow });
  });

  it('that corrects what was corrected since is told the present record', () => {
    isolate();
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, correct('inlet', reading(5), 4));
    const late = correct('inlet', reading(6), 4);
    expect(told(world.decide(ana, late))).toStrictEqual({
      code: 'STALE_REFERENCE',
      names: 'reading',
      given: 4,
      current: 5,
      workflow,
    });
    expect(told(world.decide(ben, late))).toStrictEqual({
      code: 'NOT_ASSIGNED',
      holder: 'Ana',
      workflow,
    });
  });

  it('that corrects a step without a record is told there is none', () => {
    isolate();
    expect(told(world.decide(ana, correct('inlet', reading(6), 2)))).toStrictEqual({
      code: 'STALE_REFERENCE',
      names: 'reading',
      given: 2,
      workflow,
    });
  });
});

describe('a second person', () => {
  const workflow = 'as it is';
  /** Ana's outlet reading in the given unit, which waits for a second person. */
  const waiting = (input: StepInput): void => {
    isolate();
    world.run(ana, record('outlet', input));
    const { steps } = world.state;
    const outlet = { ...steps['outlet'], status: 'awaiting_second' } as never;
    world.workflow = { ...world.state, steps: { ...steps, outlet } };
  };

  it.each([
    [reading(4), { heard: 4 }],
    [reading(40, 'psi'), { heard: 2.8, original: { value: 40, unit: 'psi' } }],
  ] as [StepInput, object][])('is asked about %j before anything is written', (input, said) => {
    waiting(input);
    expect(told(world.decide(ben, record('outlet', input)))).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      reason: 'second_person',
      step: 'outlet',
      unit: 'bar',
      state: signed,
      by: 'Ana',
      confirms: 4,
      workflow,
      ...said,
    });
  });

  it('is not told a name where the record is by somebody who handed over since', () => {
    waiting(reading(4));
    world.run(ana, handOver(1), profile);
    const dan = person('Dan');
    expect(told(world.decide(dan, record('outlet', reading(4))))).not.toHaveProperty('by');
  });

  it('is refused as the first person, with another answer, as an agent, and where none is due', () => {
    world.run(ana, record('isolated', yes));
    const confirm = (input: StepInput, confirms = 2) => record('isolated', input, { confirms });
    expect(told(world.decide(ana, confirm(yes)))).toStrictEqual({
      code: 'SECOND_PERSON_REQUIRED',
      step: 'isolated',
      workflow,
    });
    expect(told(world.decide(ben, confirm(no)))).toStrictEqual({
      code: 'SECOND_PERSON_REQUIRED',
      step: 'isolated',
      differs: true,
      workflow,
    });
    expect(
      told(world.decide(person('R', ['procedures:run'], 'agent'), confirm(yes))),
    ).toStrictEqual({
      code: 'FORBIDDEN',
      why: 'person',
      need: 'a person',
    });
    const stale = { code: 'STALE_REFERENCE', names: 'reading', workflow };
    expect(told(world.decide(ben, confirm(yes, 7)))).toStrictEqual({
      ...stale,
      given: 7,
      current: 2,
    });
    const leak = record('leak', choice('dry'), { confirms: 2 });
    expect(told(world.decide(ben, leak))).toStrictEqual({ ...stale, given: 2 });
  });

  it('is refused for a record that waits for nobody', () => {
    world.run(ana, record('leak', choice('dry')));
    const command = record('leak', choice('dry'), { confirms: 2 });
    expect(told(world.decide(ben, command))).toStrictEqual({
      code: 'STALE_REFERENCE',
      names: 'reading',
      given: 2,
      current: 2,
      workflow,
    });
  });

  it('is refused on a workflow that is over', () => {
    world.run(ana, record('isolated', yes));
    world.run(ana, abandon(1));
    expect(told(world.decide(ben, record('isolated', yes, { confirms: 2 })))).toStrictEqual({
      code: 'WORKFLOW_COMPLETED',
      workflow,
    });
  });
});

describe('a skip', () => {
  const workflow = 'as it is';
  const skip = (step: string, reason: string, more: Partial<RecordStep> = {}) =>
    record(step, { kind: 'skip', reason }, more);

  it('is told why it cannot be', () => {
    const refused = { code: 'NOT_SKIPPABLE', workflow };
    expect(told(world.decide(ana, skip('leak', 'r')))).toStrictEqual({
      ...refused,
      step: 'leak',
      why: 'required',
    });
    world.run(ana, record('remarks', text('fine')));
    expect(told(world.decide(ana, skip('remarks', 'r')))).toStrictEqual({
      ...refused,
      step: 'remarks',
      why: 'recorded',
    });
  });

  it('is told what it would replace', () => {
    world.run(ana, skip('remarks', 'none'));
    expect(told(world.decide(ana, skip('remarks', 'other')))).toStrictEqual({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_skipped',
      step: 'remarks',
      replaces: 2,
      workflow,
    });
  });

  it.each([
    [' \u200b ', {}, '/skip_reason', 'expected a reason that is not empty'],
    ['r', { confirms: 2 }, '/confirms', 'expected no skip_reason with it'],
  ])('for the reason %j with %j is told the argument', (reason, more, path, message) => {
    expect(told(world.decide(ana, skip('remarks', reason, more)))).toStrictEqual({
      code: 'INVALID_ARGUMENT',
      faults: [{ path, message }],
    });
  });
});

describe('the resolution of a block', () => {
  const workflow = 'as it is';

  it('that is not there is told so', () => {
    expect(told(world.decide(cara, resolve(4)))).toStrictEqual({
      code: 'STALE_REFERENCE',
      names: 'block',
      given: 4,
      workflow,
    });
  });

  it('that is another one is told which', () => {
    isolate();
    insist('outlet', reading(42));
    expect(told(world.decide(cara, resolve(3)))).toStrictEqual({
      code: 'STALE_REFERENCE',
      names: 'block',
      given: 3,
      current: 4,
      workflow,
    });
  });

  it('by somebody who took part is told to leave it to another', () => {
    isolate();
    insist('outlet', reading(42));
    expect(told(world.decide(ana, resolve(4)))).toStrictEqual({
      code: 'SECOND_PERSON_REQUIRED',
      workflow,
    });
  });

  it('of a step that is not on record is refused', () => {
    isolate();
    insist('outlet', reading(42));
    const block = { ...world.state.block, step: 'gone' } as NonNullable<Workflow['block']>;
    world.workflow = { ...world.state, block };
    expect(refusalOf(world.decide(cara, resolve(4)))).toStrictEqual({
      code: 'INVALID_ARGUMENT',
      faults: [{ path: '/block', message: 'expected a block of a recorded step' }],
    });
  });
});

describe('the end of an assignment', () => {
  const workflow = 'as it is';
  const ends = { code: 'NEEDS_CONFIRMATION', reason: 'ends_assignment', tenure: 1, workflow };

  it('that names none is told which it would be, and to whom', () => {
    expect(told(world.decide(ana, abandon()))).toStrictEqual({ ...ends, state: signed });
    expect(told(world.decide(ana, handOver(), profile))).toStrictEqual({
      ...ends,
      to: 'Ben',
      to_subject: 'dev:ben',
      state: signed,
    });
  });

  it('by a stranger is told the holder, whatever tenure it names', () => {
    for (const command of [abandon(1), abandon(7), handOver(1), complete()]) {
      expect(told(world.decide(ben, command, profile))).toStrictEqual({
        code: 'NOT_ASSIGNED',
        holder: 'Ana',
        workflow,
      });
    }
  });

  it('that is another one is told which is now', () => {
    for (const command of [abandon(7), handOver(7)]) {
      expect(told(world.decide(ana, command, profile))).toStrictEqual({
        code: 'STALE_REFERENCE',
        names: 'assignment',
        given: 7,
        current: 1,
        workflow,
      });
    }
  });

  it('of a workflow that is over is told so', () => {
    world.run(ana, abandon(1));
    const commands: Command[] = [abandon(), abandon(1), handOver(), handOver(1), complete()];
    for (const command of commands) {
      const other = command.type === 'abandon_workflow' ? { ...command, reason: 'x' } : command;
      expect(told(world.decide(ana, other, profile))).toStrictEqual({
        code: 'WORKFLOW_COMPLETED',
        workflow,
      });
    }
  });

  it('of unfinished work is told what is missing', () => {
    expect(told(world.decide(ana, complete()))).toStrictEqual({
      code: 'STEPS_MISSING',
      missing: ['isolated', 'inlet', 'outlet', 'leak'],
      workflow,
    });
  });
});
