// What decisions share about the lock of an asset: who is in the way, and how it is taken again.
import { FORMAT, type Lock, type Workflow } from '../model/workflow.ts';
import type { LockPlan } from '../plan.ts';
import { refuse, type DecideContext, type Refused } from './decision.ts';

/** The refusal of an asset that somebody holds. */
export function busy(lock: Lock, context: DecideContext): Refused {
  return refuse({
    code: 'ASSET_BUSY',
    asset: lock.asset,
    holder: lock.name ?? 'someone',
    mine: lock.subject === context.principal.subject,
    procedure: context.registry.find(lock.procedure ?? '')?.title ?? 'another procedure',
    since: lock.since ?? new Date(context.now).toISOString(),
  });
}

/** Takes a free lock for a workflow that had it before, under a new fence. */
export function takenAgain(
  { tenant, id, asset, procedure, holder, fence }: Workflow,
  lock: Lock | undefined,
  now: number,
): Extract<LockPlan, { readonly op: 'take' }> {
  const { subject, name } = holder;
  const next = Math.max(lock?.fence ?? 0, fence) + 1;
  const since = new Date(now).toISOString();
  const held = { workflow: id, procedure, subject, name, since };
  return {
    op: 'take',
    lock: { format: FORMAT, tenant, asset, fence: next, held: true, ...held },
    freeAt: lock?.fence,
  };
}
