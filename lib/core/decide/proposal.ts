// What a block proposes where its procedure says so: that the work goes on, for somebody else to approve.
// It is the same action under the same digest as a run's, bound to this very block. Pure.
import { itemBytes } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import type { Json } from '../json.ts';
import type { Procedure } from '../model/procedure.ts';
import type { Action, Proposal } from '../model/run.ts';
import type { Block, Workflow } from '../model/workflow.ts';
import { actionHash, isIntact, writeKey } from '../runs/action.ts';
import { audiencesOf, type Notice, type Payload } from './decision.ts';

/** The type of the one action that a block proposes. */
export const CONTINUE = 'procedure.continue';

const MINUTE_MS = 60_000;

/** Which block of which work proposes something, and on whose request. */
export interface Proposing {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly on: NonNullable<Procedure['approval']>['on'][number];
  /** Subject of whoever asks that it goes on. */
  readonly requester: string;
  /** What was found, as it is bound; nothing sensitive. */
  readonly found: { readonly [name: string]: Json };
}

/**
 * The proposal of the block that the next event makes at `now` (epoch milliseconds); undefined where the
 * procedure wants none. A state without room for one, or a trail without room for the decision, is blocked all
 * the same: no block waits for a proposal.
 */
export function proposalOf(
  { workflow, procedure, on, requester, found }: Proposing,
  now: number,
): Proposal | undefined {
  const { approval } = procedure;
  if (approval?.on.includes(on) !== true) return undefined;
  const { previous: _, ...state } = workflow;
  if (itemBytes(state) + LIMITS.actionBytes.max > LIMITS.stateBytes.max) return undefined;
  const seq = workflow.head_seq + 1;
  if (seq >= LIMITS.eventsPerWorkflow.max) return undefined;
  const until = new Date(now + approval.expires_minutes * MINUTE_MS).toISOString();
  const action: Action = {
    type: CONTINUE,
    target: workflow.asset,
    arguments: { workflow: workflow.id, block: seq, ...found },
    evidence: [],
    policy_version: `${procedure.id}@${procedure.version}`,
    idempotency_key: writeKey(workflow.tenant, `${workflow.id}\n${seq}`),
    requester,
    expires_at: until,
    // The approval is what carries it out: nothing is sent later.
    not_after: until,
  };
  return { action, action_hash: actionHash(action), seq, at: new Date(now).toISOString() };
}

/** What the event of a block says of its proposal. */
export function proposedIn(proposal: Proposal | undefined): { readonly [name: string]: Json } {
  if (proposal === undefined) return {};
  const { action, action_hash } = proposal;
  return { proposal: { action: { ...action } as unknown as Json, action_hash } };
}

/** What the notification of a block says of its proposal; who is asked is told of the block too. */
export function askedFor(
  proposal: Proposal | undefined,
  procedure: Procedure,
  ...on: readonly Notice['on'][]
): { readonly audiences: readonly string[]; readonly payload: Payload } {
  const audiences = audiencesOf(procedure, ...on);
  if (proposal === undefined) return { audiences, payload: {} };
  const { action, action_hash } = proposal;
  return {
    audiences: [...new Set([...audiences, ...whoIsAsked(procedure)])],
    payload: { action_hash, expires_at: action.expires_at },
  };
}

/** Who is told what became of a proposal. */
export const whoIsAsked = ({ approval }: Procedure): readonly string[] =>
  approval === undefined ? [] : [approval.notify];

/** Whether a stored proposal is the one that its digest was made over, and that of this very block. */
export function standsFor(proposal: Proposal, { seq }: Block, { id, asset }: Workflow): boolean {
  const { type, target, arguments: args } = proposal.action;
  const own = args['workflow'] === id && args['block'] === seq;
  return own && type === CONTINUE && target === asset && isIntact(proposal);
}

/** A block without what it proposed. */
export function withoutProposal(block: Block): Block {
  const { proposal: _, ...rest } = block;
  return rest;
}

/** What an event that closes a block some other way says of what it proposed. */
export const withdrawn = (block: Block | undefined): { readonly withdrawn?: string } =>
  block?.proposal === undefined ? {} : { withdrawn: block.proposal.action_hash };
