// The shapes of structured answers, as clients see them in `outputSchema`. Names are snake_case.
// Every field but the three first is present only where it applies. Objects are open: fields that a
// client needs are declared, others may come along and may grow.
import * as z from 'zod';
import { OUTCOME_CODES } from '../../core/outcome.ts';

const any = (description: string) => z.unknown().optional().describe(description);
const text = z.string().optional();
const whole = z.int().optional();
const flag = z.boolean().optional();
const range = z.object({ min: z.number(), max: z.number() }).optional();

const common = {
  code: z
    .enum([...OUTCOME_CODES, 'INTERNAL_ERROR'])
    .describe(
      'What became of the request. OK: done. NEEDS_CONFIRMATION, AMBIGUOUS: ask the person.',
    ),
  request_id: z.string().describe('Quote this to whoever runs the service.'),
  retryable: z.boolean().describe('True: send the same request again, with the same key.'),
  retry_after_ms: whole,
  faults: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Arguments that do not fit, by JSON pointer.'),
  detail: z
    .object({})
    .optional()
    .describe('What the code is about: names, limits and values, by the fields of that code.'),
};

const workflowFields = {
  workflow_id: z.string(),
  title: z.string(),
  asset: z.string(),
  state: z.enum(['CREATED', 'RUNNING', 'BLOCKED', 'COMPLETED']),
  result: text.describe('How it ended: completed or abandoned.'),
  holder: z.string().describe('Name of the person it is assigned to.'),
  mine: z.boolean().describe('Whether that is the caller.'),
  tenure: z.int().describe('Names the present assignment, for hand_over and abandon_workflow.'),
  block: z
    .object({ seq: z.int(), step: z.string(), message: z.string() })
    .optional()
    .describe('Why it is blocked; seq names the block, for resolve_block.'),
  done: z.int(),
  required: z.int(),
  ready_to_complete: z.boolean(),
};

const nextStep = z
  .object({
    step: z.string().describe('Give this as step to record_step.'),
    title: z.string(),
    instruction: z.string().describe('What the person has to do; read it out when they ask how.'),
    kind: z.enum(['confirm', 'reading', 'choice', 'text']),
    optional: z.boolean(),
    unit: text,
    expected: range,
    options: z.array(z.object({ id: z.string(), title: z.string() })).optional(),
    replaces: whole,
    confirms: whole,
    last: z
      .object({ value: any('the value'), at: z.string() })
      .optional()
      .describe('What was recorded for this step on this asset last time.'),
  })
  .optional()
  .describe('The step to do next.');

const original = z
  .object({ value: z.number(), unit: z.string() })
  .optional()
  .describe('What was said in another unit; the value is converted from it.');

const choices = z
  .array(z.object({ workflow_id: text, asset: text, title: text, subject: text, name: text }))
  .optional()
  .describe('What can be meant; ask the person, then name one.');

const suggestions = z
  .array(z.string())
  .optional()
  .describe('Assets that may be meant, none of them used; ask the person, then name one.');

/** One step of a workflow in full. */
const stepStatus = z.object({
  step: z.string(),
  title: z.string(),
  status: z.enum(['open', 'done', 'awaiting_second', 'retake', 'skipped']),
  seq: whole.describe('Give this as replaces to correct the step.'),
  value: any('the number, the chosen option, or true or false'),
  unit: text,
  original,
});

/** The answer of a command. */
export const commandOutput = z.object({
  ...common,
  duplicate: flag.describe('True: this had already been done; the receipt is the first one.'),
  receipt: z
    .object({
      command: z.string(),
      seq: z.int(),
      at: z.string(),
      result: z.string(),
      value: any('the value that was recorded'),
      original,
    })
    .optional(),
  workflow_id: text,
  workflow: z.object(workflowFields).optional(),
  next_step: nextStep,
  choices,
  total: whole,
  suggestions,
  confirmation_token: text.describe('Send it back with the same arguments once confirmed.'),
  replaces: whole,
  confirms: whole,
  tenure: whole,
});

/** The answer of `get_workflow`. */
export const workflowOutput = z.object({
  ...common,
  workflow_id: text,
  workflow: z.object(workflowFields).optional(),
  next_step: nextStep,
  steps: z.array(stepStatus).optional(),
  left_out: whole.describe('How many steps the list leaves out.'),
  choices,
  total: whole,
  suggestions,
});

/** The answer of the tools that list workflows. */
export const workflowsOutput = z.object({
  ...common,
  workflows: z
    .array(z.object(workflowFields))

    .optional()
    .describe('Oldest first.'),
  more: flag.describe('True: there are more than these.'),
});

/** The answer of `list_procedures`. */
export const proceduresOutput = z.object({
  ...common,
  procedures: z
    .array(
      z.object({
        procedure: z.string().describe('Give this to start_workflow.'),
        version: z.int(),
        title: z.string(),
        description: z.string(),
        asset_type: z.string(),
        asset_example: z.string(),
        steps: z.int(),
      }),
    )
    .optional(),
  left_out: whole,
});

/** The answer of `what_can_i_do`. */
export const helpOutput = z.object({
  ...common,
  phrases: z.array(z.string()).optional().describe('Phrases that work.'),
});
