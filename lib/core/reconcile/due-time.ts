// When a workflow is looked at next. Bookkeeping: no version changes.
import type { Workflow } from '../model/workflow.ts';
import type { Write } from '../ports/storage.ts';
import { soonest } from '../timers.ts';
import { RECONCILE } from './timing.ts';

/** When a workflow that is well is looked at next: in an hour, or sooner for what is pending; never after its end. */
export function nextLook({ state, frozen, timers }: Workflow, now: number): number | undefined {
  const at = now + RECONCILE.checkMs;
  if (frozen !== undefined) return at;
  return state === 'COMPLETED' ? undefined : soonest(at, timers);
}

/** Moves a workflow's due time to `at` (epoch milliseconds), or takes it away, if it is as it was read. */
export function dueNext({ tenant, id, version }: Workflow, at: number | undefined): Write {
  return {
    op: 'update',
    key: { kind: 'workflow', tenant, id },
    expect: { version },
    set: at === undefined ? {} : { due_at: at },
    ...(at === undefined && { remove: ['due_at'] }),
  };
}
