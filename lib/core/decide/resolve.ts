// A supervisor ends a named block. An answer to a block that is over is never applied to another.
// Going on after the asset was lost takes the lock again in the same transaction (I1).
import type { ResolveBlock } from '../model/commands.ts';
import type { Procedure } from '../model/procedure.ts';
import {
  holdsAsset,
  type Block,
  type Lock,
  type ReceiptResult,
  type Workflow,
} from '../model/workflow.ts';
import { viewOf } from '../view.ts';
import {
  commitChange,
  endings,
  invalid,
  refuse,
  type DecideContext,
  type Decision,
} from './decision.ts';
import { goesOn } from './go-on.ts';
import { withdrawn } from './proposal.ts';

const RESULT: { readonly [D in ResolveBlock['decision']]: ReceiptResult } = {
  continue: 'continued',
  retake: 'reopened',
  abandon: 'abandoned',
};

/** Decides the resolution of a block. */
export function decideResolve(
  state: {
    readonly workflow: Workflow;
    readonly procedure: Procedure;
    readonly lock: Lock | undefined;
  },
  command: ResolveBlock,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
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
  const lost = !holdsAsset(workflow);
  if (!lost && tookPart(workflow, principal.subject) && command.decision === 'continue') {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', workflow: viewOf(workflow, procedure) });
  }
  if (block.reason !== 'deviation') return decideUnrecorded({ ...state, block }, command, context);
  const { step = '' } = block;
  const slot = workflow.steps[step];
  if (slot === undefined) return invalid('/block', 'expected a block of a recorded step');
  const { decision } = command;
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'block_resolved',
      data: { block: block.seq, reason: command.reason, ...withdrawn(block) },
    },
    receipt: { command: 'resolve_block', result: RESULT[decision], step },
    change: (seq) => ({
      set:
        decision === 'abandon'
          ? { state: 'COMPLETED', result: 'abandoned', ended_seq: seq }
          : { state: 'RUNNING' },
      remove: ['block'],
      ...(decision === 'retake' && {
        steps: { [step]: { ...slot, status: 'retake' as const } },
      }),
    }),
    ...(decision === 'abandon' && endings(workflow, context.now)),
  });
}

/** Decides a block that no record caused: going on, with the asset taken again if it was lost, or the end. */
function decideUnrecorded(
  {
    workflow,
    procedure,
    lock,
    block,
  }: {
    readonly workflow: Workflow;
    readonly procedure: Procedure;
    readonly lock: Lock | undefined;
    readonly block: Block;
  },
  { decision, reason }: ResolveBlock,
  context: DecideContext,
): Decision {
  if (decision === 'retake') {
    return invalid('/decision', 'expected continue or abandon, because no step is to be repeated');
  }
  const common = {
    workflow,
    procedure,
    event: {
      type: 'block_resolved',
      data: { block: block.seq, reason, ...withdrawn(block) },
    },
    receipt: { command: 'resolve_block', result: RESULT[decision] },
  } as const;
  if (decision === 'abandon') {
    return commitChange(context, {
      ...common,
      change: (seq) => ({
        set: { state: 'COMPLETED', result: 'abandoned', ended_seq: seq },
        remove: ['block'],
      }),
      ...endings(workflow, context.now),
    });
  }
  const goes = goesOn({ workflow, lock, block }, context);
  return 'kind' in goes ? goes : commitChange(context, { ...common, ...goes });
}

/** Nobody accepts a deviation in work they hold, recorded in, or confirmed as second person. */
function tookPart({ block, holder, steps }: Workflow, subject: string): boolean {
  const people = Object.values(steps).flatMap(({ by, witness }) => [by, witness?.by]);
  return [block?.by, holder.subject, ...people].includes(subject);
}
