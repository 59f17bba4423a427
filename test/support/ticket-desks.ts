/**
 * Ticket systems on a local port that speak the wire of the real ones and keep what they are given, with
 * faults on demand: a signed webhook that honours its key for good, and OpsCenter, which does so only
 * while an item is open.
 */
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { startReceiver, type Received, type Receiver } from './receiver.ts';

/** What a desk does with the next requests. `loses` keeps the ticket and breaks before it answers. */
export type DeskBehaviour =
  | 'serves'
  | 'loses'
  | 'throttles'
  | 'denies'
  | 'refuses'
  | 'breaks'
  | 'hangs'
  | 'babbles'
  | 'floods';

/** A ticket as a desk keeps it. */
export interface KeptTicket {
  readonly reference: string;
  open: boolean;
  /** The members of the ticket as they were sent; a test may alter them. */
  content: { arguments: Record<string, unknown>; [member: string]: unknown };
}

/** A running desk. */
export interface TicketDesk extends Receiver {
  readonly tickets: KeptTicket[];
  /** Changes what it does from now on. */
  behave(as: DeskBehaviour): void;
}

/** The secret that the webhook desk verifies with. */
export const DESK_SECRET = `whsec_${Buffer.from('a secret of the ticket desk').toString('base64')}`;

type Answer = (response: ServerResponse, request: Received) => void;

async function startDesk(
  serve: (tickets: KeptTicket[]) => Answer,
  fail: Readonly<Record<'throttles' | 'denies' | 'refuses', (response: ServerResponse) => void>>,
): Promise<TicketDesk> {
  const tickets: KeptTicket[] = [];
  let behaviour: DeskBehaviour = 'serves';
  const serving = serve(tickets);
  const receiver = await startReceiver((response, _nth, request) => {
    switch (behaviour) {
      case 'serves':
        return serving(response, request);
      case 'loses':
        // The answer goes nowhere.
        serving({ writeHead: () => ({ end: () => undefined }) } as never, request);
        return void response.destroy();
      case 'breaks':
        return void response.destroy();
      case 'hangs':
        return undefined;
      case 'babbles':
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Ana</p>');
      case 'floods':
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"id":"${'a'.repeat(200_000)}"}`);
      default:
        return fail[behaviour](response);
    }
  });
  return Object.assign(receiver, {
    tickets,
    behave: (as: DeskBehaviour) => {
      behaviour = as;
    },
  });
}

function isSigned(body: string, headers: Received['headers']): boolean {
  try {
    new Webhook(DESK_SECRET).verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    // A request without a body is verified, and then found not to be JSON.
    return body === '' && error instanceof SyntaxError;
  }
}

/** Starts a desk behind a signed webhook; a request whose signature does not hold gets 401. */
export function startWebhookDesk(): Promise<TicketDesk> {
  const json = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const plainly = (status: number) => (response: ServerResponse) =>
    void response.writeHead(status).end('Ana');
  const serve =
    (tickets: KeptTicket[]): Answer =>
    (response, { method, url, headers, body }) => {
      if (!isSigned(body, headers)) return json(response, 401, { error: 'signature' });
      const key = String(headers['idempotency-key']);
      const held = tickets.find(({ content }) => content['key'] === key);
      if (method === 'POST') {
        const { tenant: _tenant, ...content } = JSON.parse(body) as KeptTicket['content'];
        const ticket = held ?? { reference: `desk-${tickets.length + 1}`, open: true, content };
        if (held === undefined) tickets.push(ticket);
        return json(response, held === undefined ? 201 : 200, { id: ticket.reference });
      }
      if (held === undefined || !url.endsWith(`/${encodeURIComponent(key)}`)) {
        return json(response, 404, { error: 'not found' });
      }
      return json(response, 200, { id: held.reference, ticket: held.content });
    };
  return startDesk(serve, {
    throttles: plainly(429),
    denies: plainly(403),
    refuses: plainly(422),
  });
}

/** Starts OpsCenter, as far as the three calls about items go. */
export function startOpsCenter(): Promise<TicketDesk> {
  const end = (response: ServerResponse, status: number, body: object): void => {
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(body));
  };
  const fault = (status: number, type: string) => (response: ServerResponse) => {
    end(response, status, { __type: type, message: 'Ana' });
  };
  const serve =
    (tickets: KeptTicket[]): Answer =>
    (response, { headers, body }) => {
      const request = JSON.parse(body) as OpsRequest;
      switch (headers['x-amz-target']) {
        case 'AmazonSSM.CreateOpsItem': {
          const data = request.OperationalData;
          const content = JSON.parse(
            data['checkpoint-ticket']?.Value ?? '',
          ) as KeptTicket['content'];
          const { dedupString } = JSON.parse(data['/aws/dedup']?.Value ?? '') as {
            dedupString: string;
          };
          const same = tickets.find((one) => one.open && one.content['key'] === dedupString);
          if (same !== undefined) {
            const type = 'OpsItemAlreadyExistsException';
            return end(response, 400, { __type: type, OpsItemId: same.reference });
          }
          const reference = `oi-${tickets.length + 1}`;
          tickets.push({ reference, open: true, content });
          return end(response, 200, { OpsItemId: reference });
        }
        case 'AmazonSSM.DescribeOpsItems': {
          const [filter] = request.OpsItemFilters;
          const { value } = JSON.parse(filter?.Values[0] ?? '') as { value: string };
          const found = tickets.flatMap(({ reference, content }, i) =>
            content['key'] === value
              ? [{ OpsItemId: reference, CreatedTime: 1_700_000_000 + i }]
              : [],
          );
          // No order is promised.
          return end(response, 200, { OpsItemSummaries: found.toReversed() });
        }
        case 'AmazonSSM.GetOpsItem': {
          const item = tickets.find(({ reference }) => reference === request.OpsItemId);
          if (item === undefined) return fault(400, 'OpsItemNotFoundException')(response);
          const Value = JSON.stringify(item.content);
          const OperationalData = { 'checkpoint-ticket': { Type: 'String', Value } };
          return end(response, 200, { OpsItem: { OpsItemId: item.reference, OperationalData } });
        }
        default:
          return fault(400, 'UnknownOperationException')(response);
      }
    };
  return startDesk(serve, {
    throttles: fault(400, 'ThrottlingException'),
    denies: fault(400, 'OpsItemAccessDeniedException'),
    refuses: fault(400, 'OpsItemInvalidParameterException'),
  });
}

interface OpsRequest {
  readonly OperationalData: Readonly<Record<string, { readonly Value: string }>>;
  readonly OpsItemFilters: readonly { readonly Values: readonly string[] }[];
  readonly OpsItemId: string;
}
