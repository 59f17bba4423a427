// The tools that only look: one workflow, the caller's own, the blocked ones.
import * as z from 'zod';
import {
  refusalForLooking,
  refusalForReading,
  refusalForSupervising,
} from '../../../core/authorize.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { Refusal } from '../../../core/outcome.ts';
import type { Found, ViewList } from '../../../core/queries.ts';
import { workflowId } from '../arguments.ts';
import { workflowOutput, workflowsOutput } from '../output.ts';
import { bounded } from '../schema.ts';
import { answerRefusal, done, fitting, workflowParts, workflowSummary } from '../structured.ts';
import { defineTool, type ToolAnswer, type ToolCall, type ToolKit } from '../tool.ts';

/** Shows one workflow with its steps. */
export const getWorkflow = defineTool({
  name: 'get_workflow',
  title: 'Where a workflow stands',
  description:
    'Call this when a person asks what is next, where they are, what was recorded, or what is going on at an asset. It only reads. Give workflow_id or asset, or neither for the one active work of the person; where several fit it returns choices to ask about. Returns state, steps and the next step.',
  input: z
    .strictObject({
      workflow_id: workflowId,
      asset: bounded(
        LIMITS.assetChars.max,
        'The asset (machine, equipment, unit, device, instrument, tag) whose active work is meant.',
      ).optional(),
    })
    .refine((args) => args.workflow_id === undefined || args.asset === undefined, {
      path: ['asset'],
      error: 'expected workflow_id or asset, not both',
    }),
  output: workflowOutput,
  effect: 'reads',
  refusal: refusalForLooking,
  run: async (kit, { workflow_id: workflow, asset }, call) => {
    const which = {
      ...(workflow !== undefined && { workflow }),
      ...(asset !== undefined && { asset }),
    };
    const found = await kit.queries.getWorkflow(call.principal, which, call.requestId);
    if (found.code !== 'FOUND') return answerRefusal(kit, found, call);
    const parts = { ...done(call), ...workflowParts(found.value, call) };
    const { shown, leftOut } = fitting(found.value.steps, parts);
    return {
      text: kit.speech.workflow(found.value),
      isError: false,
      structured: { ...parts, steps: shown, ...(leftOut > 0 && { left_out: leftOut }) },
    };
  },
});

/** Lists the caller's active workflows. */
export const listMyWorkflows = defineTool({
  name: 'list_my_workflows',
  title: 'List my workflows',
  description:
    'Call this when a person asks what they are working on, what is open or active, or what was handed over to them. It only reads. Returns the active work of the person, oldest first, each with its next step.',
  input: z.strictObject({}),
  output: workflowsOutput,
  effect: 'reads',
  refusal: refusalForReading,
  run: async (kit, _args, call) =>
    answerList(
      kit,
      await kit.queries.listMine(call.principal, call.requestId),
      (list) => kit.speech.mine(list),
      call,
    ),
});

/** Lists the blocked workflows of the tenant. */
export const listBlocked = defineTool({
  name: 'list_blocked',
  title: 'List blocked workflows',
  description:
    'Call this when a supervisor asks what is blocked, stopped, waiting or in need of a decision. It only reads. Returns the blocked work, oldest first, each with its block, which resolve_block needs.',
  input: z.strictObject({}),
  output: workflowsOutput,
  effect: 'reads',
  refusal: refusalForSupervising,
  run: async (kit, _args, call) =>
    answerList(
      kit,
      await kit.queries.listBlocked(call.principal, call.requestId),
      (list) => kit.speech.blocked(list),
      call,
    ),
});

function answerList(
  kit: ToolKit,
  found: Found<ViewList> | Refusal,
  speak: (list: ViewList) => string,
  call: ToolCall,
): ToolAnswer {
  if (found.code !== 'FOUND') return answerRefusal(kit, found, call);
  const entries = found.value.workflows.map((view) => ({
    ...workflowSummary(view, call),
    ...(view.next !== undefined && { next_step: view.next }),
  }));
  const { shown, leftOut } = fitting(entries, {});
  return {
    text: speak(found.value),
    isError: false,
    structured: { ...done(call), workflows: shown, more: found.value.more || leftOut > 0 },
  };
}
