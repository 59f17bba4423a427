// The tool for steps: recording, correcting, confirming or skipping one, by exactly one kind of answer.
import * as z from 'zod';
import { refusalFor } from '../../../core/authorize.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { Command, StepInput } from '../../../core/model/commands.ts';
import { idempotencyKey, reason, sequence, workflowId } from '../arguments.ts';
import { recordOutput } from '../output.ts';
import { bounded } from '../schema.ts';
import { defineTool } from '../tool.ts';
import { named, runCommand } from './run-command.ts';

const ANSWERS = [
  'reading',
  'spoken_reading',
  'choice',
  'text',
  'confirmed',
  'skip_reason',
] as const;

const input = z
  .strictObject({
    workflow_id: workflowId,
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
    idempotency_key: idempotencyKey,
  })
  .superRefine((args, context) => {
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
  });

/** Records, corrects, confirms or skips one step. */
export const recordStep = defineTool({
  name: 'record_step',
  title: 'Record a step',
  description:
    'Call this when a person gives the result of a step: a measured value, a choice, a remark, that something is done, or that an optional step is skipped. Give exactly one of the result arguments. A value out of bounds, or a step that is already recorded, is not written: the answer asks a question; put it to the person and, on a clear yes, call again with what that answer returned. Returns the receipt and the next step. When an answer was lost, call it again with the same idempotency_key.',
  input,
  output: recordOutput,
  effect: 'adds',
  refusal: (principal) => refusalFor(principal, 'record_step'),
  run: (kit, args, call) => runCommand(kit, commandOf(args), args.idempotency_key, call),
});

function commandOf(args: z.output<typeof input>): Command {
  const { workflow_id: workflow, step, replaces, confirms, confirmation_token: token } = args;
  const common = {
    ...named(workflow),
    step,
    input: stepInput(args),
    ...(token !== undefined && { confirmation: token }),
  };
  if (replaces !== undefined) return { type: 'correct_step', ...common, replaces };
  return { type: 'record_step', ...common, ...(confirms !== undefined && { confirms }) };
}

function stepInput(args: z.output<typeof input>): StepInput {
  const { reading, spoken_reading: spoken, choice, text, confirmed, skip_reason: why } = args;
  const unit = args.unit === undefined ? {} : { unit: args.unit };
  if (reading !== undefined) return { kind: 'reading', value: reading, ...unit };
  if (spoken !== undefined) return { kind: 'spoken_reading', text: spoken, ...unit };
  if (choice !== undefined) return { kind: 'choice', option: choice };
  if (text !== undefined) return { kind: 'text', text };
  if (why !== undefined) return { kind: 'skip', reason: why };
  return { kind: 'confirm', confirmed: confirmed === true };
}
