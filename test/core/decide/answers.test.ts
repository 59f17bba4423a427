// A question is answered by its own call again, with the signed text of the question beside it.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { signQuestion, type Occasion } from '../../../lib/core/confirmation.ts';
import type { Decision } from '../../../lib/core/decide/decision.ts';
import type { Command, RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import { eventsFound, person, PureWorld, refusalOf, START_MS } from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
const profile = { tenant: 'acme', subject: 'dev:ben', name: 'Ben' };
const yes: StepInput = { kind: 'confirm', confirmed: true };
const reading = (value: number): StepInput => ({ kind: 'reading', value });
const unasked = {
  code: 'INVALID_ARGUMENT',
  faults: [{ path: '/state', message: 'expected the state of an open question' }],
};

let world: PureWorld;
const record = (step: string, input: StepInput): RecordStep => ({
  type: 'record_step',
  workflow: world.state.id,
  step,
  input,
});
const handOver = (to = 'Ben'): Command => ({ type: 'hand_over', workflow: world.state.id, to });
const abandon = (reason = 'r'): Command => ({
  type: 'abandon_workflow',
  workflow: world.state.id,
  reason,
});
/** The signed text of the question that a call is answered with. */
const asked = (command: Command, who = ana): string => {
  const outcome = refusalOf(world.decide(who, command, profile));
  if (outcome.code !== 'NEEDS_CONFIRMATION' || outcome.state === undefined) {
    throw new Error(`expected a question, not ${outcome.code}`);
  }
  return outcome.state;
};
const answering = <C extends Command>(command: C, state: string): C => ({
  ...command,
  answer: { state },
});
const found = (decision: Decision): readonly number[] => {
  if (decision.kind !== 'search') throw new Error(`expected a search, not ${decision.kind}`);
  return eventsFound(world, decision).map(({ seq }) => seq);
};

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' });
  world.run(ana, record('isolated', yes));
});
const confirmed = (): void => {
  world.run(ben, { ...record('isolated', yes), confirms: 2 });
  world.run(ana, record('inlet', reading(4)));
};

/** Each question: how it comes about, the call, who makes it, and what a yes does. */
const questions: readonly [string, () => void, () => Command, typeof ana, object][] = [
  [
    'whether a value is right',
    () => world.run(ben, { ...record('isolated', yes), confirms: 2 }),
    () => record('inlet', reading(42)),
    ana,
    { command: 'record_step', result: 'retake_required', value: 42, seq: 4 },
  ],
  [
    'whether a value replaces another one',
    confirmed,
    () => record('inlet', reading(5)),
    ana,
    { command: 'correct_step', result: 'recorded', value: 5, seq: 5 },
  ],
  [
    'whether a second person confirms',
    () => undefined,
    () => record('isolated', yes),
    ben,
    { command: 'record_step', result: 'confirmed', value: true, seq: 3 },
  ],
  [
    'whether an assignment goes to a person',
    () => undefined,
    () => handOver(),
    ana,
    { command: 'hand_over', result: 'handed_over', to: 'dev:ben', seq: 3 },
  ],
  [
    'whether work ends early',
    () => undefined,
    () => abandon(),
    ana,
    { command: 'abandon_workflow', result: 'abandoned', seq: 3 },
  ],
];

describe.each(questions)('the question %s', (_what, arrange, command, who, receipt) => {
  beforeEach(arrange);

  it('answered with yes takes effect once', () => {
    const state = asked(command(), who);
    const yesToIt = answering(command(), state);
    expect(world.run(who, yesToIt, profile)).toMatchObject({ kind: 'commit', receipt });
    const { seq } = receipt as { seq: number };
    // The repeat is recognised at any time, also when the question has long expired.
    for (const laterMs of [0, 3_600_000]) {
      world.nowMs = START_MS + laterMs;
      const again = world.run(who, yesToIt, profile);
      const effects = again.kind === 'duplicate' ? [again.seq] : found(again);
      expect(effects).toEqual([seq]);
    }
  });

  it('is open for ten minutes', () => {
    const yesToIt = answering(command(), asked(command(), who));
    world.nowMs = START_MS + 599_999;
    expect(world.decide(who, yesToIt, profile).kind).toBe('commit');
    world.nowMs = START_MS + 600_000;
    expect(refusalOf(world.decide(who, yesToIt, profile))).toEqual(unasked);
  });

  it('is not answered by the text of another question, or by any other text', () => {
    const { id, tenant } = world.state;
    const sent = command();
    const about = {
      tenant,
      subject: who.subject,
      step: 'step' in sent ? sent.step : '',
      value:
        sent.type === 'hand_over'
          ? { command: sent.type, to: sent.to }
          : sent.type === 'abandon_workflow'
            ? { command: sent.type, reason: sent.reason }
            : 'input' in sent && sent.input.kind === 'reading'
              ? sent.input.value
              : true,
    };
    const sign = (occasion: Partial<Occasion>): string =>
      signQuestion(
        'confirmation secret of the tests',
        about,
        { question: 'value', workflow: id, basis: 1, ...occasion },
        START_MS,
      );
    const own = 'step' in sent ? (['value', 'replace', 'witness'] as const) : (['end'] as const);
    const all = ['value', 'replace', 'witness', 'end', 'workflow', 'person'] as const;
    const others = all.filter((question) => !own.some((one) => one === question));
    const to = sent.type === 'hand_over' ? { to: 'dev:ben' } : {};
    for (const question of own) {
      const rightly = world.decide(who, answering(sent, sign({ question, ...to })), profile);
      expect(rightly).not.toEqual({ kind: 'refuse', outcome: unasked });
    }
    for (const state of [
      ...others.map((question) => sign({ question, ...to })),
      ...own.map((question) => sign({ question, workflow: 'w999', ...to })),
      'c2.x.y',
    ]) {
      expect(refusalOf(world.decide(who, answering(sent, state), profile))).toEqual(unasked);
    }
  });
});

describe('an answer', () => {
  it('to whether a value replaces another leads on to whether that value is right', () => {
    confirmed();
    const high = record('inlet', reading(42));
    const replacing = answering(high, asked(high));
    const outcome = refusalOf(world.decide(ana, replacing));
    expect(outcome).toMatchObject({ reason: 'out_of_bounds', replaces: 4 });
    const state = asked(replacing);
    expect(world.run(ana, answering(high, state))).toMatchObject({
      receipt: { command: 'correct_step', result: 'retake_required', value: 42, seq: 5 },
    });
    expect(world.state.steps['inlet']).toMatchObject({ basis: 4 });
  });

  it('counts for the account that was read back, whoever the name means by then', () => {
    const yesToBen = answering(handOver('Ben'), asked(handOver('Ben')));
    const impostor = { ...profile, subject: 'dev:impostor' };
    expect(refusalOf(world.decide(ana, yesToBen, impostor))).toEqual(unasked);
  });

  it('counts for the words it was asked about', () => {
    const state = asked(abandon('pump removed'));
    const otherwise = answering(abandon('no reason'), state);
    expect(refusalOf(world.decide(ana, otherwise))).toEqual(unasked);
  });

  it('to an assignment that has ended since never ends the next one', () => {
    const yesToIt = answering(abandon(), asked(abandon()));
    world.run(ana, { type: 'hand_over', workflow: 'w001', to: 'dev:ben', tenure: 1 }, profile);
    const back = { tenant: 'acme', subject: 'dev:ana', name: 'Ana' };
    world.run(ben, { type: 'hand_over', workflow: 'w001', to: 'dev:ana', tenure: 3 }, back);
    expect(found(world.run(ana, yesToIt))).toEqual([]);
    expect(world.state.state).toBe('RUNNING');
  });

  it('given late is found by its assignment and its person, never by a later one', () => {
    const to = (who: typeof ana) => ({ tenant: 'acme', subject: who.subject, name: who.name });
    const give = (who: typeof ana, tenure: number, receiver: typeof ana) =>
      world.run(
        who,
        { type: 'hand_over', workflow: 'w001', to: receiver.subject, tenure },
        to(receiver),
      );
    give(ana, 1, ben);
    give(ben, 3, ana);
    give(ana, 4, ben);
    expect(found(give(ana, 1, ben))).toEqual([3]);
    expect(found(give(person('Cara', ['procedures:supervise']), 1, ben))).toEqual([]);
  });

  it('as second person beside a correction leaves it a correction, repeated as well', () => {
    const command = { type: 'hand_over', workflow: 'w001', to: 'dev:ben', tenure: 1 } as const;
    world.run(ana, command, profile);
    const state = asked(record('isolated', yes), ben);
    const corrected = answering(
      { ...record('isolated', yes), type: 'correct_step', replaces: 2 } as const,
      state,
    );
    expect(world.run(ben, corrected)).toMatchObject({ receipt: { command: 'correct_step' } });
    expect(found(world.run(ben, corrected))).toEqual([4]);
  });

  it('to one question is no confirmation of a value', () => {
    confirmed();
    const state = asked(record('inlet', reading(42)));
    const corrected = {
      ...record('inlet', reading(42)),
      type: 'correct_step',
      replaces: 4,
      confirmation: state,
    } as const;
    expect(refusalOf(world.decide(ana, corrected))).toMatchObject({ reason: 'out_of_bounds' });
  });

  it('for another workflow is no confirmation of a value', () => {
    world.run(ben, { ...record('isolated', yes), confirms: 2 });
    const confirmation = asked(record('inlet', reading(42)));
    world.workflow = { ...world.state, id: 'w999' };
    expect(
      refusalOf(world.decide(ana, { ...record('inlet', reading(42)), confirmation })),
    ).toMatchObject({ reason: 'out_of_bounds' });
  });

  it('with yes to a name is a hand-over to the account alone where the account is named', () => {
    const named: Command = { type: 'hand_over', workflow: 'w001', to: 'Ben', tenure: 1 };
    expect(world.decide(ana, named, profile).kind).toBe('refuse');
    expect(world.decide(ana, { ...named, to: 'dev:ben' }, profile).kind).toBe('commit');
  });
});
