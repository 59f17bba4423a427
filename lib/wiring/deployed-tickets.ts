// The ticket provider of a deployment, whose webhook and its secrets Secrets Manager keeps.
import { openDeploymentValues } from '../adapters/deployment/read-values.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { TicketProvider } from '../core/ports/tickets.ts';
import type { Settings } from '../settings.ts';
import { keptTickets } from './kept.ts';
import { openTickets } from './tickets.ts';

/** Opens it. Throws a retryable fault when the secret cannot be read now. */
export async function deployedTickets(
  settings: Settings,
  store: StorageBackend,
): Promise<TicketProvider> {
  const values = openDeploymentValues();
  try {
    return await openTickets({ tickets: await keptTickets(settings, values) }, store);
  } finally {
    values.close();
  }
}
