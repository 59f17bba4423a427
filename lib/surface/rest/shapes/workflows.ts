// Answers about procedures and the work on them.
import * as z from 'zod';
import {
  action,
  actor,
  digest,
  displayedField,
  instant,
  json,
  jsonObject,
  page,
  someone,
} from './common.ts';

const due = {
  due_at: instant.optional(),
  overdue: z.literal(true).optional().describe('It has been told that the time passed.'),
};
const range = z.object({ min: z.number(), max: z.number() });
const original = z.object({ value: z.number(), unit: z.string() });
const stepKind = z.enum(['confirm', 'reading', 'choice', 'text']);

/** One step as it stands. */
export const step = z
  .object({
    step: z.string(),
    title: z.string(),
    kind: stepKind,
    status: z.enum(['open', 'done', 'awaiting_second', 'retake', 'skipped']),
    optional: z.boolean(),
    seq: z.int().optional().describe('Give it as replaces to correct the step.'),
    value: json.optional(),
    unit: z.string().optional(),
    original: original.optional().describe('What was said, where it was converted.'),
    ...due,
  })
  .meta({ id: 'Step' });

/** The step to be done next. */
export const nextStep = z
  .object({
    step: z.string(),
    title: z.string(),
    instruction: z.string(),
    kind: stepKind,
    optional: z.boolean(),
    second_person: z.boolean(),
    awaiting_second: z.boolean(),
    unit: z.string().optional(),
    unit_spoken: z.string().optional(),
    decimals: z.int().optional(),
    expected: range.optional(),
    bounds: range.optional(),
    options: z.array(z.object({ id: z.string(), title: z.string() })).optional(),
    max_chars: z.int().optional(),
    last: z.object({ value: json, at: z.string() }).optional(),
    replaces: z.int().optional(),
    confirms: z.int().optional(),
    ...due,
  })
  .meta({ id: 'NextStep' });

const block = z.object({
  seq: z.int().describe('Which block this is, for resolve-block.'),
  reason: z.enum(['deviation', 'lock_released', 'asset_conflict', 'overdue']),
  step: z.string().optional(),
  title: z.string().optional(),
  message: z.string(),
  since: instant,
  told_again: z.int().optional(),
  told_next: instant.optional(),
  proposal: z
    .object({
      action_hash: digest,
      expires_at: instant.describe('Until when it can be decided.'),
      proposed_action: action,
      proposed_action_display: z.array(displayedField),
    })
    .optional()
    .describe('What it proposes, for somebody who took no part to decide.'),
  denied: z
    .object({
      action_hash: digest,
      decided_by: someone,
      via: actor.shape.via,
      at: instant,
    })
    .optional()
    .describe('Who denied what it proposed: from then on only resolve-block ends it.'),
});

/** Work on an asset. */
export const workflow = z
  .object({
    workflow_id: z.string(),
    status: z.enum(['created', 'running', 'blocked', 'completed']),
    procedure: z.string(),
    procedure_version: z.int(),
    title: z.string(),
    asset: z.string(),
    asset_type: z.string(),
    holder: someone,
    tenure: z.int().describe('Names the assignment, for hand-over and abandon.'),
    offered: z.boolean(),
    result: z.enum(['completed', 'abandoned']).optional(),
    block: block.optional(),
    done: z.int(),
    required: z.int(),
    steps: z.array(step),
    next_step: nextStep.optional(),
    ready_to_complete: z.boolean(),
    started_at: instant,
    updated_at: instant,
    ...due,
  })
  .meta({ id: 'Workflow' });

/** A list of work that is one page. */
export const workflowList = z
  .object({ items: z.array(workflow), more: z.boolean().describe('Whether there are more.') })
  .meta({ id: 'WorkflowList' });

/** The answer to a command: its receipt, and the work as it is now. */
export const workflowChanged = z
  .object({
    duplicate: z.boolean().describe('True: it had been done before.'),
    receipt: z.object({
      command: z.string(),
      result: z.string(),
      event: z.int().describe('Sequence of its event in the trail.'),
      at: instant,
      step: z.string().optional(),
      value: json.optional(),
      original: original.optional(),
      rule: z.string().optional(),
      to: z.string().optional(),
      to_name: z.string().optional(),
      action_hash: digest.optional(),
    }),
    workflow,
  })
  .meta({ id: 'WorkflowChanged' });

/** A page of a workflow's trail. */
export const workflowEventPage = page(
  z
    .object({
      seq: z.int().min(1),
      type: z.string(),
      at: instant,
      actor,
      data: jsonObject,
      redacted: z.boolean().describe('Whether a sensitive value is kept apart.'),
      prev: digest,
      hash: digest,
    })
    .meta({ id: 'WorkflowEvent' }),
)
  .extend({ workflow_id: z.string(), head: z.int() })
  .meta({ id: 'WorkflowEventPage' });

/** A procedure in a list. */
export const procedureSummary = z.object({
  procedure: z.string(),
  version: z.int(),
  title: z.string(),
  description: z.string(),
  asset_type: z.string(),
  asset_example: z.string(),
  steps: z.int(),
});

/** The procedures. */
export const procedureList = z
  .object({ items: z.array(procedureSummary) })
  .meta({ id: 'ProcedureList' });

/** The newest version of a procedure, as it was defined. */
export const procedure = z
  .looseObject({
    id: z.string(),
    version: z.int(),
    title: z.string(),
    description: z.string(),
    asset: jsonObject,
    steps: z.array(jsonObject),
  })
  .meta({ id: 'Procedure' });
