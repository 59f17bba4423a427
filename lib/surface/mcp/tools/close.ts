// The tools that change who has a workflow, or end it: block, hand-over, completion, abandonment.
import * as z from 'zod';
import { refusalFor } from '../../../core/authorize.ts';
import { LIMITS } from '../../../core/limits.ts';
import { idempotencyKey, reason, sequence, workflowId } from '../arguments.ts';
import { commandOutput, endingOutput } from '../output.ts';
import { bounded } from '../schema.ts';
import { defineTool } from '../tool.ts';
import { named, runCommand } from './run-command.ts';

const tenure = sequence('tenure of the answer that asked, after a yes. Leave it out to be asked.');

/** Decides a block. */
export const resolveBlock = defineTool({
  name: 'resolve_block',
  title: 'Resolve a block',
  description:
    'Call this when a supervisor decides about blocked (stopped, held) work. Read the reason of the block out first, and take the decision only from the person. Abandoning ends the work and frees the asset. Returns the receipt and the next step. After a lost answer repeat it with its idempotency_key.',
  input: z.strictObject({
    workflow_id: workflowId,
    block: z.int().min(1).describe('Which block: seq of block in the workflow.'),
    decision: z
      .enum(['continue', 'retake', 'abandon'])
      .describe(
        'continue: accept (allow, release) the value. retake: repeat the step. abandon: end (stop, cancel) the work.',
      ),
    reason,
    idempotency_key: idempotencyKey,
  }),
  output: commandOutput,
  effect: 'ends',
  refusal: (principal) => refusalFor(principal, 'resolve_block'),
  run: (kit, { workflow_id: workflow, idempotency_key: key, ...args }, call) =>
    runCommand(kit, { type: 'resolve_block', ...named(workflow), ...args }, key, call),
});

/** Gives a workflow to another person. */
export const handOver = defineTool({
  name: 'hand_over',
  title: 'Hand work over',
  description:
    'Call this when a person wants to hand over, pass on, transfer or assign work to a colleague, for example at the end of a shift. The first call asks whether that is right; after a clear yes call again with the tenure and the to of that answer. Returns the receipt. After a lost answer repeat it with its idempotency_key.',
  input: z.strictObject({
    workflow_id: workflowId,
    to: bounded(
      LIMITS.subjectChars.max,
      'Who takes it over (colleague, receiver, next shift): a person who has signed in before; in the second call the to of the answer.',
    ),
    tenure,
    idempotency_key: idempotencyKey,
  }),
  output: endingOutput,
  effect: 'adds',
  refusal: (principal) => refusalFor(principal, 'hand_over'),
  run: (kit, { workflow_id: workflow, idempotency_key: key, to, tenure: ends }, call) =>
    runCommand(
      kit,
      { type: 'hand_over', ...named(workflow), to, ...(ends !== undefined && { tenure: ends }) },
      key,
      call,
    ),
});

/** Completes a workflow. */
export const completeWorkflow = defineTool({
  name: 'complete_workflow',
  title: 'Complete a workflow',
  description:
    'Call this when all steps are done and the person says that the work is complete, finished or done. It frees the asset. It is refused while a required step is open, and says which. To stop before the end use abandon_workflow instead. After a lost answer repeat it with its idempotency_key.',
  input: z.strictObject({ workflow_id: workflowId, idempotency_key: idempotencyKey }),
  output: commandOutput,
  effect: 'adds',
  refusal: (principal) => refusalFor(principal, 'complete_workflow'),
  run: (kit, { workflow_id: workflow, idempotency_key: key }, call) =>
    runCommand(kit, { type: 'complete_workflow', ...named(workflow) }, key, call),
});

/** Ends a workflow before its end. */
export const abandonWorkflow = defineTool({
  name: 'abandon_workflow',
  title: 'Abandon a workflow',
  description:
    'Call this only when a person clearly wants to give up, cancel or stop work before it is finished. It ends the work and frees the asset; it cannot be undone. The first call asks whether that is right; after a clear yes call again with the tenure of that answer. After a lost answer repeat it with its idempotency_key.',
  input: z.strictObject({
    workflow_id: workflowId,
    tenure,
    reason,
    idempotency_key: idempotencyKey,
  }),
  output: endingOutput,
  effect: 'ends',
  refusal: (principal) => refusalFor(principal, 'abandon_workflow'),
  run: (kit, { workflow_id: workflow, idempotency_key: key, reason: why, tenure: ends }, call) =>
    runCommand(
      kit,
      {
        type: 'abandon_workflow',
        ...named(workflow),
        reason: why,
        ...(ends !== undefined && { tenure: ends }),
      },
      key,
      call,
    ),
});
