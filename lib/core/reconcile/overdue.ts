// R6: times of a workflow that have passed. Each is ticked once, whoever finds it, however late: what has
// been told stands in the aggregate. A deadline changes a state only where its procedure says `block`.
import { deadlinesPassed } from '../decide/deadlines-passed.ts';
import { blockEscalated, idleReminded } from '../decide/told-again.ts';
import type { RuleFunction } from './rules.ts';

/** The rule. A deadline goes first: it may block the work, and then nobody is reminded of it. */
export const overdue: RuleFunction = ({ workflow, procedure }, context) => {
  if (workflow.state === 'COMPLETED') return undefined;
  const work = { workflow, procedure };
  const tick =
    deadlinesPassed(work, context) ?? blockEscalated(work, context) ?? idleReminded(work, context);
  if (tick === undefined) return undefined;
  return { rule: 'R6', finding: tick.finding, work: { kind: 'plan', plan: tick.plan } };
};
