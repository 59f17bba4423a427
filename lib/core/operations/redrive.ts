// Sends a parked row again, which is an event of the workflow or the run that it belongs to.
import { appended, appendedWrites } from '../decide/appended.ts';
import { parkedRows } from '../dispatch/parked.ts';
import { redriven, rowKey } from '../dispatch/row.ts';
import { LIMITS } from '../limits.ts';
import { recordKey } from '../model/aggregate.ts';
import type { OperationReceipt, OutboxRow } from '../model/workflow.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { operate, type Asked, type OperationParts, type Repeated } from './operate.ts';

/** What became of it. */
export type Redrive =
  | { readonly code: 'REDRIVEN'; readonly receipt: OperationReceipt }
  /** It has left, or waits for its time, or was never there. */
  | { readonly code: 'NOT_PARKED' }
  | Repeated;

/** A row that still has to leave or is parked, among those that a list shows first. */
export async function findRow(
  store: Pick<StorageBackend, 'listTenantOutbox' | 'listParked'>,
  tenant: string,
  id: string,
): Promise<OutboxRow | undefined> {
  const waiting = await store.listTenantOutbox(tenant, LIMITS.pageItems.max);
  return waiting.find((row) => row.id === id) ?? findParked(store, tenant, id);
}

/** A parked row by its id. */
async function findParked(
  store: Pick<StorageBackend, 'listParked'>,
  tenant: string,
  id: string,
): Promise<OutboxRow | undefined> {
  for await (const row of parkedRows(store, tenant)) if (row.id === id) return row;
  return undefined;
}

/** Makes a parked row due now, from its first attempt on. Throws faults of the store. */
export function redriveRow(
  parts: Pick<OperationParts, 'store' | 'clock'>,
  asked: Asked,
  command: { readonly id: string },
): Promise<Redrive> {
  const { store, clock } = parts;
  const { tenant } = asked.principal;
  const { id: notification } = command;
  const operation = 'redrive_notification';
  return operate<Redrive>(parts, asked, { operation, args: { notification } }, async () => {
    const found = await findParked(store, tenant, notification);
    if (found === undefined) return { do: 'end', answer: { code: 'NOT_PARKED' } };
    const { workflow: id, lane, seq } = found;
    const [row, record] = await store.snapshot([rowKey(found), recordKey(tenant, id)] as const);
    if (row?.parked_at === undefined) return { do: 'end', answer: { code: 'NOT_PARKED' } };
    const now = clock.now();
    const { write } = redriven(row, now);
    const done = (at: number): OperationReceipt => ({
      operation,
      workflow: id,
      seq: at,
      at: new Date(now).toISOString(),
    });
    // A row that outlived its record has no trail to stand in.
    if (record === undefined) {
      const receipt = done(0);
      return { do: 'commit', writes: [write], receipt, answer: { code: 'REDRIVEN', receipt } };
    }
    const context = { ...asked, now };
    const data = { notification, lane, for_event: seq };
    const appendix = appended(record, context, 'notification_redriven', data);
    const writes = appendedWrites(record, appendix);
    const receipt = done(appendix.head.seq);
    const answer: Redrive = { code: 'REDRIVEN', receipt };
    return { do: 'commit', writes: [...writes, write], receipt, answer };
  });
}
