import { describe, expect, test } from '@jest/globals';
import { OUTCOME_CODES, type Outcome } from '../../lib/core/outcome.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import type { NextStep, WorkflowView } from '../../lib/core/view.ts';
import {
  createSpeech,
  INTERNAL_FAULT,
  PERSON_NEEDED,
  UNAVAILABLE,
} from '../../lib/surface/speech.ts';
import { speakPending } from '../../lib/surface/speech/runs.ts';
import { clean, listed, say, spokenNumber } from '../../lib/surface/speech/words.ts';
import { blocked, ended, OUTCOMES, view } from '../support/speech-cases.ts';
import { unspeakable } from '../support/spoken.ts';
import { shippedRegistry } from '../support/surface-world.ts';

const speech = createSpeech(shippedRegistry());
const all = OUTCOME_CODES.flatMap((code) =>
  OUTCOMES[code].map((example) => ({ code, ...example })),
);

describe('every outcome', () => {
  test.each(OUTCOME_CODES)('%s can be spoken (C2, C3)', (code) => {
    expect(OUTCOMES[code].length).toBeGreaterThan(0);
    for (const { outcome, asked } of OUTCOMES[code]) {
      const text = speech.outcome(outcome, asked);
      expect([text, unspeakable(text)]).toEqual([text, []]);
    }
  });

  test('has its own words', () => {
    const texts = all.map(({ outcome, asked }) => speech.outcome(outcome, asked));
    const sameOnPurpose = 8; // the three states of one stale reference may share a sentence
    expect(new Set(texts).size).toBeGreaterThan(texts.length - sameOnPurpose);
  });
});

const text = (outcome: Outcome): string => speech.outcome(outcome);
const ok = (result: string, rest: object, duplicate = false, workflow = view): Outcome =>
  ({
    code: 'OK',
    duplicate,
    receipt: { command: 'record_step', workflow: view.workflow, seq: 3, at: '', result, ...rest },
    workflow,
  }) as Outcome;
const pressure = { step: 'suction_pressure', value: 2.1 };

describe('a deadline', () => {
  const now = Date.parse('2026-01-05T08:00:00.000Z');
  const timed = createSpeech(shippedRegistry(), { now: () => now });
  const at = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();
  const step = (due_at: string): WorkflowView => ({
    ...view,
    next: { ...(view.next as NextStep), due_at },
  });

  test.each([
    [0.5, 'is due in less than a minute'],
    [1, 'is due in 1 minute'],
    [25.9, 'is due in 25 minutes'],
    [119, 'is due in 119 minutes'],
    [120, 'is due in 2 hours'],
    [60 * 47, 'is due in 47 hours'],
    [60 * 50, 'is due in 2 days'],
    [0, 'was due less than a minute ago'],
    [-5, 'was due 5 minutes ago'],
    [-600, 'was due 10 hours ago'],
  ])('that is %d minutes away is told with its step and with the whole', (minutes, words) => {
    const said = timed.outcome(ok('recorded', pressure, false, step(at(minutes))));
    expect(said).toBe(
      `Recorded, suction pressure 2.1 bar. Next is discharge pressure, in bar; expected between 4 and 6; it ${words}.`,
    );
    expect(timed.workflow({ ...view, due_at: at(minutes) })).toBe(
      `Pump inspection on PUMP-07, with Ana: 2 of 7 required steps done; all of it ${words}. Next is discharge pressure, in bar; expected between 4 and 6.`,
    );
    expect(unspeakable(said)).toEqual([]);
  });

  test('is told of a step that waits for another person', () => {
    const next = { ...(view.next as NextStep), awaiting_second: true, due_at: at(9) };
    expect(timed.outcome(ok('recorded', pressure, false, { ...view, next }))).toBe(
      'Recorded, suction pressure 2.1 bar. Discharge pressure still needs another person to confirm it; it is due in 9 minutes.',
    );
  });

  test('that passed and blocks the work is what a supervisor decides about, without a repeat', () => {
    const { block } = blocked;
    if (block === undefined) throw new Error('it is blocked');
    const late: WorkflowView = {
      ...blocked,
      block: {
        ...block,
        reason: 'overdue',
        message: 'the deadline of suction pressure has passed',
      },
    };
    expect(timed.blocked({ workflows: [late], more: false })).toBe(
      'Pump inspection on PUMP-07 is blocked because the deadline of suction pressure has passed. Should it continue, or be abandoned?',
    );
  });
});

describe('a committed step', () => {
  test('is repeated with its unit, and the next step is named with unit and range', () => {
    expect(text(ok('recorded', pressure))).toBe(
      'Recorded, suction pressure 2.1 bar. Next is discharge pressure, in bar; expected between 4 and 6.',
    );
  });

  test('C5: a repeat says that it was already done', () => {
    expect(text(ok('recorded', pressure, true))).toBe(
      'Already recorded, suction pressure 2.1 bar. Next is discharge pressure, in bar; expected between 4 and 6.',
    );
  });

  test('with a negative value keeps its minus', () => {
    expect(text(ok('recorded', { step: 'bearing_temperature', value: -1.5 }))).toMatch(
      /^Recorded, bearing temperature minus 1\.5 degrees Celsius\. /u,
    );
  });

  test.each([
    [
      'started',
      {},
      'Started, pump inspection on PUMP-07. First is discharge pressure, in bar; expected between 4 and 6.',
    ],
    [
      'recorded_with_warning',
      pressure,
      'Recorded, suction pressure 2.1 bar, which is outside the usual range. Next is discharge pressure, in bar; expected between 4 and 6.',
    ],
    [
      'deviation_recorded',
      { step: 'seal_condition', value: 'dripping' },
      'Recorded as a deviation, seal condition: dripping. Next is discharge pressure, in bar; expected between 4 and 6.',
    ],
    [
      'handed_over',
      { to: 'dev:ana', to_name: 'Ana' },
      'Handed over, pump inspection on PUMP-07, to Ana.',
    ],
    [
      'handed_over',
      { to: 'dev:ben', to_name: 'Ben' },
      'Handed over, pump inspection on PUMP-07, to Ben.',
    ],
  ])('%s', (result, rest, expected) => {
    expect(text(ok(result, rest))).toBe(expected);
  });

  test.each([
    ['bearing_temperature', 1, '1 degree Celsius'],
    ['bearing_temperature', -1, 'minus 1 degree Celsius'],
    ['bearing_temperature', 1.5, '1.5 degrees Celsius'],
    ['vibration', 1, '1 millimetre per second'],
    ['motor_current', 1, '1 ampere'],
    ['motor_current', 0, '0 amperes'],
    ['suction_pressure', 1, '1 bar'],
  ])('of %s with the value %d says %j', (step, value, said) => {
    expect(text(ok('recorded', { step, value }))).toContain(` ${said}. `);
  });

  test('of one in another unit says it of one, and what it makes in its own number', () => {
    const converted = { value: -17.2, original: { value: 1, unit: '°F' } };
    expect(text(ok('recorded', { step: 'bearing_temperature', ...converted }))).toContain(
      ' 1 degree Fahrenheit, that is minus 17.2 degrees Celsius. ',
    );
  });

  test('in another unit is read back as it was said and as it is recorded', () => {
    const converted = { value: 2.07, original: { value: 30, unit: 'psi' } };
    expect(text(ok('recorded', { step: 'suction_pressure', ...converted }))).toBe(
      'Recorded, suction pressure 30 psi, that is 2.07 bar. Next is discharge pressure, in bar; expected between 4 and 6.',
    );
  });

  test('that blocks says so', () => {
    expect(text(ok('blocked', { step: 'suction_pressure', value: 42 }, false, blocked))).toBe(
      'Recorded, suction pressure 42 bar. Pump inspection on PUMP-07 is blocked until a supervisor decides.',
    );
  });

  test('that was the last one offers completion', () => {
    const { next: _next, ...rest } = view;
    const last = { ...rest, ready_to_complete: true };
    expect(text(ok('recorded', pressure, false, last))).toBe(
      'Recorded, suction pressure 2.1 bar. All steps are done; you can complete it now.',
    );
  });
});

describe('questions', () => {
  test('out of bounds is read back with the limit', () => {
    expect(text(OUTCOMES.NEEDS_CONFIRMATION[0]!.outcome)).toBe(
      'I heard 42 bar for suction pressure; the limit is 12. Is that right?',
    );
  });

  test('a value in another unit is read back as it was said and as it would be recorded', () => {
    const { code, workflow, reason } = {
      code: 'NEEDS_CONFIRMATION',
      workflow: view,
      reason: 'out_of_bounds',
    } as const;
    const heard = { heard: 13.79, original: { value: 200, unit: 'psi' }, limit: 12 };
    expect(text({ code, workflow, reason, step: 'suction_pressure', ...heard })).toBe(
      'I heard 200 psi, that is 13.79 bar, for suction pressure; the limit is 12. Is that right?',
    );
  });

  test('a recorded step names what is on record', () => {
    const example = OUTCOMES.NEEDS_CONFIRMATION.find(
      ({ outcome }) => 'reason' in outcome && outcome.reason === 'already_recorded',
    );
    expect(text(example!.outcome)).toBe(
      'Suction pressure is already recorded as minus 2.1 bar, and I heard 2.3 bar. Should I replace it?',
    );
  });

  test('C3: at most five choices are said, and how many are left', () => {
    expect(text(OUTCOMES.AMBIGUOUS[2]!.outcome)).toBe(
      'You have 8 active: pump inspection on PUMP-01, pump inspection on PUMP-02, pump inspection on PUMP-03, pump inspection on PUMP-04, pump inspection on PUMP-05 and 3 more. Which one do you mean?',
    );
  });

  test('C4: nothing active still says what to do', () => {
    expect(text(OUTCOMES.AMBIGUOUS[0]!.outcome)).toBe(
      'You have no active work. Name a procedure and an asset, and I will start it.',
    );
  });
});

describe('refusals', () => {
  test('ASSET_BUSY names the holder', () => {
    expect(text(OUTCOMES.ASSET_BUSY[0]!.outcome)).toBe(
      'PUMP-07 is in use: Ana has it for pump inspection. Ask Ana to finish or to hand it over.',
    );
  });

  test('BACKEND_UNAVAILABLE asks to say it again in a moment', () => {
    expect(text(OUTCOMES.BACKEND_UNAVAILABLE[0]!.outcome)).toBe(
      'I cannot reach the records right now. Please say it again in a moment; nothing is recorded twice.',
    );
  });

  test('another kind of answer is asked for in words', () => {
    expect(text(OUTCOMES.INVALID_ARGUMENT[5]!.outcome)).toBe(
      'Suction pressure is a reading step: I need a number.',
    );
  });

  test('a wrong unit is answered with the right one as it is spoken', () => {
    expect(text(OUTCOMES.INVALID_ARGUMENT[2]!.outcome)).toBe(
      'That is not the unit of this step. I need millimetres per second.',
    );
  });
});

describe('reads', () => {
  const list = (workflows: readonly WorkflowView[], more = false) => ({ workflows, more });
  test.each([
    ['a workflow', speech.workflow(view)],
    ['a blocked workflow', speech.workflow(blocked)],
    ['an ended workflow', speech.workflow(ended)],
    ['no work', speech.mine(list([]))],
    ['one work', speech.mine(list([view]))],
    ['several works', speech.mine(list([view, view, { ...view, offered: true }]))],
    [
      'many works',
      speech.mine(
        list(
          Array.from({ length: 20 }, () => view),
          true,
        ),
      ),
    ],
    ['nothing blocked', speech.blocked(list([]))],
    ['one blocked', speech.blocked(list([blocked]))],
    [
      'many blocked',
      speech.blocked(
        list(
          Array.from({ length: 20 }, () => blocked),
          true,
        ),
      ),
    ],
    ['the procedures', speech.procedures()],
    ['help', speech.help()],
    ['an internal fault', INTERNAL_FAULT],
    ['a person needed', PERSON_NEEDED],
    ['keys that cannot be read', UNAVAILABLE],
  ])('%s can be spoken', (_what, spoken) => {
    expect([spoken, unspeakable(spoken)]).toEqual([spoken, []]);
  });

  test('no procedures at all still help', () => {
    const built = buildRegistry([]);
    if (!built.ok) throw new Error('an empty registry is valid');
    const bare = createSpeech(built.registry);
    expect(bare.procedures()).toBe(
      'No procedure is set up yet. Ask whoever runs this service to add one.',
    );
    expect(unspeakable(bare.help())).toEqual([]);
    expect(bare.workflow(view)).toMatch(/^Pump inspection on PUMP-07/u);
  });

  test('C8: help names at least three phrases', () => {
    expect(speech.phrases()).toEqual([
      'start balance calibration on BAL-001',
      'what is next',
      'what am I working on',
      'hand it over to a colleague',
    ]);
  });

  const steps: { readonly [K in NextStep['kind']]: readonly [Partial<NextStep>, string] } = {
    reading: [{}, 'Next is level, in bar; expected between 4 and 6.'],
    confirm: [{}, 'Next is level; answer yes or no.'],
    text: [{}, 'Next is level, in your own words.'],
    choice: [
      { options: [1, 2, 3, 4, 5, 6, 7].map((n) => ({ id: `o_${n}`, title: `o ${n}` })) },
      'Next is level: o 1, o 2, o 3, o 4, o 5 or 2 more.',
    ],
  };
  test.each(Object.entries(steps))(
    'a next %s step is asked for in its way',
    (kind, [rest, said]) => {
      const next = { ...view.next!, title: 'level', kind: kind as NextStep['kind'], ...rest };
      expect(speech.workflow({ ...view, next })).toBe(
        `Pump inspection on PUMP-07, with Ana: 2 of 7 required steps done. ${said}`,
      );
    },
  );
});

describe('what was recorded last time', () => {
  const at = '2026-01-04T08:00:00.000Z';
  const recorded = (next: NextStep, rest: object = {}) =>
    text(ok('recorded', pressure, false, { ...view, ...rest, next }));

  test('is said behind the expected range', () => {
    expect(recorded({ ...view.next!, last: { value: -2.1, at } })).toBe(
      'Recorded, suction pressure 2.1 bar. Next is discharge pressure, in bar; expected between 4 and 6; last time minus 2.1.',
    );
  });

  test('is said of a choice by its title, and not of a yes or no', () => {
    const choice = {
      ...view.next!,
      title: 'seal',
      kind: 'choice' as const,
      options: [
        { id: 'dry_one', title: 'dry' },
        { id: 'wet_one', title: 'wet' },
      ],
    };
    const value = 'wet_one';
    expect(recorded({ ...choice, last: { value, at } })).toMatch(
      / Next is seal: dry or wet; last time wet\.$/u,
    );
    expect(recorded({ ...choice, last: { value: 'gone', at } })).toMatch(/: dry or wet\.$/u);
    const confirm = { ...view.next!, kind: 'confirm' as const, last: { value: true, at } };
    expect(recorded(confirm)).toMatch(/answer yes or no\.$/u);
  });

  test('is left out where the answer would become too long', () => {
    const words = (count: number) => 'w '.repeat(count).trim();
    const next = { ...view.next!, last: { value: 2, at } };
    // 74 words with it are said, 75 are not.
    const said = [56, 57].map((count) => recorded({ ...next, unit_spoken: words(count) }));
    expect(said.map((one) => one.split(' ').length)).toEqual([74, 72]);
    expect(said.map((one) => one.includes('last time 2'))).toEqual([true, false]);
  });
});

describe('words', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [2.1, '2.1'],
    [-0.05, 'minus 0.05'],
    [1_200_000, '1200000'],
    [1e21, '1000000000000000000000'],
    [0.000_000_001, '0.000000001'],
    [-1e-12, '0'],
  ])('%d is said %s', (value, said) => {
    expect(spokenNumber(value)).toBe(said);
  });

  test('longest allowed titles and names stay under the word limit', () => {
    const long = 'w '.repeat(60).trim();
    expect(long.length).toBeLessThanOrEqual(120);
    const next = { ...view.next!, title: long, unit_spoken: long };
    const spoken = speech.workflow({ ...view, title: long, holder: 'n '.repeat(32), next });
    expect(spoken.split(' ').length).toBeLessThan(75);
    expect(spoken).toMatch(/\.$/u);
  });

  test('fragments lose what is not spoken', () => {
    expect(clean('a\u202Eb\u200B **c** <d> see https://x.example/y_z www.q.example e_f')).toBe(
      'a b c d see e f',
    );
  });

  test('lists and sentences', () => {
    expect([listed([]), listed(['a']), listed(['a', 'b'], 'or')]).toEqual(['', 'a', 'a or b']);
    expect(say('one', undefined, '', 'two?')).toBe('One. Two?');
  });
});

test('that nothing waits is said only where everything was looked through', () => {
  expect(speakPending([], false)).toBe('Nothing waits for a decision.');
  const text = speakPending([], true);
  expect(text).toBe(
    'I found nothing that waits for a decision, but I could not look through everything. Please look at the whole list on the page for it.',
  );
  expect(unspeakable(text)).toEqual([]);
});
