/** The built-in ticket table on one backend, as a subject of the contract. */
import type { Clock } from '../../../lib/core/ports/runtime.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { ticketTable } from '../../../lib/core/runs/ticket-table.ts';
import { ORDER, type TicketFailure, type TicketSubject } from './contract.ts';

const NO_NETWORK = 'no network lies between; faults of the store are a case of the table';
const NEVER: Readonly<Record<TicketFailure, string>> = {
  throttles: NO_NETWORK,
  denies: NO_NETWORK,
  gone: NO_NETWORK,
  refuses: NO_NETWORK,
  breaks: NO_NETWORK,
  hangs: NO_NETWORK,
  babbles: NO_NETWORK,
  floods: NO_NETWORK,
  loses: NO_NETWORK,
};

/** Opens the table in a store whose tenant holds nothing yet. */
export function builtIn(
  open: () => Promise<{
    readonly store: StorageBackend;
    readonly clock: Clock;
    readonly tenant: string;
    readonly close: () => Promise<void>;
  }>,
): TicketSubject {
  return {
    name: 'built-in',
    never: NEVER,
    open: async () => {
      const { store, clock, tenant, close } = await open();
      const provider = ticketTable(store, clock);
      const keyOf = (key: string) => ({ kind: 'ticket', tenant, key }) as const;
      return {
        provider,
        tenant,
        now: () => clock.now(),
        count: async (key) => (await store.snapshot([keyOf(key)])).filter(Boolean).length,
        alter: async (key) => {
          const args = { ...ORDER.arguments, summary: 'All is well' };
          const write = {
            op: 'update',
            key: keyOf(key),
            expect: {},
            set: { arguments: args },
          } as const;
          await store.commit({ writes: [write] }, clock.now() + 5_000);
        },
        behave: () => undefined,
        close,
      };
    },
  };
}
