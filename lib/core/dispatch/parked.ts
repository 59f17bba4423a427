// Parked rows, oldest first.
import type { OutboxRow } from '../model/workflow.ts';
import { everyItem } from '../pages.ts';
import type { StorageBackend } from '../ports/storage.ts';

/** Every parked row of a tenant, oldest first. */
export const parkedRows = (
  store: Pick<StorageBackend, 'listParked'>,
  tenant: string,
): AsyncGenerator<OutboxRow> => everyItem((page) => store.listParked(tenant, page));
