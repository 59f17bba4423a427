// Tickets as OpsItems of AWS Systems Manager OpsCenter. It knows a repeat only while the item is open:
// `find` sees closed ones too, so that an attempt after the first asks before it writes.
// Source: Systems Manager API reference, CreateOpsItem, DescribeOpsItems, GetOpsItem; user guide,
// "Reducing duplicate OpsItems".
import {
  CreateOpsItemCommand,
  DescribeOpsItemsCommand,
  GetOpsItemCommand,
  OpsItemAlreadyExistsException,
  SSMClient,
} from '@aws-sdk/client-ssm';
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError } from '../../core/ports/sink.ts';
import type { Ticket, TicketOrder, TicketProvider } from '../../core/ports/tickets.ts';
import { sendingOnce, sent, type AwsClient } from '../outbound/aws.ts';
import { heldTicket, parsed } from './held.ts';

/** Where items are made, and what they say that they come from. */
export interface OpsCenterOptions {
  readonly clock: Clock;
  readonly client?: AwsClient;
}

/** Operational data of ours: the key is searchable, the ticket is the whole of what was approved. */
const KEY = 'checkpoint-key';
const TICKET = 'checkpoint-ticket';

/** Bounds of CreateOpsItem, in characters. */
const MOST = { title: 1_024, description: 2_048 };

/** Builds the provider. */
export function opsCenterTickets({ clock, client = {} }: OpsCenterOptions): TicketProvider {
  const ssm = new SSMClient(sendingOnce(client));

  const create = async (order: TicketOrder, deadlineMs: number): Promise<string> => {
    const command = new CreateOpsItemCommand(itemOf(order));
    const answer = await sent(clock, deadlineMs, async (more) => {
      try {
        return await ssm.send(command, more);
      } catch (error) {
        if (error instanceof OpsItemAlreadyExistsException) return error;
        throw error;
      }
    });
    if (answer.OpsItemId === undefined) throw new DeliveryError('unknown', 'no item id');
    return answer.OpsItemId;
  };

  /** The first item under a key: a later one would be a second effect. */
  const first = async (key: string, deadlineMs: number): Promise<string | undefined> => {
    const filter = JSON.stringify({ key: KEY, value: key });
    const command = new DescribeOpsItemsCommand({
      OpsItemFilters: [{ Key: 'OperationalData', Values: [filter], Operator: 'Equal' }],
    });
    const answer = await sent(clock, deadlineMs, (more) => ssm.send(command, more));
    const items = answer.OpsItemSummaries;
    if (items === undefined) throw new DeliveryError('unknown', 'no list of items');
    const created = (item: (typeof items)[number]): number => item.CreatedTime?.getTime() ?? 0;
    return items.toSorted((a, b) => created(a) - created(b))[0]?.OpsItemId;
  };

  const find = async (
    _tenant: string,
    key: string,
    deadlineMs: number,
  ): Promise<Ticket | undefined> => {
    const reference = await first(key, deadlineMs);
    if (reference === undefined) return undefined;
    const command = new GetOpsItemCommand({ OpsItemId: reference });
    const answer = await sent(clock, deadlineMs, (more) => ssm.send(command, more));
    const text = answer.OpsItem?.OperationalData?.[TICKET]?.Value ?? '';
    return { reference, ...parsed(heldTicket, text) };
  };

  return { name: 'opscenter', idempotency: 'while_open', settlesInMs: 30_000, create, find };
}

/** A text of at most `most` characters, of whole code points. */
const cut = (text: string, most: number): string => text.slice(0, most).toWellFormed();

function itemOf({ tenant: _tenant, ...ticket }: TicketOrder) {
  const { key } = ticket;
  const { summary, description } = ticket.arguments;
  const text = (value: unknown, other: string) =>
    typeof value === 'string' && value !== '' ? value : other;
  return {
    Title: cut(text(summary, `${ticket.type}: ${ticket.target}`), MOST.title),
    Description: cut(text(description, ticket.target), MOST.description),
    Source: 'checkpoint',
    OperationalData: {
      '/aws/dedup': {
        Type: 'SearchableString' as const,
        Value: JSON.stringify({ dedupString: key }),
      },
      [KEY]: { Type: 'SearchableString' as const, Value: key },
      [TICKET]: { Type: 'String' as const, Value: JSON.stringify(ticket) },
    },
  };
}
