// What is written for a run: the acting fields of its action, from the record and from nowhere else.
import type { Run } from '../model/run.ts';
import type { TicketOrder } from '../ports/tickets.ts';

/** The order of a run's action; undefined where nothing is proposed. */
export function orderOf({ tenant, proposal }: Run): TicketOrder | undefined {
  if (proposal === undefined) return undefined;
  const { type, target, arguments: args, idempotency_key: key } = proposal.action;
  return { tenant, key, action_hash: proposal.action_hash, type, target, arguments: args };
}
