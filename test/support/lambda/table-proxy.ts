/** Stands between a function and its table: passes calls on, holds them back, or answers in its place. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of the table. */
export interface TableCall {
  readonly operation: string;
  readonly body: string;
}

/** What a test sees and does. */
export interface TableProxy {
  readonly endpoint: string;
  /** Calls that have arrived, the latest last. */
  readonly calls: TableCall[];
  /** The error that every call is answered with, by its name; undefined passes calls on. */
  failing: string | undefined;
  /**
   * Holds back the answer of the next call of an operation. Resolves with what lets it go once the
   * table has answered.
   */
  hold(operation: string): Promise<() => void>;
  close(): Promise<void>;
}

/** Starts it in front of an engine. */
export async function tableProxy(engine: string): Promise<TableProxy> {
  const held = new Map<string, (letGo: () => void) => void>();
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: TableProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    failing: undefined,
    hold: (operation) =>
      new Promise((resolve) => {
        held.set(operation, resolve);
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const target = String(request.headers['x-amz-target']);
    const operation = target.split('.')[1] ?? '';
    proxy.calls.push({ operation, body: body.toString() });
    const type = { 'content-type': 'application/x-amz-json-1.0' };
    if (proxy.failing !== undefined) {
      response.writeHead(400, type);
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${proxy.failing}` }));
      return;
    }
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['connection', 'content-length', 'expect', 'host'].includes(name),
    ) as [string, string][];
    const answer = await fetch(engine, { method: 'POST', headers, body });
    const text = await answer.text();
    const waiting = held.get(operation);
    if (waiting !== undefined) {
      held.delete(operation);
      await new Promise<void>((letGo) => {
        waiting(letGo);
      });
    }
    response.writeHead(answer.status, type);
    response.end(text);
  };
  return proxy;
}
