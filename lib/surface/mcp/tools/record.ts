// The tool for steps: recording, correcting, confirming or skipping one, by exactly one kind of answer.
import * as z from 'zod';
import { refusalFor } from '../../../core/authorize.ts';
import { checkStep, STEP_FIELDS, stepCommand } from '../../step-arguments.ts';
import { idempotencyKey, workflowId } from '../arguments.ts';
import { recordOutput } from '../output.ts';
import { defineTool } from '../tool.ts';
import { named, runCommand } from './run-command.ts';

const input = z
  .strictObject({ workflow_id: workflowId, ...STEP_FIELDS, idempotency_key: idempotencyKey })
  .superRefine(checkStep);

/** Records, corrects, confirms or skips one step. */
export const recordStep = defineTool({
  name: 'record_step',
  title: 'Record a step',
  description:
    'Call this when a person gives the result of a step: a measured value, a choice, a remark, that something is done, or that an optional step is skipped. Give exactly one of the result arguments. A value out of bounds, or a step that is already recorded, is not written: the answer asks a question; put it to the person and, on a clear yes, call again with what that answer returned. Returns the receipt and the next step. After a lost answer repeat it with its idempotency_key.',
  input,
  output: recordOutput,
  effect: 'adds',
  refusal: (principal) => refusalFor(principal, 'record_step'),
  run: (kit, args, call) =>
    runCommand(kit, stepCommand(args, named(args.workflow_id)), args.idempotency_key, call),
});
