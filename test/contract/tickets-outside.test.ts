import { systemClock as clock } from '../../lib/adapters/runtime/system.ts';
import { opsCenterTickets } from '../../lib/adapters/tickets/ops-center.ts';
import { webhookTickets } from '../../lib/adapters/tickets/webhook.ts';
import type { TicketProvider } from '../../lib/core/ports/tickets.ts';
import {
  DESK_SECRET,
  startOpsCenter,
  startWebhookDesk,
  type TicketDesk,
} from '../support/ticket-desks.ts';
import { clientAt, HIDDEN_ERROR } from './sinks/subjects.ts';
import { ticketContract, type TicketBench } from './tickets/contract.ts';

function benchOf(desk: TicketDesk, provider: TicketProvider): TicketBench {
  let gone = false;
  const under = (key: string) => desk.tickets.filter(({ content }) => content['key'] === key);
  return {
    provider,
    tenant: 'acme',
    now: () => Date.now(),
    count: (key) => under(key).length,
    alter: (key) => {
      for (const { content } of under(key)) content.arguments['summary'] = 'All is well';
    },
    finish: (key) => {
      for (const ticket of under(key)) ticket.open = false;
    },
    behave: async (as) => {
      if (as !== 'gone') return desk.behave(as);
      gone = true;
      await desk.close();
    },
    close: () => (gone ? Promise.resolve() : desk.close()),
  };
}

ticketContract({
  name: 'webhook',
  open: async () => {
    const desk = await startWebhookDesk();
    const { url } = desk;
    return benchOf(desk, webhookTickets({ url, secrets: [DESK_SECRET], clock }));
  },
});

ticketContract({
  name: 'opscenter',
  open: async () => {
    const desk = await startOpsCenter();
    return benchOf(desk, opsCenterTickets({ clock, client: clientAt(desk.url) }));
  },
  never: { gone: HIDDEN_ERROR },
});
