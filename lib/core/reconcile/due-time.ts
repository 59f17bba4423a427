// When a workflow is looked at next. Bookkeeping: no version changes.
import type { Workflow } from '../model/workflow.ts';
import type { Write } from '../ports/storage.ts';

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
