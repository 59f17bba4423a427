// The shapes of structured answers, as clients see them in `outputSchema`. Names are snake_case.
// A list of tools is read into a model's context, so only what a caller acts on is declared. Objects
// are open: every field that comes along is exact and may grow. Two of the fields that every answer has are declared.
import * as z from 'zod';

const text = z.string().optional();
const whole = z.int().optional();
const flag = z.boolean().optional();

const common = { code: z.string(), retryable: z.boolean() };

const workflow = z.object({
  workflow_id: z.string(),
  asset: z.string(),
  state: z.string(),
  tenure: z.int(),
  block: z.object({ seq: z.int() }).optional(),
});

const nextStep = z.object({ step: z.string() }).optional();

const choices = z.array(z.object({ workflow_id: text, subject: text })).optional();

const suggestions = z.array(z.string()).optional();

/** The answer of a command. */
export const commandOutput = z.object({
  ...common,
  duplicate: flag,
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
        status: z.string(),
        seq: whole.describe('Give this as replaces.'),
      }),
    )
    .optional(),
  choices,
  suggestions,
});

/** The answer of the tools that list workflows. */
export const workflowsOutput = z.object({
  ...common,
  workflows: z.array(workflow).optional(),
  more: flag,
});

/** The answer of `list_procedures`. */
export const proceduresOutput = z.object({
  ...common,
  procedures: z
    .array(
      z.object({
        procedure: z.string(),
        title: z.string(),
        asset_example: z.string(),
      }),
    )
    .optional(),
});

/** The answer of `what_can_i_do`. */
export const helpOutput = z.object({
  ...common,
  phrases: z.array(z.string()).optional(),
});

const run = z.object({ run_id: z.string(), status: z.string(), action_hash: text });

/** The answer about one run. */
export const runOutput = z.object({ ...common, run: run.optional() });

/** The answer that lists what waits for a decision. */
export const pendingOutput = z.object({
  ...common,
  runs: z.array(run).optional(),
  workflows: z.array(z.object({ workflow_id: text })).optional(),
  more: flag,
});
