// The declarative definition of a procedure: the zod schema is the only description of its shape,
// and the published JSON Schema is generated from it. Cross-field rules are in ../procedures.ts.
import * as z from 'zod';
import { LIMITS } from '../limits.ts';

/** What a procedure, a step, an option or a rule can be called. */
export const ID = new RegExp(`^[a-z][a-z0-9_-]{0,${LIMITS.idChars.max - 1}}$`);

const slug = z
  .string()
  .regex(ID, 'expected lower-case letters, digits, - or _, starting with a letter')
  .refine((name) => !(name in Object.prototype), { error: 'expected a name that is not reserved' });
const spoken = z.string().trim().min(1).max(LIMITS.titleChars.max);
const sentence = z.string().trim().min(1).max(LIMITS.sentenceChars.max);
const unitName = z.string().trim().min(1).max(LIMITS.unitNameChars.max);
const deviation = z
  .enum(['retake', 'record_and_notify', 'block'])
  .describe('what happens once a deviating value is confirmed');
const range = z.strictObject({ min: z.number(), max: z.number() });
const minutes = z.int().min(1).max(LIMITS.timerMinutes.max);
const times = z.int().min(1).max(LIMITS.timerTimes.max);
const deadline = z.strictObject({
  minutes: minutes.describe('how long it may take'),
  on_overdue: z
    .enum(['notify', 'block'])
    .default('notify')
    .describe('what follows once, when the time has passed'),
});

const unitNames = {
  symbol: z.string().trim().min(1).max(LIMITS.unitSymbolChars.max),
  spoken: unitName.describe('the unit as it is spoken, in full words'),
  aliases: z.array(unitName).max(LIMITS.unitAliases.max).default([]),
};
const conversion = z.strictObject({
  ...unitNames,
  factor: z
    .number()
    .refine((factor) => factor !== 0, { error: 'expected a factor that is not 0' })
    .describe('what a value in this unit is multiplied by; not 0'),
  offset: z.number().default(0).describe('what is added to the product'),
});

const common = {
  id: slug.describe('stable name of the step within the procedure'),
  title: spoken.describe('what the step is called when spoken, in lower case'),
  instruction: sentence.describe('what the operator is told to do'),
  optional: z.boolean().default(false),
  requires: z.array(slug).max(LIMITS.procedureSteps.max).default([]),
  second_person: z
    .boolean()
    .default(false)
    .describe('another person has to confirm the same content'),
  deadline: deadline
    .optional()
    .describe('counted from when the step can be done, until it is done; not for optional steps'),
};

const confirmStep = z.strictObject({
  ...common,
  kind: z.literal('confirm'),
  on_deviation: deviation.describe('what happens when the operator says it is not so'),
});

const readingStep = z.strictObject({
  ...common,
  kind: z.literal('reading'),
  unit: z.strictObject({
    ...unitNames,
    conversions: z
      .array(conversion)
      .max(LIMITS.unitConversions.max)
      .default([])
      .describe('other units in which a value may be said; it is recorded converted'),
  }),
  decimals: z
    .int()
    .min(0)
    .max(LIMITS.decimals.max)
    .describe('decimal places that are kept; more are refused, and converted values are rounded'),
  bounds: range.describe('hard limits, inclusive; beyond them a value deviates'),
  warning: range.optional().describe('values outside this band but within the bounds are reported'),
  expected: range.describe('the range that is told to the operator'),
  on_deviation: deviation,
});

const choiceStep = z.strictObject({
  ...common,
  kind: z.literal('choice'),
  options: z
    .array(
      z.strictObject({
        id: slug,
        title: spoken,
        deviates: z.boolean().default(false).describe('choosing this is a deviation'),
      }),
    )
    .min(2)
    .max(LIMITS.choiceOptions.max),
  on_deviation: deviation.default('record_and_notify'),
});

const textStep = z.strictObject({
  ...common,
  kind: z.literal('text'),
  max_chars: z.int().min(1).max(LIMITS.textChars.max),
  sensitive: z
    .boolean()
    .default(false)
    .describe('kept apart, erasable, and never in logs, notifications or the clear audit text'),
});

/** One step of a procedure. */
export const stepSchema = z.discriminatedUnion('kind', [
  confirmStep,
  readingStep,
  choiceStep,
  textStep,
]);

/** A declarative rule over two readings: `step` must be greater (or less) than `than`. */
export const ruleSchema = z.strictObject({
  id: slug,
  kind: z.enum(['greater_than', 'less_than']),
  step: slug,
  than: slug,
  margin: z.number().min(0).default(0).describe('by at least this much, in the unit of the steps'),
  message: sentence.describe('what is said when the rule is broken'),
  on_deviation: deviation,
});

/** Who is told of what; of a block also later, while it stands. */
export const escalationSchema = z.strictObject({
  on: z.enum(['warning', 'deviation', 'block', 'overdue', 'reminder']),
  notify: slug.describe('the audience, for example "supervisor"'),
  after_minutes: minutes
    .optional()
    .describe('only once a block has stood for so long; at once where left out'),
  times: times
    .optional()
    .describe('how often they are told while it stands, every after_minutes; once if left out'),
});

/** Which blocks propose that the work goes on, for somebody else to approve. */
export const approvalSchema = z.strictObject({
  on: z
    .array(z.enum(['deviation', 'overdue']))
    .min(1)
    .max(2)
    .describe('which blocks propose to go on: by a deviation, or by a deadline'),
  expires_minutes: minutes.describe('how long the proposal can be decided'),
  notify: slug.describe('the audience that is asked, and told what became of it'),
});

/** The schema of a procedure file. */
export const procedureSchema = z.strictObject({
  $schema: z.string().optional(),
  id: slug,
  version: z.int().min(1).max(LIMITS.procedureVersion.max),
  title: spoken,
  description: sentence,
  asset: z.strictObject({
    type: spoken.describe('what an asset of this kind is called when spoken'),
    pattern: z
      .string()
      .min(1)
      .max(LIMITS.assetPatternChars.max)
      .describe('regular expression for the whole asset id, which is compared in upper case'),
    example: z.string().min(1).max(LIMITS.assetChars.max),
  }),
  steps: z.array(stepSchema).min(1).max(LIMITS.procedureSteps.max),
  rules: z.array(ruleSchema).max(LIMITS.procedureRules.max).default([]),
  deadline: deadline.optional(),
  reminder: z
    .strictObject({
      idle_minutes: minutes.describe('how long nothing is recorded before somebody is told'),
      times: times.default(1).describe('how often, as long as nothing is recorded'),
    })
    .optional(),
  escalation: z.array(escalationSchema).max(LIMITS.escalations.max).default([]),
  approval: approvalSchema
    .optional()
    .describe('a block proposes to go on, and whoever may approve decides; none where left out'),
});

/** A parsed procedure with all defaults filled in. */
export type Procedure = z.output<typeof procedureSchema>;
/** A procedure as its author writes it. */
export type ProcedureInput = z.input<typeof procedureSchema>;
/** A parsed step. */
export type Step = z.output<typeof stepSchema>;
/** A parsed reading step. */
export type ReadingStep = Extract<Step, { kind: 'reading' }>;
/** Another unit in which a reading may be said: `value * factor + offset` in the step's unit. */
export type Conversion = z.output<typeof conversion>;
/** What follows when a time has passed. */
export type Deadline = z.output<typeof deadline>;
/** What follows a confirmed deviation. */
export type DeviationRule = z.output<typeof deviation>;
