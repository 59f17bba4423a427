// Parked rows: found by their id, and sent again when a person says so.
import { LIMITS } from '../limits.ts';
import type { OutboxRow } from '../model/workflow.ts';
import type { Clock } from '../ports/runtime.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { DELIVERY, redriven } from './row.ts';

type Parked = Pick<StorageBackend, 'listParked' | 'keep'>;

/** Every parked row of a tenant, oldest first, in pages. */
export async function* parkedRows(store: Parked, tenant: string): AsyncGenerator<OutboxRow> {
  let after: string | undefined;
  do {
    const at = { limit: LIMITS.pageItems.max, ...(after !== undefined && { after }) };
    const page = await store.listParked(tenant, at);
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

/** Makes a parked row due now, from its first attempt on; false where it is parked no more. */
export async function redrive(store: Parked, clock: Clock, row: OutboxRow): Promise<boolean> {
  if (row.parked_at === undefined) return false;
  const now = clock.now();
  return (await store.keep(redriven(row, now).write, now + DELIVERY.attemptMs)).ok;
}
