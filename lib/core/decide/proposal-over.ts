// A proposal that nobody decided on in time, or that is not the one its digest was made over (rule R7): it is
// taken out of its block, which stays for a resolution. Pure.
import { expiryOf } from '../timers.ts';
import type { RepairContext } from './lost-lock.ts';
import { standsFor, whoIsAsked, withoutProposal } from './proposal.ts';
import { tickPlan, type Tick, type TimedWork } from './tick.ts';

/** The tick of a proposal that is over. */
export function proposalOver(work: TimedWork, context: RepairContext): Tick | undefined {
  const { workflow, procedure } = work;
  const { block } = workflow;
  if (block?.proposal === undefined) return undefined;
  const { proposal } = block;
  const intact = standsFor(proposal, block, workflow);
  if (intact && context.now <= (expiryOf(proposal) ?? 0)) return undefined;
  const { action, action_hash } = proposal;
  const { expires_at } = action;
  const why = intact ? 'expired' : 'changed';
  return {
    finding: intact
      ? `nobody decided on what ${workflow.id} proposed in time`
      : `the proposal of ${workflow.id} was changed`,
    plan: tickPlan(work, context, {
      rule: 'R7',
      type: intact ? 'approval_expired' : 'proposal_withdrawn',
      data: intact
        ? { block: block.seq, action_hash, expires_at }
        : { block: block.seq, withdrawn: action_hash, why },
      notice: {
        on: 'approval_ended',
        audiences: whoIsAsked(procedure),
        payload: { block: block.seq, action_hash, why },
      },
      change: () => ({ block: withoutProposal(block) }),
    }),
  };
}
