/** A proxy that gives every request a token, for tools that cannot send one. Nothing else changes. */
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A running proxy; `url` stands for the server's. */
export interface BearerProxy {
  readonly origin: string;
  readonly url: string;
  /** Says where requests go from now on, and with which token. */
  forward(upstream: string, token: string): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. `Host` and the other headers pass through as they came. */
export async function bearerProxy(): Promise<BearerProxy> {
  let target = { upstream: new URL('http://127.0.0.1:9'), token: '' };
  const server = createServer((incoming, outgoing) => {
    const { upstream, token } = target;
    const { hostname, port } = upstream;
    const headers = [...incoming.rawHeaders, 'Authorization', `Bearer ${token}`];
    const { url: path, method } = incoming;
    const onward = request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    forward: (upstream, token) => {
      target = { upstream: new URL(upstream), token };
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
