// The built-in ticket table: one row under the action's key, for good, in the same store as the runs.
import { checkTransaction } from '../check-transaction.ts';
import { isFault } from '../fault.ts';
import { FORMAT } from '../model/workflow.ts';
import type { TicketRow } from '../model/run.ts';
import type { Clock } from '../ports/runtime.ts';
import { DeliveryError } from '../ports/sink.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { Ticket, TicketOrder, TicketProvider } from '../ports/tickets.ts';
import { differences } from './read-back.ts';

/** Builds the provider over a store. */
export function ticketTable(store: StorageBackend, clock: Clock): TicketProvider {
  const read = async (tenant: string, key: string): Promise<TicketRow | undefined> => {
    const [row] = await store.snapshot([{ kind: 'ticket', tenant, key }]);
    return row;
  };

  const create = async (order: TicketOrder, deadlineMs: number): Promise<string> => {
    const { tenant, key } = order;
    const reference = `ticket-${key.slice(0, 12)}`;
    const created_at = new Date(clock.now()).toISOString();
    const item: TicketRow = { ...order, format: FORMAT, reference, created_at };
    const writes = [{ op: 'create', key: { kind: 'ticket', tenant, key }, item } as const];
    checkTransaction(writes);
    const result = await store.commit({ writes }, deadlineMs);
    if (result.ok) return reference;
    const there = await read(tenant, key);
    if (there === undefined) throw new DeliveryError('retryable', 'others were writing');
    if (differences(order, there).length === 0) return there.reference;
    throw new DeliveryError('terminal', 'another ticket has this key');
  };

  return {
    name: 'built-in',
    idempotency: 'always',
    settlesInMs: 0,
    create: (order, deadlineMs) => told(clock, deadlineMs, () => create(order, deadlineMs)),
    find: (tenant, key, deadlineMs) =>
      told(clock, deadlineMs, async () => {
        const row = await read(tenant, key);
        return row && ticketOf(row);
      }),
  };
}

function ticketOf({
  key,
  reference,
  action_hash,
  type,
  target,
  arguments: args,
}: TicketRow): Ticket {
  return { key, reference, action_hash, type, target, arguments: args };
}

/** A fault of the store is a failed delivery of the same kind. */
async function told<T>(clock: Clock, deadlineMs: number, call: () => Promise<T>): Promise<T> {
  if (clock.now() >= deadlineMs) throw new DeliveryError('retryable', 'no time was left');
  try {
    return await call();
  } catch (error) {
    if (!isFault(error)) throw error;
    throw new DeliveryError(error.kind, error.code, { cause: error });
  }
}
