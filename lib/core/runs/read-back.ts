// What a read-back proves: the ticket that is there is, field by field, the one that was approved.
import { canonicalJson } from '../canonical.ts';
import type { Ticket, TicketOrder } from '../ports/tickets.ts';

/** The fields that are compared, arguments one by one. */
const COMPARED = ['key', 'action_hash', 'type', 'target'] as const;

/** The names of the fields in which a ticket differs from what was ordered; none where it is that. */
export function differences(order: TicketOrder, found: Ticket): readonly string[] {
  const fields = COMPARED.filter((name) => order[name] !== found[name]);
  const names = new Set([...Object.keys(order.arguments), ...Object.keys(found.arguments)]);
  const differing = [...names].filter((name) => !same(order, found, name));
  return [...fields, ...differing.map((name) => `arguments.${name}`).sort()];
}

function same(order: TicketOrder, found: Ticket, name: string): boolean {
  const both = [order, found].map(({ arguments: all }) => all[name]);
  const [one, two] = both.map((value) => (value === undefined ? value : canonicalJson(value)));
  return one === two;
}
