// Tickets behind a signed webhook: POST writes, GET of the key reads. The receiver honours the key for
// good: it answers a repeat with the ticket that it wrote.
import * as z from 'zod';
import type { Clock } from '../../core/ports/runtime.ts';
import type { DeliveryError } from '../../core/ports/sink.ts';
import type { TicketProvider } from '../../core/ports/tickets.ts';
import { boundedText, refusal, signedSender } from '../outbound/http.ts';
import { heldTicket, MOST_BYTES, parsed } from './held.ts';

/** Where tickets are, and the secrets that requests are signed with. */
export interface WebhookTicketsOptions {
  readonly url: string;
  /** Base64 secrets with the prefix `whsec_`; while one replaces another, both sign. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
}

const created = z.object({ id: z.string().min(1).max(256) });
const found = z.object({ id: z.string().min(1).max(256), ticket: heldTicket });

/** Builds the provider. */
export function webhookTickets({ url, secrets, clock }: WebhookTicketsOptions): TicketProvider {
  const send = signedSender(secrets, clock);
  return {
    name: 'webhook',
    idempotency: 'always',
    settlesInMs: 10_000,
    create: async (order, deadlineMs) => {
      const body = JSON.stringify(order);
      const response = await send({ method: 'POST', url, id: order.key, body }, deadlineMs);
      if (!response.ok) throw await refused(response, clock.now());
      return parsed(created, await boundedText(response, MOST_BYTES)).id;
    },
    find: async (_tenant, key, deadlineMs) => {
      const at = `${url}/${encodeURIComponent(key)}`;
      const response = await send({ method: 'GET', url: at, id: key, body: '' }, deadlineMs);
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      if (!response.ok) throw await refused(response, clock.now());
      const { id, ticket } = parsed(found, await boundedText(response, MOST_BYTES));
      return { reference: id, ...ticket };
    },
  };
}

async function refused(response: Response, now: number): Promise<DeliveryError> {
  await response.body?.cancel();
  return refusal(response, now);
}
