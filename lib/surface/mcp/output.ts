// The shapes of structured answers, as clients see them in `outputSchema`. Names are snake_case.
// A list of tools is read into a model's context, so only what a caller acts on is declared. Objects
// are open: every field that comes along is exact and may grow. Three fields are in every answer.
import * as z from 'zod';

const text = z.string().optional();
const whole = z.int().optional();
const flag = z.boolean().optional();

const common = {
  code: z.string().describe('OK, or why not.'),
  request_id: z.string(),
  retryable: z.boolean(),
};

const workflow = z.object({
  workflow_id: z.string(),
  asset: z.string(),
  state: z.enum(['CREATED', 'RUNNING', 'BLOCKED', 'COMPLETED']),
  tenure: z.int(),
  block: z.object({ seq: z.int() }).optional(),
});

const nextStep = z.object({ step: z.string(), title: z.string(), unit: text }).optional();

const choices = z
  .array(z.object({ workflow_id: text, subject: text }))
  .optional()
  .describe('Ask which one.');

const suggestions = z.array(z.string()).optional();

/** The answer of a command. */
export const commandOutput = z.object({
  ...common,
  duplicate: flag.describe('True: it had been done before.'),
  receipt: z.object({ seq: z.int(), result: z.string() }).optional(),
  workflow_id: text,
  next_step: nextStep,
  choices,
});

/** The answer of `start_workflow`, with the assets that a misheard name may mean. */
export const startOutput = commandOutput.extend({ suggestions });

/** The answer of `record_step`, with what a second call gives back. */
export const recordOutput = commandOutput.extend({
  confirmation_token: text,
  replaces: whole,
  confirms: whole,
});

/** The answer of a command that ends an assignment. */
export const endingOutput = commandOutput.extend({ tenure: whole, to: text });

/** The answer of `get_workflow`. */
export const workflowOutput = z.object({
  ...common,
  workflow_id: text,
  workflow: workflow.optional(),
  next_step: nextStep,
  steps: z
    .array(
      z.object({
        step: z.string(),
        status: z.enum(['open', 'done', 'awaiting_second', 'retake', 'skipped']),
        seq: whole.describe('Give this as replaces to correct the step.'),
      }),
    )
    .optional(),
  choices,
  suggestions,
});

/** The answer of the tools that list workflows. */
export const workflowsOutput = z.object({
  ...common,
  workflows: z.array(workflow).optional().describe('Oldest first.'),
  more: flag.describe('True: there are more than these.'),
});

/** The answer of `list_procedures`. */
export const proceduresOutput = z.object({
  ...common,
  procedures: z
    .array(
      z.object({
        procedure: z.string().describe('Give this to start_workflow.'),
        title: z.string(),
        asset_example: z.string(),
      }),
    )
    .optional(),
});

/** The answer of `what_can_i_do`. */
export const helpOutput = z.object({
  ...common,
  phrases: z.array(z.string()).optional().describe('Phrases that work.'),
});
