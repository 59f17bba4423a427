import { describe, expect, it } from '@jest/globals';
import { stepValue } from '../../../lib/core/decide/step-input.ts';
import type { StepInput } from '../../../lib/core/model/commands.ts';
import { stepSchema, type ProcedureInput } from '../../../lib/core/model/procedure.ts';

type Given = ProcedureInput['steps'][number];
const value = (step: Given, input: Exclude<StepInput, { kind: 'skip' }>) =>
  stepValue(stepSchema.parse(step), input);

const pressure: Given = {
  id: 'p',
  title: 'pressure',
  instruction: 'Read it.',
  kind: 'reading',
  unit: { symbol: 'MPa', spoken: 'megapascals', aliases: ['megapascal'] },
  decimals: 1,
  bounds: { min: 0, max: 10 },
  expected: { min: 1, max: 2 },
  on_deviation: 'retake',
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
