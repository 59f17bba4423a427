import { describe, expect, it } from '@jest/globals';
import { stepValue } from '../../../lib/core/decide/step-input.ts';
import type { StepInput } from '../../../lib/core/model/commands.ts';
import { stepSchema, type ProcedureInput } from '../../../lib/core/model/procedure.ts';

type Given = ProcedureInput['steps'][number];
const value = (step: Given, input: Exclude<StepInput, { kind: 'skip' }>) =>
  stepValue(stepSchema.parse(step), input);

const pressure = {
  id: 'p',
  title: 'pressure',
  instruction: 'Read it.',
  kind: 'reading',
  unit: { symbol: 'MPa', spoken: 'megapascals', aliases: ['megapascal'] },
  decimals: 1,
  bounds: { min: 0, max: 10 },
  expected: { min: 1, max: 2 },
  on_deviation: 'retake',
} as const satisfies Given;

const converting: Given = {
  ...pressure,
  unit: {
    ...pressure.unit,
    conversions: [{ symbol: 'psi', spoken: 'psi', factor: 0.00689476 }],
  },
};

describe('the unit of a reading', () => {
  it.each(['MPa', 'megapascals', 'Megapascal', ' MPa '])('is %j as well', (unit) => {
    expect(value(pressure, { kind: 'reading', value: 5, unit })).toEqual({ ok: true, value: 5 });
    const said = { kind: 'spoken_reading', text: `five ${unit}` } as const;
    expect(value(pressure, said)).toEqual({ ok: true, value: 5 });
  });

  it.each(['mPa', 'MPA', 'mpa', 'Pa'])('is not %j: case tells symbols apart', (unit) => {
    expect(value(pressure, { kind: 'reading', value: 5, unit }).ok).toBe(false);
    expect(value(pressure, { kind: 'spoken_reading', text: `5 ${unit}` }).ok).toBe(false);
  });
});

describe('a choice', () => {
  const step: Given = {
    id: 'c',
    title: 'state',
    instruction: 'Look.',
    kind: 'choice',
    options: [
      { id: 'tight', title: 'loose' },
      { id: 'loose', title: 'tight', deviates: true },
    ],
  };

  it('is taken by its id before it is taken by a title', () => {
    expect(value(step, { kind: 'choice', option: 'loose' })).toEqual({ ok: true, value: 'loose' });
  });
});

describe('a text', () => {
  const step: Given = { id: 't', title: 't', instruction: 'Say.', kind: 'text', max_chars: 9 };

  it.each(['', '  ', '\u200b', '\u0301\u2060'])(
    'of nothing that is seen, %j, is refused',
    (text) => {
      expect(value(step, { kind: 'text', text })).toMatchObject({ faults: [{ path: '/text' }] });
    },
  );
});

describe('an input', () => {
  const common = { id: 's', title: 'The step', instruction: 'Do it.' };
  const steps = {
    reading: { ...pressure, title: 'The step' },
    choice: {
      ...common,
      kind: 'choice',
      options: [
        { id: 'on', title: 'On' },
        { id: 'off', title: 'Off' },
      ],
    },
    text: { ...common, kind: 'text', max_chars: 9 },
    confirm: { ...common, kind: 'confirm', on_deviation: 'retake' },
  } as const satisfies Record<string, Given>;
  const inputs = {
    reading: { kind: 'reading', value: 1 },
    spoken_reading: { kind: 'spoken_reading', text: 'one' },
    choice: { kind: 'choice', option: 'on' },
    text: { kind: 'text', text: 'on' },
    confirm: { kind: 'confirm', confirmed: true },
  } as const;
  const paths = {
    reading: '/reading',
    spoken_reading: '/spoken_reading',
    choice: '/choice',
    text: '/text',
    confirm: '/confirmed',
  } as const;
  const fits = { reading: 1, spoken_reading: 1, choice: 'on', text: 'on', confirm: true } as const;
  const pairs = Object.values(inputs).flatMap((input) =>
    Object.values(steps).map((step) => [input, step] as const),
  );

  it.each(pairs)('%j is taken by a step of its kind and by no other', (input, step) => {
    const right = step.kind === (input.kind === 'spoken_reading' ? 'reading' : input.kind);
    const wanted = paths[step.kind].slice(1);
    const message = `The step is a ${step.kind} step: expected the argument ${wanted}`;
    expect(value(step, input)).toEqual(
      right
        ? { ok: true, value: fits[input.kind] }
        : { ok: false, faults: [{ path: paths[input.kind], message }] },
    );
  });

  it.each([
    [steps.choice, { kind: 'choice', option: 'x' }, '/choice', 'expected one of: On, Off'],
    [steps.text, { kind: 'text', text: ' ' }, '/text', 'expected a text that is not empty'],
    [steps.text, { kind: 'text', text: '0123456789' }, '/text', 'expected at most 9 characters'],
    [
      pressure,
      { kind: 'spoken_reading', text: 'some' },
      '/spoken_reading',
      'expected one number in megapascals for pressure',
    ],
    [pressure, { kind: 'reading', value: 1.25 }, '/reading', 'expected at most 1 decimal place'],
    [
      { ...pressure, decimals: 2 },
      { kind: 'reading', value: 1.255 },
      '/reading',
      'expected at most 2 decimal places',
    ],
    [
      { ...pressure, decimals: 0 },
      { kind: 'reading', value: 1.5 },
      '/reading',
      'expected a whole number',
    ],
    [pressure, { kind: 'reading', value: 1, unit: 'psi' }, '/unit', 'expected MPa (megapascals)'],
    [
      converting,
      { kind: 'reading', value: 1e300, unit: 'psi' },
      '/reading',
      'expected a smaller value',
    ],
  ] as [Given, Exclude<StepInput, { kind: 'skip' }>, string, string][])(
    'that does not fit %j, %j, is told what does',
    (step, input, path, message) => {
      expect(value(step, input)).toEqual({ ok: false, faults: [{ path, message }] });
    },
  );

  it('in another unit may have more decimals than the step', () => {
    expect(value(converting, { kind: 'reading', value: 40.25, unit: 'psi' })).toEqual({
      ok: true,
      value: 0.3,
      original: { value: 40.25, unit: 'psi' },
    });
  });

  it('of text is kept composed and without the space around it', () => {
    expect(value(steps.text, { kind: 'text', text: ' cafe\u0301\n' })).toEqual({
      ok: true,
      value: 'caf\u00e9',
    });
  });
});
