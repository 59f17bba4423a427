// R7 of a workflow: what its block proposed and nobody decided on in time. The block stays.
import { proposalOver } from '../decide/proposal-over.ts';
import type { RuleFunction } from './rules.ts';

/** The rule. */
export const undecided: RuleFunction = ({ workflow, procedure }, context) => {
  const tick = proposalOver({ workflow, procedure }, context);
  if (tick === undefined) return undefined;
  return { rule: 'R7', finding: tick.finding, work: { kind: 'plan', plan: tick.plan } };
};
