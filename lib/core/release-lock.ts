// Carries out a forced release: whoever holds the asset is blocked, and its fence grows, so that what
// still carries the old one is refused.
import { canLose, forcedRelease } from './decide/lost-lock.ts';
import type { OperationReceipt } from './model/workflow.ts';
import { canonicalAsset } from './names.ts';
import { operate, type Asked, type OperationParts, type Repeated } from './operations/operate.ts';
import { aggregateAfter, compilePlan } from './plan.ts';
import { procedureOf } from './procedure-of.ts';

/** What became of a forced release. */
export type ForcedRelease =
  | {
      readonly code: 'RELEASED';
      readonly workflow: string;
      readonly name: string;
      readonly receipt: OperationReceipt;
    }
  /** Nobody holds the asset. */
  | { readonly code: 'FREE' }
  /** The lock names a workflow that has no claim to it; the next start or sweep frees it. */
  | { readonly code: 'LEFT_BEHIND'; readonly workflow: string }
  /** It is held under another fence than the one that was named: this is who has it now. */
  | { readonly code: 'HELD_ANEW'; readonly workflow: string; readonly fence: number }
  | Repeated;

/** What is to be released; `fence` is that of the hold that was seen, so that no later one is meant. */
export interface ReleaseCommand {
  readonly asset: string;
  readonly reason: string;
  readonly fence?: number;
}

/** Releases the lock of an asset. Throws faults of the store. */
export function releaseLock(
  parts: OperationParts,
  asked: Asked,
  command: ReleaseCommand,
): Promise<ForcedRelease> {
  const { store, registry, clock, sinks } = parts;
  const { tenant } = asked.principal;
  const lockKey = { kind: 'lock', tenant, asset: canonicalAsset(command.asset) } as const;
  const operation = 'release_lock';
  return operate<ForcedRelease>(parts, asked, { operation, args: { ...command } }, async () => {
    const [seen] = await store.snapshot([lockKey]);
    if (seen?.held !== true || seen.workflow === undefined) {
      return { do: 'end', answer: { code: 'FREE' } };
    }
    const { workflow: id } = seen;
    if (command.fence !== undefined && command.fence !== seen.fence) {
      return { do: 'end', answer: { code: 'HELD_ANEW', workflow: id, fence: seen.fence } };
    }
    const [lock, workflow] = await store.snapshot([lockKey, { kind: 'workflow', tenant, id }]);
    if (lock?.workflow !== id || lock.fence !== seen.fence) return { do: 'again' };
    if (workflow === undefined || !canLose(workflow, lock)) {
      return { do: 'end', answer: { code: 'LEFT_BEHIND', workflow: id } };
    }
    const procedure = procedureOf(registry, workflow);
    const context = { ...asked, now: clock.now(), sinks };
    const plan = forcedRelease({ workflow, procedure, lock }, command.reason, context);
    const { head_seq: seq, updated_at: at } = aggregateAfter(plan);
    const receipt = { workflow: id, seq, at };
    const { name } = workflow.holder;
    return {
      do: 'commit',
      writes: compilePlan(plan).writes,
      receipt,
      answer: { code: 'RELEASED', workflow: id, name, receipt: { operation, ...receipt } },
    };
  });
}
