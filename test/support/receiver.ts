/** A real HTTP server that receives notifications: notes every request and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that was received. */
export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A running receiver. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** Starts a receiver; `answer` ends the response, with 204 unless told otherwise. */
export async function startReceiver(
  answer: (response: ServerResponse, nth: number, request: Received) => void = (response) =>
    response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const seen = { method, url, headers, body };
      received.push(seen);
      answer(response, received.length, seen);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
