// When a workflow or a run is looked at next. Bookkeeping: no version changes.
import { recordKey, type Trailed } from '../model/aggregate.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Write } from '../ports/storage.ts';
import { soonest } from '../timers.ts';
import { RECONCILE } from './timing.ts';

/** When a workflow that is well is looked at next: in an hour, or sooner for what is pending; never after its end. */
export function nextLook(
  { state, frozen, timers, block }: Workflow,
  now: number,
): number | undefined {
  const at = now + RECONCILE.checkMs;
  if (frozen !== undefined) return at;
  return state === 'COMPLETED' ? undefined : soonest(at, timers, block);
}

/** Moves the due time of an aggregate to `at` (epoch milliseconds), or takes it away, if it is as it was read. */
export function dueNext({ tenant, id, version }: Trailed, at: number | undefined): Write {
  return {
    op: 'update',
    key: recordKey(tenant, id),
    expect: { version },
    set: at === undefined ? {} : { due_at: at },
    ...(at === undefined && { remove: ['due_at'] }),
  };
}
