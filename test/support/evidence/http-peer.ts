/** An HTTP tool server that misbehaves: what it answers is written by the test, byte by byte. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';

/** A JSON-RPC request as the peer reads it. */
export interface Asked {
  readonly id?: number | string;
  readonly method: string;
}

/** Answers one request by hand; returns false to let the well-behaved answer go out. */
export type Misbehave = (asked: Asked, response: ServerResponse) => boolean;

/** The tool that it offers. */
export const REMOTE_STATUS = {
  server: 'remote',
  name: 'status',
  description: 'The status.',
  inputSchema: { type: 'object' },
};

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** Starts the peer on this machine and answers its URL and the requests it got. */
export async function httpPeer(misbehave: Misbehave = () => false) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const asked = JSON.parse(body === '' ? '{"method":""}' : body) as Asked;
      if (!misbehave(asked, response)) behave(asked, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(() => closed()));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, port, requests };
}

/** Sends a value as JSON. */
export function json(response: ServerResponse, value: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
}

/** The answer to a request. */
export const resultOf = ({ id }: Asked, result: object) => ({ jsonrpc: '2.0', id, result });

function behave(asked: Asked, response: ServerResponse): void {
  const { id, method } = asked;
  if (id === undefined) response.writeHead(202).end();
  else if (method === 'initialize') {
    const serverInfo = { name: 'remote', version: '1' };
    const capabilities = { tools: {} };
    const result = { protocolVersion: '2025-11-25', capabilities, serverInfo };
    json(response, resultOf(asked, result));
  } else if (method === 'tools/list') {
    const { server: _server, ...tool } = REMOTE_STATUS;
    json(response, resultOf(asked, { tools: [tool] }));
  } else if (method === 'tools/call') {
    json(response, resultOf(asked, { content: [{ type: 'text', text: 'all is well' }] }));
  } else json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } });
}
