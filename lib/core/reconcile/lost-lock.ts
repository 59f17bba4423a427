// R5: work that ought to hold its asset and does not. It gets the lock back; where another workflow
// holds the asset by right, it is blocked and somebody is told.
import { assetConflict, ownsLock, restoredLock } from '../decide/lost-lock.ts';
import { holdsAsset } from '../model/workflow.ts';
import { isOrphaned } from './orphan-lock.ts';
import type { RuleFunction } from './rules.ts';

/** The rule. */
export const lostLock: RuleFunction = ({ workflow, procedure, lock, holder }, context) => {
  if (!holdsAsset(workflow) || ownsLock(workflow, lock)) return undefined;
  const { asset, id } = workflow;
  const situation = { workflow, procedure, lock };
  if (lock?.held !== true || lock.workflow === undefined || lock.workflow === id) {
    const finding = `${id} has lost the lock of ${asset}`;
    return { rule: 'R5', finding, work: { kind: 'plan', plan: restoredLock(situation, context) } };
  }
  // A lock that was left behind is released first.
  if (isOrphaned(lock, holder)) return undefined;
  const finding = `${asset} of ${id} is held by ${lock.workflow}`;
  return {
    rule: 'R5',
    finding,
    work: { kind: 'plan', plan: assetConflict(situation, lock, context) },
  };
};
