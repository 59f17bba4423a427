// R4: a lock whose workflow is at its end, is gone, lost it, or is on another asset. It is released,
// guarded by its fence and by the state of that workflow.
import { appended, appendedPlan } from '../decide/appended.ts';
import type { RepairContext } from '../decide/lost-lock.ts';
import { holdsAsset, type Lock, type Workflow } from '../model/workflow.ts';
import { lockWrite, type CommitPlan } from '../plan.ts';
import type { Write } from '../ports/storage.ts';
import type { RuleFunction } from './rules.ts';

/** Whether a workflow has no claim to a lock that names it. */
export function isOrphaned(lock: Lock, workflow: Workflow | undefined): boolean {
  return workflow === undefined || workflow.asset !== lock.asset || !holdsAsset(workflow);
}

/** The rule. */
export const orphanLock: RuleFunction = ({ workflow, lock, holder }, context) => {
  if (lock?.held !== true || lock.workflow === undefined) return undefined;
  const named = lock.workflow === workflow.id ? workflow : holder;
  if (!isOrphaned(lock, named)) return undefined;
  const { asset } = lock;
  if (named === undefined) {
    const finding = `the lock of ${asset} names a workflow that is gone`;
    return { rule: 'R4', finding, work: { kind: 'writes', writes: released(lock, lock.workflow) } };
  }
  const finding = `the lock of ${asset} was left behind by ${named.id}`;
  return { rule: 'R4', finding, work: { kind: 'plan', plan: releasePlan(named, lock, context) } };
};

function releasePlan(named: Workflow, lock: Lock, context: RepairContext): CommitPlan {
  const { asset, fence } = lock;
  const data = { asset, fence, rule: 'R4' };
  const appendix = appended(named, context, 'orphan_lock_released', data);
  return appendedPlan(named, context, appendix, {
    locks: [{ op: 'release', asset, workflow: named.id, fence }],
  });
}

function released({ tenant, asset, fence }: Lock, workflow: string): readonly Write[] {
  return [
    lockWrite(tenant, { op: 'release', asset, workflow, fence }),
    { op: 'absent', key: { kind: 'workflow', tenant, id: workflow } },
  ];
}
