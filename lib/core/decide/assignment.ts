// Commands that end an assignment: handing over, abandoning, completing.
// Hand-over and abandon name the tenure they end, so that a late repeat never ends another one.
import { signQuestion, verifyQuestion, type Asked } from '../confirmation.ts';
import type { AbandonWorkflow, CompleteWorkflow, HandOver } from '../model/commands.ts';
import type { Procedure } from '../model/procedure.ts';
import {
  FORMAT,
  holdsAsset,
  type EventType,
  type Profile,
  type Workflow,
} from '../model/workflow.ts';
import { missingSteps, viewOf } from '../view.ts';
import {
  closedFor,
  commitChange,
  endings,
  notAsked,
  notAssigned,
  refuse,
  type DecideContext,
  type Decision,
} from './decision.ts';

/** What these commands look at. */
export interface AssignmentState {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
}

/** Decides a hand-over to a person the tenant has seen. */
export function decideHandOver(
  state: AssignmentState & { readonly to: Profile },
  command: HandOver,
  context: DecideContext,
): Decision {
  const { workflow, procedure, to } = state;
  const { tenant, id, asset, fence } = workflow;
  const about = asked(context, { command: command.type, to: command.to });
  const said = answered(state, command, about, context, to.subject);
  if (command.answer !== undefined && said === undefined) return notAsked();
  const tenure = command.tenure ?? said?.basis;
  const over = ended(state, tenure, context, 'workflow_handed_over', to.subject);
  if (over !== undefined) return over;
  if (said?.late === true) return notAsked();
  const stop = notEntitled(state, context);
  if (stop !== undefined) return stop;
  if (workflow.state === 'COMPLETED') {
    return refuse({ code: 'WORKFLOW_COMPLETED', workflow: viewOf(workflow, procedure) });
  }
  if (to.subject === workflow.holder.subject) return { kind: 'duplicate', seq: workflow.tenure };
  // A name may mean somebody else by the second call: a yes counts for the account it was asked for.
  const named = said !== undefined || command.to === to.subject;
  if (tenure === undefined || !named) return askForTenure(state, about, context, to);
  const { subject, name } = to;
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'workflow_handed_over',
      data: { tenure: workflow.tenure, from: workflow.holder.subject },
    },
    receipt: { command: 'hand_over', result: 'handed_over', to: subject, to_name: name },
    change: (seq) => ({ set: { holder: { subject, name }, tenure: seq, offered: true } }),
    locks: holdsAsset(workflow)
      ? [{ op: 'hand_over', asset, workflow: id, fence, subject, name }]
      : [],
    pointers: [
      { op: 'remove', subject: workflow.holder.subject },
      {
        op: 'add',
        pointer: {
          format: FORMAT,
          tenant,
          subject,
          workflow: id,
          asset,
          procedure: workflow.procedure,
          since: new Date(context.now).toISOString(),
        },
      },
    ],
  });
}

/** Decides an early end. A blocked workflow is ended by resolving its block. */
export function decideAbandon(
  state: AssignmentState,
  command: AbandonWorkflow,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
  const about = asked(context, { command: command.type, reason: command.reason });
  const said = answered(state, command, about, context);
  if (command.answer !== undefined && said === undefined) return notAsked();
  const tenure = command.tenure ?? said?.basis;
  const over = ended(state, tenure, context, 'workflow_abandoned', undefined);
  if (over !== undefined) return over;
  if (said?.late === true) return notAsked();
  const stop = notEntitled(state, context) ?? closedFor(state.workflow, state.procedure);
  if (stop !== undefined) return stop;
  if (tenure === undefined) return askForTenure(state, about, context);
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'workflow_abandoned',
      data: { tenure: workflow.tenure, reason: command.reason },
    },
    receipt: { command: 'abandon_workflow', result: 'abandoned' },
    change: (seq) => ({ set: { state: 'COMPLETED', result: 'abandoned', ended_seq: seq } }),
    ...endings(workflow, context.now),
  });
}

/** Decides the regular end. Completing what is complete is the same receipt again. */
export function decideComplete(
  state: AssignmentState,
  _command: CompleteWorkflow,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
  if (workflow.holder.subject !== context.principal.subject) return notAssigned(state);
  if (workflow.result === 'completed' && workflow.ended_seq !== undefined) {
    return { kind: 'duplicate', seq: workflow.ended_seq };
  }
  const stop = closedFor(state.workflow, state.procedure);
  if (stop !== undefined) return stop;
  const missing = missingSteps(procedure, workflow);
  if (missing.length > 0) {
    return refuse({ code: 'STEPS_MISSING', missing, workflow: viewOf(workflow, procedure) });
  }
  return commitChange(context, {
    workflow,
    procedure,
    event: { type: 'workflow_completed', data: {} },
    receipt: { command: 'complete_workflow', result: 'completed' },
    change: (seq) => ({ set: { state: 'COMPLETED', result: 'completed', ended_seq: seq } }),
    ...endings(workflow, context.now),
  });
}

/** Looks for the command's own effect where the tenure it names has ended. */
function ended(
  { workflow, procedure }: AssignmentState,
  tenure: number | undefined,
  context: DecideContext,
  type: EventType,
  to: string | undefined,
): Decision | undefined {
  if (tenure === undefined) return undefined;
  if (tenure === workflow.tenure && workflow.state !== 'COMPLETED') return undefined;
  return {
    kind: 'search',
    after: tenure,
    matches: (event) =>
      event.type === type &&
      event.data['tenure'] === tenure &&
      event.data['to'] === to &&
      event.actor.subject === context.principal.subject,
    otherwise: !entitled(workflow, context)
      ? {
          code: 'NOT_ASSIGNED',
          holder: workflow.holder.name,
          workflow: viewOf(workflow, procedure),
        }
      : tenure === workflow.tenure
        ? { code: 'WORKFLOW_COMPLETED', workflow: viewOf(workflow, procedure) }
        : {
            code: 'STALE_REFERENCE',
            names: 'assignment',
            given: tenure,
            current: workflow.tenure,
            workflow: viewOf(workflow, procedure),
          },
  };
}

function notEntitled(state: AssignmentState, context: DecideContext): Decision | undefined {
  return entitled(state.workflow, context) ? undefined : notAssigned(state);
}

function entitled({ holder }: Workflow, { principal }: DecideContext): boolean {
  return holder.subject === principal.subject || principal.scopes.has('procedures:supervise');
}

/** Whom and what a question about ending an assignment is bound to: the arguments as sent. */
function asked({ principal }: DecideContext, value: { readonly [name: string]: string }): Asked {
  return { tenant: principal.tenant, subject: principal.subject, step: '', value };
}

/** The answer to that question, if this is the call that was asked about. */
function answered(
  { workflow }: AssignmentState,
  { answer }: HandOver | AbandonWorkflow,
  about: Asked,
  { confirmationSecret, now }: DecideContext,
  to?: string,
) {
  if (answer === undefined) return undefined;
  const said = verifyQuestion(confirmationSecret, about, answer.state, now);
  if (said?.question !== 'end' || said.workflow !== workflow.id) return undefined;
  return said.to === to ? said : undefined;
}

function askForTenure(
  { workflow, procedure }: AssignmentState,
  about: Asked,
  { confirmationSecret, now }: DecideContext,
  to?: Profile,
): Decision {
  const occasion = {
    question: 'end' as const,
    workflow: workflow.id,
    basis: workflow.tenure,
    ...(to !== undefined && { to: to.subject }),
  };
  return refuse({
    code: 'NEEDS_CONFIRMATION',
    reason: 'ends_assignment',
    ...(to !== undefined && { to: to.name, to_subject: to.subject }),
    state: signQuestion(confirmationSecret, about, occasion, now),
    tenure: workflow.tenure,
    workflow: viewOf(workflow, procedure),
  });
}
