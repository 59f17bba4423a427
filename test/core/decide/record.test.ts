import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import type { RuleInput } from '../../../lib/core/ports/policy.ts';
import {
  eventsFound,
  person,
  PureWorld,
  refusalOf,
  START_MS,
  valveCheck,
} from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
const robot = person('Robot', ['procedures:run'], 'agent');

let world: PureWorld;

const reading = (value: number, unit?: string): StepInput => ({
  kind: 'reading',
  value,
  ...(unit !== undefined && { unit }),
});
const spoken = (text: string, unit?: string): StepInput => ({
  kind: 'spoken_reading',
  text,
  ...(unit !== undefined && { unit }),
});
const record = (step: string, input: StepInput, more: Partial<RecordStep> = {}): RecordStep => ({
  type: 'record_step',
  workflow: world.state.id,
  step,
  input,
  ...more,
});
const correct = (step: string, input: StepInput, replaces: number, confirmation?: string) => ({
  ...record(step, input),
  type: 'correct_step' as const,
  replaces,
  ...(confirmation !== undefined && { confirmation }),
});
const yes: StepInput = { kind: 'confirm', confirmed: true };

/** Isolation recorded by Ana (2) and confirmed by Ben (3). */
const isolate = (): void => {
  world.run(ana, record('isolated', yes));
  world.run(ben, record('isolated', yes, { confirms: 2 }));
};

const handOverToBen = (): void => {
  const { id: workflow } = world.state;
  const to = { tenant: 'acme', subject: ben.subject, name: 'Ben' };
  world.run(ana, { type: 'hand_over', workflow, to: ben.subject, tenure: 1 }, to);
};

const confirmationFor = (step: string, input: StepInput, replaces?: number): string => {
  const command = replaces === undefined ? record(step, input) : correct(step, input, replaces);
  const outcome = refusalOf(world.decide(ana, command));
  if (outcome.code !== 'NEEDS_CONFIRMATION' || outcome.confirmation === undefined) {
    throw new Error(`expected a read-back, not ${outcome.code}`);
  }
  return outcome.confirmation;
};

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'v-101' });
});

describe('a plain reading', () => {
  it('is recorded with its value, moves CREATED to RUNNING and writes four items at most', () => {
    isolate();
    const decision = world.run(ana, record('inlet', reading(4.2)));
    expect(decision).toMatchObject({
      kind: 'commit',
      receipt: { command: 'record_step', seq: 4, result: 'recorded', step: 'inlet', value: 4.2 },
    });
    expect(world.state).toMatchObject({ state: 'RUNNING', version: 4, head_seq: 4 });
    expect(world.state.steps['inlet']).toEqual({
      seq: 4,
      basis: 0,
      status: 'done',
      by: 'dev:ana',
      at: '2026-01-02T03:04:05.678Z',
      value: 4.2,
    });
    expect(world.events.at(-1)?.data).toEqual({
      command: 'record_step',
      result: 'recorded',
      step: 'inlet',
      value: 4.2,
      unit: 'bar',
    });
    expect(world.outbox).toEqual([]);
  });

  it.each([
    ['at the lower bound of the warning band', 1, 'recorded'],
    ['at the upper bound of the warning band', 10, 'recorded'],
    ['below the warning band', 0.9, 'recorded_with_warning'],
    ['above the warning band', 10.1, 'recorded_with_warning'],
    ['at the lower hard bound', 0, 'recorded_with_warning'],
    ['at the upper hard bound', 12, 'recorded_with_warning'],
  ])('%s is %s bar and %s', (_where, value, result) => {
    isolate();
    expect(world.run(ana, record('inlet', reading(value)))).toMatchObject({ receipt: { result } });
    expect(world.outbox.map(({ payload }) => payload['kind'])).toEqual(
      result === 'recorded' ? [] : ['warning'],
    );
  });

  it('stores -0 as 0', () => {
    isolate();
    world.run(ana, record('inlet', reading(-0)));
    expect(Object.is(world.state.steps['inlet']?.value, 0)).toBe(true);
  });

  it.each([
    ['an alias', 'Bars'],
    ['the symbol', 'bar'],
    ['no unit', undefined],
  ])('takes %s for its unit', (_name, unit) => {
    isolate();
    expect(world.decide(ana, record('inlet', reading(4, unit))).kind).toBe('commit');
  });

  it.each([
    ['a wrong unit', 'inlet', reading(4, 'psi'), '/unit', 'expected bar (bar)'],
    ['too many decimals', 'inlet', reading(4.25), '/reading', 'expected at most 1 decimal place'],
    ['an unknown step', 'nope', reading(1), '/step', 'expected one of: isolated, inlet'],
    [
      'an unknown option',
      'leak',
      { kind: 'choice', option: 'x' },
      '/choice',
      'expected one of: dry',
    ],
    ['an empty text', 'remarks', { kind: 'text', text: '  ' }, '/text', 'not empty'],
    ['a long text', 'remarks', { kind: 'text', text: 'x'.repeat(21) }, '/text', 'at most 20'],
    ['another kind of answer', 'inlet', yes, '/confirmed', 'expected the argument reading'],
  ] as const)('refuses %s and names the argument', (_name, step, input, path, message) => {
    const outcome = refusalOf(world.decide(ana, record(step, input)));
    expect(outcome).toMatchObject({ code: 'INVALID_ARGUMENT', faults: [{ path }] });
    expect(JSON.stringify(outcome)).toContain(message);
  });

  it('counts characters, not code units, in a text', () => {
    expect(world.decide(ana, record('remarks', { kind: 'text', text: '😀'.repeat(20) })).kind).toBe(
      'commit',
    );
  });

  it('reports every fault of one reading together', () => {
    const outcome = refusalOf(world.decide(ana, record('inlet', reading(4.25, 'psi'))));
    expect(outcome).toMatchObject({ faults: [{ path: '/unit' }, { path: '/reading' }] });
  });

  it('waits for the steps it requires', () => {
    expect(refusalOf(world.decide(ana, record('inlet', reading(4))))).toMatchObject({
      code: 'STEP_NOT_READY',
      requires: ['isolated'],
    });
  });

  it('is refused to anybody but the person the workflow is assigned to', () => {
    expect(
      refusalOf(world.decide(ben, record('leak', { kind: 'choice', option: 'dry' }))),
    ).toMatchObject({ code: 'NOT_ASSIGNED', holder: 'Ana' });
  });
});

describe('a reading in words', () => {
  beforeEach(isolate);

  it.each([
    ['four point two', undefined],
    ['four point two bars', undefined],
    ['4.2 bar', 'bar'],
    ['four point two', 'Bars'],
  ])('%j with the unit %j is recorded as the number it says', (text, unit) => {
    expect(world.run(ana, record('inlet', spoken(text, unit)))).toMatchObject({
      receipt: { result: 'recorded', value: 4.2 },
    });
    expect(world.state.steps['inlet']).toMatchObject({ value: 4.2 });
  });

  it('is the same content as the number, said either way', () => {
    world.run(ana, record('inlet', spoken('four point two')));
    expect(world.run(ana, record('inlet', reading(4.2)))).toEqual({ kind: 'duplicate', seq: 4 });
    expect(world.run(ana, record('inlet', spoken('4.2 bar')))).toEqual({
      kind: 'duplicate',
      seq: 4,
    });
  });

  it('out of bounds is confirmed by the number that was read back', () => {
    const confirmation = confirmationFor('inlet', spoken('forty-two'));
    expect(world.run(ana, record('inlet', reading(42), { confirmation })).kind).toBe('commit');
  });

  it.each([
    ['is not one number', spoken('three or four'), '/spoken_reading'],
    ['has another unit', spoken('four psi'), '/spoken_reading'],
    ['has too many decimals', spoken('four point two five'), '/spoken_reading'],
    ['comes with another unit', spoken('four', 'psi'), '/unit'],
  ])('that %s writes nothing', (_what, input, path) => {
    const before = world.state;
    expect(refusalOf(world.run(ana, record('inlet', input)))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: [{ path }],
    });
    expect(world.state).toBe(before);
  });

  it('is refused for a step that takes no reading', () => {
    expect(refusalOf(world.decide(ana, record('leak', spoken('four'))))).toMatchObject({
      faults: [
        { path: '/spoken_reading', message: 'leak is a choice step: expected the argument choice' },
      ],
    });
  });
});

describe('a reading in a unit that the step converts', () => {
  beforeEach(isolate);
  const original = { value: 40, unit: 'psi' };

  it.each([
    ['as a number with its unit', reading(40, 'PSI')],
    ['by an alias', reading(40, 'pounds')],
    ['in words', spoken('forty psi')],
    ['in words, with the unit beside them', spoken('forty', 'psi')],
    ['in words, with the unit twice', spoken('forty pounds', 'psi')],
  ])('is recorded converted, with what was said beside it, %s', (_how, input) => {
    expect(world.run(ana, record('outlet', input))).toMatchObject({
      receipt: { result: 'recorded', value: 2.8, original },
    });
    expect(world.state.steps['outlet']).toMatchObject({ value: 2.8, original });
    expect(world.events.at(-1)?.data).toMatchObject({ value: 2.8, unit: 'bar', original });
  });

  it('is the same content only with the same original', () => {
    world.run(ana, record('outlet', reading(40, 'psi')));
    expect(world.run(ana, record('outlet', spoken('forty pounds')))).toEqual({
      kind: 'duplicate',
      seq: 4,
    });
    expect(refusalOf(world.run(ana, record('outlet', reading(2.8))))).toMatchObject({
      reason: 'already_recorded',
      heard: 2.8,
      recorded: 2.8,
    });
    expect(refusalOf(world.run(ana, record('outlet', reading(40.1, 'psi'))))).toMatchObject({
      reason: 'already_recorded',
      heard: 2.8,
      original: { value: 40.1, unit: 'psi' },
    });
  });

  it('of a late repeated correction is found by its original', () => {
    world.run(ana, record('outlet', reading(3)));
    world.run(ana, correct('outlet', reading(40, 'psi'), 4));
    const found = (input: StepInput): readonly number[] => {
      const late = world.run(ana, correct('outlet', input, 4));
      if (late.kind !== 'search') throw new Error('expected a search');
      return eventsFound(world, late).map(({ seq }) => seq);
    };
    expect(found(reading(40, 'psi'))).toEqual([5]);
    expect(found(reading(2.8))).toEqual([]);
  });

  it('out of bounds is read back with both values, and confirmed for both only', () => {
    const outcome = refusalOf(world.decide(ana, record('outlet', reading(200, 'psi'))));
    expect(outcome).toMatchObject({
      reason: 'out_of_bounds',
      heard: 13.8,
      unit: 'bar',
      original: { value: 200, unit: 'psi' },
    });
    const confirmation = confirmationFor('outlet', reading(200, 'psi'));
    const bare = record('outlet', reading(13.8), { confirmation });
    expect(refusalOf(world.decide(ana, bare))).toMatchObject({ reason: 'out_of_bounds' });
    const other = record('outlet', reading(210, 'psi'), { confirmation });
    expect(refusalOf(world.decide(ana, other))).toMatchObject({ reason: 'out_of_bounds' });
    const same = record('outlet', reading(200, 'psi'), { confirmation });
    expect(world.run(ana, same)).toMatchObject({ receipt: { result: 'blocked' } });
  });

  it('that no number can keep is refused', () => {
    const outcome = refusalOf(world.decide(ana, record('outlet', reading(1e300, 'psi'))));
    expect(outcome).toMatchObject({ faults: [{ path: '/reading' }] });
  });

  it('is refused with two units that differ', () => {
    expect(refusalOf(world.decide(ana, record('outlet', spoken('4 psi', 'bar'))))).toMatchObject({
      faults: [{ path: '/unit' }],
    });
  });
});

describe('a value out of bounds', () => {
  beforeEach(isolate);

  it('is read back with its limit, and nothing is written', () => {
    const before = world.state;
    expect(refusalOf(world.run(ana, record('inlet', reading(12.1))))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'out_of_bounds',
      heard: 12.1,
      unit: 'bar',
      limit: 12,
      follows: 'retake',
    });
    expect(world.state).toBe(before);
  });

  it('once confirmed is on record and has to be taken again', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    expect(world.run(ana, record('inlet', reading(42), { confirmation }))).toMatchObject({
      receipt: { result: 'retake_required', value: 42, rule: 'retake' },
    });
    expect(world.state.steps['inlet']).toMatchObject({ status: 'retake', seq: 4, basis: 0 });
    expect(world.outbox.map(({ payload }) => payload['audiences'])).toEqual([['shift']]);
    expect(world.outbox[0]?.payload).toMatchObject({
      head_seq: 4,
      head_hash: world.state.head_hash,
    });
  });

  it.each([
    ['another value', 43, 'inlet', ana, 0],
    ['another step', 42, 'outlet', ana, 0],
    ['another person', 42, 'inlet', ben, 0],
    ['the moment it expires', 42, 'inlet', ana, 600_000],
  ])('is not confirmed by a confirmation for %s', (_name, value, step, who, laterMs) => {
    const confirmation = confirmationFor('inlet', reading(42));
    world.run(
      ana,
      { type: 'hand_over', workflow: world.state.id, to: who.subject, tenure: 1 },
      {
        tenant: 'acme',
        subject: who.subject,
        name: who.name,
      },
    );
    world.nowMs = START_MS + laterMs;
    const decision = world.decide(who, record(step, reading(value), { confirmation }));
    expect(refusalOf(decision)).toMatchObject({ code: 'NEEDS_CONFIRMATION' });
  });

  it('is confirmed until one millisecond before the confirmation expires', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    world.nowMs = START_MS + 599_999;
    expect(world.decide(ana, record('inlet', reading(42), { confirmation })).kind).toBe('commit');
  });

  it('confirmed twice takes effect once', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    const command = record('inlet', reading(42), { confirmation });
    world.run(ana, command);
    expect(world.run(ana, command)).toEqual({ kind: 'duplicate', seq: 4 });
  });

  it('confirmed is recognised when it is repeated after the confirmation has expired', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    const command = record('inlet', reading(42), { confirmation });
    world.run(ana, command);
    world.nowMs = START_MS + 3_600_000;
    expect(world.run(ana, command)).toEqual({ kind: 'duplicate', seq: 4 });
  });

  it('with a confirmation that is used up asks again on the next occasion', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    world.run(ana, record('inlet', reading(42), { confirmation }));
    const again = correct('inlet', reading(42), 4, confirmation);
    expect(refusalOf(world.decide(ana, again))).toMatchObject({ reason: 'out_of_bounds' });
  });

  it('that blocks keeps the asset and tells the supervisor', () => {
    const confirmation = confirmationFor('outlet', reading(42));
    world.run(ana, record('outlet', reading(42), { confirmation }));
    expect(world.state).toMatchObject({
      state: 'BLOCKED',
      block: {
        seq: 4,
        step: 'outlet',
        by: 'dev:ana',
        message: 'outlet pressure is beyond the upper limit',
      },
    });
    expect(world.lock).toMatchObject({ held: true, workflow: world.state.id });
    expect(world.outbox[0]?.payload).toMatchObject({ kind: 'block', audiences: ['supervisor'] });
  });
});

describe('other deviations', () => {
  it('a denied confirmation is read back, then follows its rule', () => {
    const no: StepInput = { kind: 'confirm', confirmed: false };
    const confirmation = confirmationFor('isolated', no);
    world.run(ana, record('isolated', no, { confirmation }));
    expect(world.state.state).toBe('BLOCKED');
  });

  it('a deviating choice is found by its spoken title and reported', () => {
    const wet: StepInput = { kind: 'choice', option: 'Dripping' };
    const confirmation = confirmationFor('leak', wet);
    expect(world.run(ana, record('leak', wet, { confirmation }))).toMatchObject({
      receipt: { result: 'deviation_recorded', value: 'wet', rule: 'record_and_notify' },
    });
  });

  it.each([
    [4, 4, 'asks'],
    [4, 3.9, 'asks'],
    [4, 3.8, 'records'],
    [0.3, 0.1, 'records'],
  ])('a rule between steps with inlet %s and outlet %s %s', (inlet, outlet, what) => {
    isolate();
    world.run(ana, record('inlet', reading(inlet)));
    const decision = world.decide(ana, record('outlet', reading(outlet)));
    expect(decision.kind).toBe(what === 'asks' ? 'refuse' : 'commit');
    if (what === 'asks') {
      expect(refusalOf(decision)).toMatchObject({
        reason: 'rule_broken',
        message: 'the outlet must be below the inlet',
        follows: 'block',
      });
    }
  });

  it('a correction is held against the rules of the steps recorded after it', () => {
    isolate();
    world.run(ana, record('inlet', reading(6)));
    world.run(ana, record('outlet', reading(5)));
    expect(refusalOf(world.decide(ana, correct('inlet', reading(4), 4)))).toMatchObject({
      reason: 'rule_broken',
    });
  });

  it('the most severe of several deviations decides', () => {
    isolate();
    world.run(ana, record('outlet', reading(11)));
    expect(refusalOf(world.decide(ana, record('inlet', reading(-1))))).toMatchObject({
      reason: 'rule_broken',
      follows: 'block',
    });
  });
});

describe('what rules in code see', () => {
  const seen: unknown[] = [];
  const curious = {
    domain: 'curious',
    procedures: [
      {
        ...valveCheck,
        id: 'curious',
        steps: [
          ...valveCheck.steps,
          {
            id: 'open',
            title: 'open remark',
            instruction: 'Say it.',
            kind: 'text' as const,
            max_chars: 20,
          },
        ],
      },
    ],
    check: (input: RuleInput) => {
      seen.push(input);
      return [];
    },
  };
  const look = (step: string, input: StepInput): unknown => {
    seen.length = 0;
    world.decide(ana, record(step, input));
    return seen;
  };
  const about = (step: string, values: object) => [
    { procedure: 'curious', version: 3, step, values },
  ];

  beforeEach(() => {
    world = new PureWorld(curious);
    world.run(ana, { type: 'start_workflow', procedure: 'curious', asset: 'v-101' });
    isolate();
    world.run(ana, record('leak', { kind: 'choice', option: 'dry' }));
  });

  it('is the new value beside those on record, a text that is not sensitive included', () => {
    expect(look('inlet', reading(4))).toEqual(
      about('inlet', { isolated: true, leak: 'dry', inlet: 4 }),
    );
    expect(look('open', { kind: 'text', text: 'fine' })).toEqual(
      about('open', { isolated: true, leak: 'dry', open: 'fine' }),
    );
  });

  it('is no sensitive text, no text on record, and no value that has to be taken again', () => {
    world.run(ana, record('open', { kind: 'text', text: 'fine' }));
    const confirmation = confirmationFor('inlet', reading(42));
    world.run(ana, record('inlet', reading(42), { confirmation }));
    expect(look('remarks', { kind: 'text', text: 'Köhler' })).toEqual(
      about('remarks', { isolated: true, leak: 'dry' }),
    );
  });
});

describe('a correction', () => {
  it('of what is on record is possible whatever became of the steps before it', () => {
    isolate();
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, correct('isolated', yes, 2));
    const no: StepInput = { kind: 'confirm', confirmed: false };
    expect(world.state.steps['isolated']?.status).not.toBe('open');
    const confirmation = confirmationFor('isolated', no, 2);
    world.run(ana, correct('isolated', no, 2, confirmation));
    world.workflow = { ...world.state, state: 'RUNNING' };
    expect(world.decide(ana, correct('inlet', reading(5), 4)).kind).toBe('commit');
  });
});

describe('a repeat', () => {
  beforeEach(isolate);

  it('of a recorded value is a duplicate of that record, whatever happened since', () => {
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, record('leak', { kind: 'choice', option: 'dry' }));
    expect(world.run(ana, record('inlet', reading(4, 'bars')))).toEqual({
      kind: 'duplicate',
      seq: 4,
    });
    const confirmation = confirmationFor('outlet', reading(42));
    world.run(ana, record('outlet', reading(42), { confirmation }));
    expect(world.state.state).toBe('BLOCKED');
    expect(world.run(ana, record('inlet', reading(4)))).toEqual({ kind: 'duplicate', seq: 4 });
  });

  it('with another value asks, naming the record it would replace', () => {
    world.run(ana, record('inlet', reading(4)));
    expect(refusalOf(world.run(ana, record('inlet', reading(5))))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_recorded',
      heard: 5,
      recorded: 4,
      replaces: 4,
    });
  });

  it('of a correction is a duplicate; a later correction is never undone by it', () => {
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, correct('inlet', reading(5), 4));
    expect(world.run(ana, correct('inlet', reading(5), 4)).kind).toBe('search');
    world.run(ana, correct('inlet', reading(6), 5));
    const late = world.run(ana, correct('inlet', reading(5), 4));
    expect(late).toMatchObject({ kind: 'search', after: 4 });
    if (late.kind !== 'search') throw new Error('expected a search');
    expect(eventsFound(world, late).map(({ seq }) => seq)).toEqual([5]);
    expect(late.otherwise).toMatchObject({ code: 'STALE_REFERENCE', given: 4, current: 6 });
    expect(world.state.steps['inlet']).toMatchObject({ value: 6, basis: 5 });
  });

  it('of a correction with another value or by another person is not found', () => {
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, correct('inlet', reading(5), 4));
    for (const late of [
      world.run(ana, correct('inlet', reading(5.5), 4)),
      world.run(ben, correct('inlet', reading(5), 4)),
      world.run(ana, correct('outlet', reading(5), 4)),
    ]) {
      if (late.kind !== 'search') throw new Error('expected a search');
      expect(eventsFound(world, late)).toEqual([]);
    }
  });

  it('is told to whoever recorded the value or has taken the work over, and to nobody else', () => {
    world.run(ana, record('inlet', reading(4)));
    handOverToBen();
    for (const who of [ana, ben]) {
      expect(world.run(who, record('inlet', reading(4)))).toEqual({ kind: 'duplicate', seq: 4 });
    }
    expect(refusalOf(world.run(person('Cara'), record('inlet', reading(4))))).toMatchObject({
      code: 'NOT_ASSIGNED',
    });
  });

  it('of another person’s value that has to be taken again is not theirs', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    handOverToBen();
    const asked = refusalOf(world.decide(ben, record('inlet', reading(42))));
    const own = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
    const confirmed = record('inlet', reading(42), own === undefined ? {} : { confirmation: own });
    expect(world.run(ben, confirmed)).toMatchObject({ receipt: { result: 'retake_required' } });
    const late = world.run(ana, record('inlet', reading(42), { confirmation }));
    expect(refusalOf(late)).toMatchObject({ code: 'NOT_ASSIGNED' });
  });

  it('as a correction of one’s own record by the same value changes nothing', () => {
    world.run(ana, record('inlet', reading(4)));
    const same = correct('inlet', reading(4), 4);
    expect(world.run(ana, same)).toEqual({ kind: 'duplicate', seq: 4 });
    handOverToBen();
    expect(world.run(ben, same)).toMatchObject({ receipt: { command: 'correct_step' } });
  });

  it('of a correction is not taken for the same value in place of another record', () => {
    world.run(ana, record('inlet', reading(4)));
    world.run(ana, correct('inlet', reading(5), 4));
    world.run(ana, correct('inlet', reading(6), 5));
    world.run(ana, correct('inlet', reading(5), 6));
    const late = world.run(ana, correct('inlet', reading(5), 4));
    if (late.kind !== 'search') throw new Error('expected a search');
    expect(eventsFound(world, late).map(({ seq }) => seq)).toEqual([5]);
  });

  it('of a value that has to be taken again is a question without its confirmation', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    world.run(ana, record('inlet', reading(42), { confirmation }));
    expect(refusalOf(world.run(ana, record('inlet', reading(42))))).toMatchObject({
      reason: 'already_recorded',
      replaces: 4,
    });
  });

  it('of a first reading meets a step that has to be retaken with a question, not a record', () => {
    const confirmation = confirmationFor('inlet', reading(42));
    world.run(ana, record('inlet', reading(42), { confirmation }));
    expect(refusalOf(world.run(ana, record('inlet', reading(4))))).toMatchObject({
      reason: 'already_recorded',
      replaces: 4,
    });
    expect(world.run(ana, correct('inlet', reading(4), 4))).toMatchObject({
      receipt: { command: 'correct_step', result: 'recorded', value: 4 },
    });
  });
});

describe('a step that needs a second person', () => {
  it('waits, is confirmed by another person who names the record, and only then counts', () => {
    expect(world.run(ana, record('isolated', yes))).toMatchObject({
      receipt: { result: 'awaiting_second_person' },
    });
    expect(refusalOf(world.run(ben, record('isolated', yes)))).toMatchObject({
      reason: 'second_person',
      confirms: 2,
    });
    expect(world.run(ben, record('isolated', yes, { confirms: 2 }))).toMatchObject({
      receipt: { result: 'confirmed', seq: 3 },
    });
    expect(world.state.steps['isolated']).toMatchObject({
      status: 'done',
      seq: 2,
      witness: { seq: 3, by: 'dev:ben' },
    });
  });

  it('is not confirmed by the person who recorded it', () => {
    world.run(ana, record('isolated', yes));
    expect(world.run(ana, record('isolated', yes))).toEqual({ kind: 'duplicate', seq: 2 });
    expect(refusalOf(world.run(ana, record('isolated', yes, { confirms: 2 })))).toMatchObject({
      code: 'SECOND_PERSON_REQUIRED',
    });
  });

  it('is not done by repeating what somebody else recorded, also for who took the work over', () => {
    world.run(ana, record('isolated', yes));
    handOverToBen();
    expect(refusalOf(world.run(ben, record('isolated', yes)))).toMatchObject({
      reason: 'second_person',
      confirms: 2,
    });
  });

  it('can be corrected by who took the work over, who is then the first person', () => {
    world.run(ana, record('isolated', yes));
    handOverToBen();
    expect(world.run(ben, correct('isolated', yes, 2))).toMatchObject({
      receipt: { command: 'correct_step', result: 'awaiting_second_person' },
    });
  });

  it('is not confirmed by an agent', () => {
    world.run(ana, record('isolated', yes));
    expect(refusalOf(world.run(robot, record('isolated', yes, { confirms: 2 })))).toMatchObject({
      code: 'FORBIDDEN',
      why: 'person',
    });
  });

  it('is not confirmed with another answer', () => {
    world.run(ana, record('isolated', yes));
    const no: StepInput = { kind: 'confirm', confirmed: false };
    expect(refusalOf(world.run(ben, record('isolated', no, { confirms: 2 })))).toMatchObject({
      code: 'SECOND_PERSON_REQUIRED',
      differs: true,
    });
  });

  it('is confirmed once: the same confirmation again is looked up, for another record it is stale', () => {
    isolate();
    const again = world.run(ben, record('isolated', yes, { confirms: 2 }));
    if (again.kind !== 'search') throw new Error('expected a search');
    expect(eventsFound(world, again).map(({ seq }) => seq)).toEqual([3]);
    expect(refusalOf(world.run(ben, record('isolated', yes, { confirms: 7 })))).toMatchObject({
      code: 'STALE_REFERENCE',
      given: 7,
    });
  });
});

describe('a sensitive text', () => {
  const text = (words: string): StepInput => ({ kind: 'text', text: words });

  it('stands apart: not in the state, the event, the receipt or a notification', () => {
    const decision = world.run(ana, record('remarks', text('Köhler was here')));
    expect(world.vault).toMatchObject([{ seq: 2, value: 'Köhler was here' }]);
    const { vault: _vault, ...rest } = world.plan as NonNullable<typeof world.plan>;
    expect(JSON.stringify([rest, decision.kind === 'commit' && decision.receipt])).not.toContain(
      'hler',
    );
    expect(world.events.at(-1)?.data['commitment']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('repeated is a duplicate, changed is a question without the words', () => {
    world.run(ana, record('remarks', text('one')));
    expect(world.run(ana, record('remarks', text('one')))).toEqual({ kind: 'duplicate', seq: 2 });
    const outcome = refusalOf(world.run(ana, record('remarks', text('two'))));
    expect(outcome).toMatchObject({ reason: 'already_recorded', replaces: 2 });
    expect(outcome).not.toHaveProperty('heard');
    expect(outcome).not.toHaveProperty('recorded');
  });

  it('is not told to be right to somebody who did not say it', () => {
    world.run(ana, record('remarks', text('4711')));
    handOverToBen();
    const right = refusalOf(world.decide(ben, record('remarks', text('4711'))));
    const wrong = refusalOf(world.decide(ben, record('remarks', text('4712'))));
    expect(right).toMatchObject({ reason: 'already_recorded' });
    expect(Object.keys(right)).toEqual(Object.keys(wrong));
  });

  it('of a late repeated correction is found by its own words, while they are kept', () => {
    world.run(ana, record('remarks', text('one')));
    world.run(ana, correct('remarks', text('two'), 2));
    world.run(ana, correct('remarks', text('three'), 3));
    const found = (words: string, kept = world.vault): readonly number[] => {
      const late = world.run(ana, correct('remarks', text(words), 2));
      if (late.kind !== 'search') throw new Error('expected a search');
      const { matches, holds } = late;
      return world.events
        .filter(
          (event) =>
            matches(event) &&
            holds?.(
              event,
              kept.find(({ seq }) => seq === event.seq),
            ),
        )
        .map(({ seq }) => seq);
    };
    expect(found('two')).toEqual([3]);
    expect(found('three')).toEqual([]);
    expect(found('two', [])).toEqual([]);
  });

  it('is told apart from an equal text only by its own key', () => {
    world.run(ana, record('remarks', text('one')));
    world.run(ana, correct('remarks', text('two'), 2));
    world.run(ana, correct('remarks', text('one'), 3));
    const commitments = world.events.slice(1).map(({ data }) => data['commitment']);
    expect(new Set(commitments).size).toBe(3);
  });
});
