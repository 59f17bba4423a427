// Limits of a definition, as its author meets them.
import { parseProcedure } from '../../lib/core/parse-procedure.ts';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import { smallProcedure } from '../support/small-procedure.ts';
import type { Case } from './case.ts';

const fits = (change: Partial<ProcedureInput>): boolean =>
  parseProcedure(smallProcedure(change)).ok;
const numbered = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const confirmSteps = (count: number): ProcedureInput['steps'] =>
  numbered(count, (n) => ({
    id: `s${n}`,
    kind: 'confirm',
    title: `step ${n}`,
    instruction: 'Say.',
    on_deviation: 'block',
  }));
const reading = (change: object): Partial<ProcedureInput> => ({
  rules: [],
  steps: smallProcedure().steps.map((step) => ({
    ...step,
    ...(step.kind === 'reading' && change),
  })),
});
const unit = (change: object): Partial<ProcedureInput> =>
  reading({ unit: { symbol: 'V', spoken: 'volts', ...change } });
const choice = (options: readonly object[]): Partial<ProcedureInput> => ({
  rules: [],
  steps: smallProcedure().steps.map((step) =>
    step.kind === 'choice' ? ({ ...step, options } as typeof step) : step,
  ),
});

/** The cases. */
export const DEFINITION = {
  procedureSteps: (count) => fits({ rules: [], steps: confirmSteps(count) }),
  choiceOptions: (count) =>
    fits(choice(numbered(count, (n) => ({ id: `o${n}`, title: `o ${n}` })))),
  unitConversions: (count) =>
    fits(
      unit({
        conversions: numbered(count, (n) => ({ symbol: `u${n}`, spoken: `unit ${n}`, factor: 2 })),
      }),
    ),
  unitAliases: (count) => fits(unit({ aliases: numbered(count, (n) => `name ${n}`) })),
  unitSymbolChars: (chars) => fits(unit({ symbol: 'u'.repeat(chars) })),
  decimals: (places) => fits(reading({ decimals: places })),
  procedureVersion: (version) => fits({ version }),
  assetPatternChars: (chars) =>
    fits({ asset: { type: 'box', pattern: 'A|'.padEnd(chars, 'B'), example: 'A' } }),
  sentenceChars: (chars) => fits({ description: 'd'.repeat(chars) }),
  procedureRules: (count) => {
    const [rule] = smallProcedure().rules ?? [];
    return (
      rule !== undefined && fits({ rules: numbered(count, (n) => ({ ...rule, id: `r${n}` })) })
    );
  },
  timerMinutes: (minutes) => fits({ deadline: { minutes, on_overdue: 'block' } }),
  timerTimes: (times) =>
    fits({ escalation: [{ on: 'block', notify: 'a', after_minutes: 1, times }] }),
  escalations: (count) =>
    fits({ escalation: numbered(count, (n) => ({ on: 'block', notify: `audience-${n}` })) }),
} as const satisfies { readonly [name: string]: Case };

/** Limits that a definition shares with an argument: both are held. */
export const SHARED = {
  idChars: (chars: number) => fits({ id: 'i'.repeat(chars) }),
  titleChars: (chars: number) => fits({ title: 't'.repeat(chars) }),
  unitNameChars: (chars: number) =>
    fits(unit({ spoken: 'u'.repeat(chars) })) && fits(unit({ aliases: ['a'.repeat(chars)] })),
  textChars: (chars: number) =>
    fits({
      rules: [],
      steps: smallProcedure().steps.map((step) =>
        step.kind === 'text' ? { ...step, max_chars: chars } : step,
      ),
    }),
  assetChars: (chars: number) =>
    fits({ asset: { type: 'box', pattern: 'A+', example: 'A'.repeat(chars) } }),
} as const;
