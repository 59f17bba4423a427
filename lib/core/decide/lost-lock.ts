// Work that loses its asset, or gets it back, by another hand than its own: a forced release, and the
// repairs of rule R5. State and lock move in one transaction (I1). Pure.
import type { Procedure } from '../model/procedure.ts';
import {
  holdsAsset,
  type Block,
  type BlockReason,
  type EventType,
  type Lock,
  type Workflow,
} from '../model/workflow.ts';
import type { CommitPlan, LockPlan } from '../plan.ts';
import { timesAfter } from '../timers.ts';
import { takenAgain } from './asset-lock.ts';
import { appended, appendedPlan, type AppendContext } from './appended.ts';
import { notifications } from './decision.ts';
import { withdrawn, withoutProposal } from './proposal.ts';

/** On whose behalf something is repaired, and who is told of it. */
export interface RepairContext extends AppendContext {
  readonly sinks: readonly string[];
}

/** What these decisions look at, as of one moment. */
export interface LockSituation {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly lock: Lock | undefined;
}

/** Whether the lock of the asset is this workflow's own. */
export function ownsLock({ id, fence }: Workflow, lock: Lock | undefined): boolean {
  return lock?.held === true && lock.workflow === id && lock.fence === fence;
}

/** Takes the asset away from a workflow that holds it, and blocks the workflow. */
export function forcedRelease(
  { workflow, procedure, lock }: LockSituation,
  reason: string,
  context: RepairContext,
): CommitPlan {
  const { asset, id } = workflow;
  const { fence } = lock ?? workflow;
  return blocked(workflow, procedure, context, {
    type: 'lock_released',
    reason: 'lock_released',
    message: 'its asset was released by an administrator',
    data: { asset, fence, reason },
    locks: [{ op: 'force_release', asset, workflow: id, fence }],
  });
}

/** Gives a workflow the lock back that it lost, where nobody else has it (R5). */
export function restoredLock(
  { workflow, lock }: LockSituation,
  context: RepairContext,
): CommitPlan {
  const taken = takenAgain(workflow, lock, context.now);
  const { asset } = workflow;
  const data = { asset, fence: taken.lock.fence, rule: 'R5' };
  const appendix = appended(workflow, context, 'lock_restored', data);
  // Its own lock under another fence is its own all the same.
  const own = lock?.held === true && lock.workflow === workflow.id;
  const locks = [{ ...taken, ...(own && { orphanOf: workflow.id }) }];
  const also = { fence: taken.lock.fence };
  return appendedPlan(workflow, context, appendix, { also, locks });
}

/** Blocks a workflow whose asset somebody else holds (R5). The lock is checked, not written. */
export function assetConflict(
  { workflow, procedure }: LockSituation,
  held: Lock,
  context: RepairContext,
): CommitPlan {
  const { asset, tenant } = workflow;
  const { fence, workflow: holder = '' } = held;
  const found = blocked(workflow, procedure, context, {
    type: 'asset_conflict_found',
    reason: 'asset_conflict',
    message: 'somebody else holds its asset',
    data: { asset, held_by: holder, rule: 'R5' },
    locks: [],
  });
  const key = { kind: 'lock', tenant, asset } as const;
  return { ...found, guards: [{ key, expect: { held: true, workflow: holder, fence } }] };
}

interface Loss {
  readonly type: EventType;
  readonly reason: BlockReason;
  readonly message: string;
  readonly data: Parameters<typeof appended>[3];
  readonly locks: readonly LockPlan[];
}

function blocked(
  workflow: Workflow,
  procedure: Procedure,
  context: RepairContext,
  { type, reason, message, data, locks }: Loss,
): CommitPlan {
  // Whoever approved would let work go on that has no asset.
  const earlier = workflow.block && withoutProposal(workflow.block);
  const appendix = appended(workflow, context, type, { ...data, ...withdrawn(workflow.block) });
  const { head, at } = appendix;
  const block: Block = {
    seq: head.seq,
    reason,
    by: context.principal.subject,
    at,
    message,
    ...(earlier !== undefined && { earlier }),
  };
  const payload = { reason, message };
  return appendedPlan(workflow, context, appendix, {
    also: blocking(workflow, procedure, block, context.now),
    locks,
    outbox: notifications(context, procedure, workflow, { on: 'block', payload }, head),
  });
}

/** What of a state changes when it is blocked by another hand than its own; its times stand still. */
export function blocking(
  workflow: Workflow,
  procedure: Procedure,
  block: Block,
  now: number,
): Pick<Workflow, 'state' | 'block' | 'timers' | 'due_at'> {
  const change = { state: 'BLOCKED', block } as const;
  const times = timesAfter({ ...workflow, ...change }, procedure, now, { worked: false });
  return times.timers === undefined ? change : { ...change, ...times };
}

/** Whether a lock can be taken away from a workflow: only from one that has a claim to it, at any fence. */
export function canLose(workflow: Workflow, { asset, workflow: holder }: Lock): boolean {
  return holder === workflow.id && asset === workflow.asset && holdsAsset(workflow);
}
