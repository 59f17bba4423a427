// Whether the trail of a workflow or a run verifies, and what is written where it does not. A broken
// chain is never rewritten: its aggregate is frozen for a person.
import { openFaults, verifyRecord } from '../audit.ts';
import { recordKey, type Trailed } from '../model/aggregate.ts';
import type { StorageBackend, Write } from '../ports/storage.ts';
import { RECONCILE } from './timing.ts';

/** What is wrong with a trail, in words, if it was so under one version. */
export async function brokenTrail(
  store: StorageBackend,
  record: Trailed,
): Promise<string | undefined> {
  const [fault] = openFaults(await verifyRecord(store, record));
  if (fault === undefined) return undefined;
  const [now] = await store.snapshot([recordKey(record.tenant, record.id)]);
  if (now?.version !== record.version) return undefined;
  return `the trail does not verify: ${fault.what} at ${fault.seq}`;
}

/** Freezes an aggregate that is as it was read. */
export function frozenAt({ tenant, id, version }: Trailed, what: string, now: number): Write {
  const frozen = { at: new Date(now).toISOString(), what };
  return {
    op: 'update',
    key: recordKey(tenant, id),
    expect: { version },
    set: { frozen, version: version + 1, due_at: now + RECONCILE.checkMs },
  };
}
