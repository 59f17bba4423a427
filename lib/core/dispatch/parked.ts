// Parked rows: found by their id, and sent again when a person says so.
import type { OutboxRow } from '../model/workflow.ts';
import { everyItem } from '../pages.ts';
import type { Clock } from '../ports/runtime.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { DELIVERY, redriven } from './row.ts';

type Parked = Pick<StorageBackend, 'listParked' | 'keep'>;

/** Every parked row of a tenant, oldest first. */
export const parkedRows = (store: Parked, tenant: string): AsyncGenerator<OutboxRow> =>
  everyItem((page) => store.listParked(tenant, page));

/** Makes a parked row due now, from its first attempt on; false where it is parked no more. */
export async function redrive(store: Parked, clock: Clock, row: OutboxRow): Promise<boolean> {
  if (row.parked_at === undefined) return false;
  const now = clock.now();
  return (await store.keep(redriven(row, now).write, now + DELIVERY.attemptMs)).ok;
}
