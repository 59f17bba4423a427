// A person's decision on what a block proposes. The transaction that approves is the one that lets the work
// go on, so the approval is spent by it; a denial leaves the block to a resolution. Pure.
// Invariant I7: nothing goes on by approval but under exactly the digest that was decided on, by a person who
// neither asked for it nor worked on it.
import { sameDigest } from '../canonical.ts';
import type { DecideProposal } from '../model/commands.ts';
import type { Procedure } from '../model/procedure.ts';
import type { Principal } from '../model/principal.ts';
import type { Approval, Proposal } from '../model/run.ts';
import type { Block, Lock, Workflow } from '../model/workflow.ts';
import { DIGEST } from '../runs/action.ts';
import { INVOLVED } from '../runs/authorize.ts';
import { viewOf } from '../view.ts';
import {
  commitChange,
  invalid,
  refuse,
  type Change,
  type DecideContext,
  type Decision,
} from './decision.ts';
import { goesOn } from './go-on.ts';
import type { History, Settled } from './history.ts';
import { standsFor, whoIsAsked, withoutProposal } from './proposal.ts';

/** What a decision looks at, as of one version of the workflow. */
export interface ProposalState {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly lock: Lock | undefined;
  readonly history: History;
}

/** Decides on an approval or a denial. */
export function decideProposal(
  state: ProposalState,
  command: DecideProposal,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
  const { approved, action_hash } = command;
  if (!DIGEST.test(action_hash)) {
    const message = 'expected the full digest of the action: 64 lower-case hex digits';
    return invalid('/action_hash', message);
  }
  const open = openFor(state, command, context);
  if ('kind' in open) return open;
  const { block, proposal } = open;
  const { expires_at, not_after } = proposal.action;
  const decision = approved ? 'approved' : 'denied';
  const goes = approved
    ? goesOn({ ...state, block }, context)
    : { change: deniedIn(block, proposal, context.principal) };
  if ('kind' in goes) return goes;
  const step = block.step === undefined ? {} : { step: block.step };
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: approved ? 'action_approved' : 'action_denied',
      data: { block: block.seq, expires_at, not_after },
    },
    receipt: { command: 'decide_approval', result: decision, action_hash, ...step },
    ...goes,
    notify: {
      on: 'approval_decided',
      audiences: whoIsAsked(procedure),
      payload: { block: block.seq, decision, action_hash, ...step },
    },
  });
}

/** The proposal that somebody may decide on now under the digest they gave, or why there is none. */
function openFor(
  state: ProposalState,
  command: DecideProposal,
  context: DecideContext,
): { readonly block: Block; readonly proposal: Proposal } | Decision {
  const { workflow, history } = state;
  const { action_hash } = command;
  const { block } = workflow;
  const proposal = block?.proposal;
  const { subject } = context.principal;
  if (history.people.has(subject) || proposal?.action.requester === subject) {
    return refuse(INVOLVED);
  }
  const settled = history.settled.get(action_hash);
  if (settled !== undefined) return settledBefore(state, settled, command, context);
  if (
    block === undefined ||
    proposal === undefined ||
    !standsFor(proposal, block, workflow) ||
    !sameDigest(proposal.action_hash, action_hash)
  ) {
    return stale(state, action_hash);
  }
  const { expires_at } = proposal.action;
  if (context.now > Date.parse(expires_at)) return expired(state, expires_at);
  return { block, proposal };
}

/** The block stays and keeps who denied; what it proposed is gone. */
function deniedIn(
  block: Block,
  { action, action_hash }: Proposal,
  { subject, name, via }: Principal,
): Change['change'] {
  const { expires_at, not_after } = action;
  const who = { action_hash, subject, name, via, expires_at, not_after };
  return (seq, at) => {
    const denied: Approval = { decision: 'denied', ...who, at, seq, spent: false };
    return { set: { block: { ...withoutProposal(block), denied } } };
  };
}

/** The same decision again is its stored answer; any other learns what became of the action. */
function settledBefore(
  state: ProposalState,
  settled: Settled,
  { approved, action_hash }: DecideProposal,
  { principal }: DecideContext,
): Decision {
  if (settled.end === 'withdrawn') return stale(state, action_hash);
  if (settled.end === 'expired') return expired(state, settled.expires_at);
  const { decision, subject: by, name, at, seq } = settled;
  const again = by === principal.subject && decision === (approved ? 'approved' : 'denied');
  if (again) return { kind: 'duplicate', seq };
  const { workflow, procedure } = state;
  const view = viewOf(workflow, procedure);
  return refuse({ code: 'ALREADY_DECIDED', decision, by, name, at, action_hash, workflow: view });
}

function stale({ workflow, procedure }: ProposalState, given: string): Decision {
  const current = workflow.block?.proposal?.action_hash;
  return refuse({
    code: 'STALE_PROPOSAL',
    given,
    ...(current !== undefined && { current }),
    workflow: viewOf(workflow, procedure),
  });
}

const expired = ({ workflow, procedure }: ProposalState, expires_at: string): Decision =>
  refuse({ code: 'APPROVAL_EXPIRED', expires_at, workflow: viewOf(workflow, procedure) });
