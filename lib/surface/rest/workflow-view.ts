// Work under the names of this surface, and refusals of commands on it as problem details.
import type * as z from 'zod';
import type { Receipt } from '../../core/model/workflow.ts';
import type { Refusal } from '../../core/outcome.ts';
import type { WorkflowView } from '../../core/view.ts';
import { problem } from '../reply.ts';
import { refused } from './answers.ts';
import type { workflow } from './shapes/workflows.ts';

type Status = z.input<typeof workflow>['status'];

/** Work on an asset. */
export function workView(view: WorkflowView) {
  const {
    workflow: id,
    version: _,
    state,
    holder: name,
    holder_subject,
    steps,
    next,
    ...rest
  } = view;
  return {
    workflow_id: id,
    status: state.toLowerCase() as Status,
    holder: { subject: holder_subject, name },
    ...rest,
    steps,
    ...(next !== undefined && { next_step: next }),
  };
}

/** The receipt of a command. */
export function workReceipt({ workflow: _, seq, ...rest }: Receipt) {
  return { ...rest, event: seq };
}

const TITLES: { readonly [code: string]: string } = {
  AMBIGUOUS: 'several fit: one of the choices has to be named',
  NOT_ASSIGNED: 'somebody else is assigned to it',
  STALE_REFERENCE: 'what it names is over',
  ASSET_BUSY: 'the asset is in use',
  WORKFLOW_COMPLETED: 'the work has ended',
  WORKFLOW_BLOCKED: 'the work is blocked',
  SECOND_PERSON_REQUIRED: 'another person has to do this',
  NOT_SKIPPABLE: 'the step cannot be skipped',
  STEP_NOT_READY: 'earlier steps come first',
  STEPS_MISSING: 'required steps are open',
  NEEDS_CONFIRMATION: 'send it again with what is given here, once a person has said yes',
};

/** Why a command was not carried out, with what a second call gives back. */
export function refusedWork(refusal: Refusal): Response {
  const title = TITLES[refusal.code];
  if (title === undefined) return refused(refusal);
  return problem(409, refusal.code, title, membersOf(refusal));
}

function membersOf(refusal: Refusal): { readonly [member: string]: unknown } {
  switch (refusal.code) {
    case 'AMBIGUOUS': {
      const { about, choices, people, total } = refusal;
      const work = choices.map(({ workflow: workflow_id, ...choice }) => ({
        workflow_id,
        ...choice,
      }));
      return { about: { about }, choices: people ?? work, total };
    }
    case 'NEEDS_CONFIRMATION': {
      const {
        code: _,
        state: _state,
        confirmation,
        to_subject: to,
        workflow: view,
        ...rest
      } = refusal;
      const { replaces, confirms, tenure, to: to_name, ...told } = rest;
      return {
        about: { ...told, ...(to_name !== undefined && { to_name }) },
        ...(confirmation !== undefined && { confirmation_token: confirmation }),
        ...(replaces !== undefined && { replaces }),
        ...(confirms !== undefined && { confirms }),
        ...(tenure !== undefined && { tenure }),
        ...(to !== undefined && { to }),
        workflow: workView(view),
      };
    }
    default: {
      const { code: _, ...rest } = refusal;
      if (!('workflow' in rest)) return { about: rest };
      const { workflow: view, ...told } = rest;
      return { about: told, workflow: workView(view) };
    }
  }
}
