import type { ProcedureInput } from '../../lib/core/model/procedure.ts';

/** A valid procedure with one step of each kind and one rule, changed as a test needs it. */
export function smallProcedure(change: Partial<ProcedureInput> = {}): ProcedureInput {
  const unit = { symbol: 'V', spoken: 'volts' };
  const reading = { kind: 'reading', unit, decimals: 1, on_deviation: 'retake' } as const;
  const limits = {
    bounds: { min: 0, max: 10 },
    warning: { min: 1, max: 9 },
    expected: { min: 2, max: 8 },
  };
  return {
    id: 'round',
    version: 1,
    title: 'round',
    description: 'A round.',
    asset: { type: 'cabinet', pattern: 'CAB-[0-9]', example: 'CAB-1' },
    steps: [
      { id: 'ready', kind: 'confirm', title: 'ready', instruction: 'Say.', on_deviation: 'block' },
      { ...reading, ...limits, id: 'high', title: 'high', instruction: 'Read.' },
      { ...reading, ...limits, id: 'low', title: 'low', instruction: 'Read.', requires: ['high'] },
      {
        id: 'look',
        kind: 'choice',
        title: 'look',
        instruction: 'Look.',
        options: [
          { id: 'good', title: 'good' },
          { id: 'bad', title: 'bad', deviates: true },
        ],
      },
      { id: 'note', kind: 'text', title: 'note', instruction: 'Speak.', max_chars: 100 },
    ],
    rules: [
      {
        id: 'order',
        kind: 'greater_than',
        step: 'high',
        than: 'low',
        margin: 0.2,
        message: 'high is not above low',
        on_deviation: 'block',
      },
    ],
    ...change,
  };
}
