// When a workflow or a run is looked at next. Bookkeeping: no version changes.
import { recordKey, type Trailed } from '../model/aggregate.ts';
import type { Write } from '../ports/storage.ts';

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
