// The ticket provider of a process, by its one setting. What a provider needs is loaded only for it.
import { systemClock } from '../adapters/runtime/system.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { TicketProvider } from '../core/ports/tickets.ts';
import { ticketTable } from '../core/runs/ticket-table.ts';
import type { Settings } from '../settings.ts';

/** Opens it; the built-in one keeps its tickets in `store`. Nothing is sent before the first call. */
export async function openTickets(
  { tickets }: Pick<Settings, 'tickets'>,
  store: StorageBackend,
): Promise<TicketProvider> {
  switch (tickets.kind) {
    case 'built-in':
      return ticketTable(store, systemClock);
    case 'webhook': {
      const { webhookTickets } = await import('../adapters/tickets/webhook.ts');
      const { url, secrets } = tickets;
      return webhookTickets({ url, secrets, clock: systemClock });
    }
    case 'opscenter': {
      const { opsCenterTickets } = await import('../adapters/tickets/ops-center.ts');
      return opsCenterTickets({ clock: systemClock });
    }
  }
}
