// The result of a step as arguments, on every surface: exactly one kind of result, and what a second call
// gives back.
import * as z from 'zod';
import { LIMITS } from '../core/limits.ts';
import type { Command, StepInput } from '../core/model/commands.ts';
import { reason, sequence } from './mcp/arguments.ts';
import { bounded } from './mcp/schema.ts';

const ANSWERS = [
  'reading',
  'spoken_reading',
  'choice',
  'text',
  'confirmed',
  'skip_reason',
] as const;

/** The arguments, beside the workflow and the key. */
export const STEP_FIELDS = {
  step: bounded(
    LIMITS.idChars.max,
    'Which step (item, point, check) this is for: step of next_step, or of a step that is corrected.',
  ),
  reading: z
    .number()
    .describe(
      'The measured value (number, figure, level), as a number and not in words. For reading steps.',
    )
    .optional(),
  spoken_reading: bounded(
    LIMITS.spokenReadingChars.max,
    'In place of reading, where the value is only known in words: the number as it was heard, whole and word for word ("minus two point five bar").',
  ).optional(),
  unit: bounded(
    LIMITS.unitNameChars.max,
    'The unit the person said, if any. A wrong unit is refused; one that the step can convert is converted.',
  ).optional(),
  choice: bounded(
    LIMITS.titleChars.max,
    'The option (condition, state, selection) that was chosen: its id or title. For choice steps.',
  ).optional(),
  text: bounded(
    LIMITS.textChars.max,
    'What the person said (remark, note, observation), word for word. For text steps.',
  ).optional(),
  confirmed: z
    .boolean()
    .describe('Whether it is so (done, yes, okay): false says that it is not. For confirm steps.')
    .optional(),
  skip_reason: reason
    .meta({
      description:
        'In place of a result, only when the person wants to skip (leave out, pass over) an optional step: why, in their words.',
    })
    .optional(),
  replaces: sequence(
    'To correct or repeat a step: the number that an earlier answer gave as replaces.',
  ),
  confirms: sequence(
    'To confirm as second person what somebody else recorded: the number that an earlier answer gave as confirms.',
  ),
  confirmation_token: bounded(
    LIMITS.confirmationTokenChars.max,
    'Only after the value was read back and the person clearly said yes: the confirmation_token of that answer.',
  ).optional(),
};

type StepArguments = z.output<z.ZodObject<typeof STEP_FIELDS>>;

/** Refuses arguments that do not go together, each by its place. */
export function checkStep(
  args: StepArguments,
  context: Pick<z.RefinementCtx<StepArguments>, 'addIssue'>,
): void {
  const fault = (name: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [name], message, input: args });
  const given = ANSWERS.filter((name) => args[name] !== undefined);
  if (given.length === 0) fault('reading', `expected one of: ${ANSWERS.join(', ')}`);
  for (const name of given.slice(1)) fault(name, `expected only one of: ${ANSWERS.join(', ')}`);
  if (args.unit !== undefined && (args.reading ?? args.spoken_reading) === undefined) {
    fault('unit', 'expected a reading with it');
  }
  if (args.replaces !== undefined && args.confirms !== undefined) {
    fault('confirms', 'expected replaces or confirms, not both');
  }
  if (args.skip_reason !== undefined && args.confirms !== undefined) {
    fault('confirms', 'expected no skip_reason with it');
  }
}

/** The command that the arguments ask for. */
export function stepCommand(args: StepArguments, which: { readonly workflow?: string }): Command {
  const { step, replaces, confirms, confirmation_token: token } = args;
  const common = {
    ...which,
    step,
    input: stepInput(args),
    ...(token !== undefined && { confirmation: token }),
  };
  if (replaces !== undefined) return { type: 'correct_step', ...common, replaces };
  return { type: 'record_step', ...common, ...(confirms !== undefined && { confirms }) };
}

function stepInput(args: StepArguments): StepInput {
  const { reading, spoken_reading: spoken, choice, text, confirmed, skip_reason: why } = args;
  const unit = args.unit === undefined ? {} : { unit: args.unit };
  if (reading !== undefined) return { kind: 'reading', value: reading, ...unit };
  if (spoken !== undefined) return { kind: 'spoken_reading', text: spoken, ...unit };
  if (choice !== undefined) return { kind: 'choice', option: choice };
  if (text !== undefined) return { kind: 'text', text };
  if (why !== undefined) return { kind: 'skip', reason: why };
  return { kind: 'confirm', confirmed: confirmed === true };
}
