// A supervisor ends a named block. An answer to a block that is over is never applied to another.
import type { ResolveBlock } from '../model/commands.ts';
import type { Procedure } from '../model/procedure.ts';
import type { ReceiptResult, Workflow } from '../model/workflow.ts';
import { viewOf } from '../view.ts';
import {
  commitChange,
  endings,
  invalid,
  refuse,
  type DecideContext,
  type Decision,
} from './decision.ts';

const RESULT: { readonly [D in ResolveBlock['decision']]: ReceiptResult } = {
  continue: 'continued',
  retake: 'reopened',
  abandon: 'abandoned',
};

/** Decides the resolution of a block. */
export function decideResolve(
  { workflow, procedure }: { readonly workflow: Workflow; readonly procedure: Procedure },
  command: ResolveBlock,
  context: DecideContext,
): Decision {
  const { principal } = context;
  const { block } = workflow;
  if (block === undefined || block.seq !== command.block) {
    return {
      kind: 'search',
      after: command.block,
      matches: ({ data, actor }) =>
        data['block'] === command.block &&
        data['result'] === RESULT[command.decision] &&
        actor.subject === principal.subject,
      otherwise: {
        code: 'STALE_REFERENCE',
        names: 'block',
        given: command.block,
        ...(block !== undefined && { current: block.seq }),
        workflow: viewOf(workflow, procedure),
      },
    };
  }
  if (tookPart(workflow, principal.subject) && command.decision === 'continue') {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', workflow: viewOf(workflow, procedure) });
  }
  const slot = workflow.steps[block.step];
  if (slot === undefined) return invalid('/block', 'expected a block of a recorded step');
  const { decision } = command;
  return commitChange(context, {
    workflow,
    procedure,
    event: { type: 'block_resolved', data: { block: block.seq, reason: command.reason } },
    receipt: { command: 'resolve_block', result: RESULT[decision], step: block.step },
    change: (seq) => ({
      set:
        decision === 'abandon'
          ? { state: 'COMPLETED', result: 'abandoned', ended_seq: seq }
          : { state: 'RUNNING' },
      remove: ['block'],
      ...(decision === 'retake' && {
        steps: { [block.step]: { ...slot, status: 'retake' as const } },
      }),
    }),
    ...(decision === 'abandon' && endings(workflow, context.now)),
  });
}

/** Nobody accepts a deviation in work they hold, recorded in, or confirmed as second person. */
function tookPart({ block, holder, steps }: Workflow, subject: string): boolean {
  const people = Object.values(steps).flatMap(({ by, witness }) => [by, witness?.by]);
  return [block?.by, holder.subject, ...people].includes(subject);
}
