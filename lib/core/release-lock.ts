// Carries out a forced release: whoever holds the asset is blocked, and its fence grows, so that what
// still carries the old one is refused. For the command line; no caller's token reaches it.
import { canLose, forcedRelease } from './decide/lost-lock.ts';
import { Fault } from './fault.ts';
import { LIMITS } from './limits.ts';
import type { Principal } from './model/principal.ts';
import { canonicalAsset } from './names.ts';
import { compilePlan } from './plan.ts';
import type { Clock } from './ports/runtime.ts';
import type { StorageBackend } from './ports/storage.ts';
import { procedureOf } from './procedure-of.ts';
import type { ProcedureRegistry } from './procedures.ts';

/** What became of a forced release. */
export type ForcedRelease =
  | { readonly code: 'RELEASED'; readonly workflow: string; readonly name: string }
  /** Nobody holds the asset. */
  | { readonly code: 'FREE' }
  /** The lock names a workflow that has no claim to it; the next start or sweep frees it. */
  | { readonly code: 'LEFT_BEHIND'; readonly workflow: string };

/** What a forced release works with. */
export interface ReleaseParts {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly clock: Clock;
  readonly sinks: readonly string[];
}

/** Releases the lock of an asset. `deadlineMs` is in epoch milliseconds. Throws faults of the store. */
export async function releaseLock(
  { store, registry, clock, sinks }: ReleaseParts,
  principal: Principal,
  command: { readonly asset: string; readonly reason: string },
  deadlineMs: number,
  requestId?: string,
): Promise<ForcedRelease> {
  const { tenant } = principal;
  const lockKey = { kind: 'lock', tenant, asset: canonicalAsset(command.asset) } as const;
  for (let n = 1; n <= LIMITS.commandAttempts.max; n++) {
    const [seen] = await store.snapshot([lockKey]);
    if (seen?.held !== true || seen.workflow === undefined) return { code: 'FREE' };
    const [lock, workflow] = await store.snapshot([
      lockKey,
      { kind: 'workflow', tenant, id: seen.workflow },
    ]);
    if (lock?.workflow !== seen.workflow) continue;
    if (workflow === undefined || !canLose(workflow, lock)) {
      return { code: 'LEFT_BEHIND', workflow: seen.workflow };
    }
    const procedure = procedureOf(registry, workflow);
    const plan = forcedRelease({ workflow, procedure, lock }, command.reason, {
      principal,
      now: clock.now(),
      sinks,
      ...(requestId !== undefined && { requestId }),
    });
    const result = await store.commit(compilePlan(plan), deadlineMs);
    if (result.ok) return { code: 'RELEASED', workflow: workflow.id, name: workflow.holder.name };
  }
  throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded');
}
