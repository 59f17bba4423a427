// How blocked work goes on: as it is, or with its asset taken again in the same transaction where that was
// lost (I1).
import { holdsAsset, type Block, type Lock, type Workflow } from '../model/workflow.ts';
import { busy, takenAgain } from './asset-lock.ts';
import type { Change, DecideContext, Refused } from './decision.ts';

/** The change that lets work go on, or the refusal where somebody else has its asset. */
export function goesOn(
  {
    workflow,
    lock,
    block,
  }: {
    readonly workflow: Workflow;
    readonly lock: Lock | undefined;
    readonly block: Block;
  },
  context: DecideContext,
): Pick<Change, 'change' | 'locks'> | Refused {
  if (holdsAsset(workflow)) {
    return { change: () => ({ set: { state: 'RUNNING' }, remove: ['block'] }) };
  }
  if (lock?.held === true) return busy(lock, context);
  const taken = takenAgain(workflow, lock, context.now);
  const { fence } = taken.lock;
  const { earlier } = block;
  return {
    // A deviation that nobody has decided about stands again.
    change: () =>
      earlier === undefined
        ? { set: { state: 'RUNNING', fence }, remove: ['block'] }
        : { set: { block: earlier, fence } },
    locks: [taken],
  };
}
