// The demo's ticket desk: a receiver of signed webhooks that honours its key, and that can keep a writer
// waiting for an answer, before or after it has kept the ticket.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A ticket as the desk keeps it. */
export interface DeskTicket {
  readonly id: string;
  readonly ticket: { readonly key: string; readonly action_hash: string };
}

/** The desk. */
export interface TicketDesk {
  readonly url: string;
  readonly tickets: readonly DeskTicket[];
  /** How many writes have arrived, answered or not. */
  writes(): number;
  /** Never answers the next write, having kept its ticket or not; resolves once that write is there. */
  silence(kept: 'before it is kept' | 'after it is kept'): Promise<void>;
  close(): Promise<void>;
}

/** Starts the desk on a free loopback port. */
export async function startTicketDesk(): Promise<TicketDesk> {
  const tickets: DeskTicket[] = [];
  let silenced: { readonly keeps: boolean; readonly arrived: () => void } | undefined;
  let writes = 0;
  const keep = (ticket: DeskTicket['ticket']): DeskTicket => {
    const held = tickets.find((one) => one.ticket.key === ticket.key);
    if (held !== undefined) return held;
    const made = { id: `desk-${tickets.length + 1}`, ticket };
    tickets.push(made);
    return made;
  };
  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'GET') {
      const key = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
      const held = tickets.find(({ ticket }) => ticket.key === key);
      answer(response, held === undefined ? 404 : 200, held ?? {});
      return;
    }
    writes += 1;
    const { tenant: _tenant, ...ticket } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly tenant: string;
    } & DeskTicket['ticket'];
    const now = silenced;
    silenced = undefined;
    if (now?.keeps !== false) keep(ticket);
    if (now === undefined) answer(response, 201, { id: keep(ticket).id });
    else now.arrived();
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/tickets`,
    tickets,
    writes: () => writes,
    silence: (kept) =>
      new Promise((arrived) => {
        silenced = { keeps: kept === 'after it is kept', arrived };
      }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
