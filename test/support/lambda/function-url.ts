/**
 * A local HTTP server that behaves like a Function URL in front of a handler: header names in lower case
 * and joined, bodies that are not known as text in base64, 6 MB at most, and `WWW-Authenticate` renamed.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpEvent, HttpResult } from '../../../lib/lambda/events.ts';

/** The platform's limit on a request and on an answer. */
export const PLATFORM_BYTES_MOST = 6 * 1024 * 1024;

/** Answers one event. */
export type Invoke = (event: HttpEvent) => Promise<HttpResult>;

/** The server. */
export interface FunctionUrl {
  /** With a slash at the end, as the platform gives it. */
  readonly url: string;
  /** Puts a handler behind it; requests until then are answered 502. */
  connect(invoke: Invoke): void;
  /** Events it has made, the latest last. */
  readonly events: readonly HttpEvent[];
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function functionUrl(): Promise<FunctionUrl> {
  let invoke: Invoke | undefined;
  const events: HttpEvent[] = [];
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.byteLength > PLATFORM_BYTES_MOST) {
      platformAnswer(response, 413, 'Request must be smaller than 6291456 bytes');
      return;
    }
    const event = eventOf(request, body);
    events.push(event);
    try {
      if (invoke === undefined) throw new Error('nothing is behind the URL');
      send(response, await invoke(event));
    } catch {
      platformAnswer(response, 502, 'Internal Server Error');
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    connect: (handler) => {
      invoke = handler;
    },
    events,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const TEXT = /^(?:text\/|application\/(?:json|javascript|xml)\b)/i;

/** The event of a request. */
function eventOf(request: IncomingMessage, body: Buffer): HttpEvent {
  const { method = 'GET', url = '/', rawHeaders } = request;
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    const value = rawHeaders[i + 1] ?? '';
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  const { cookie, ...rest } = headers;
  const [rawPath = '/', ...query] = url.split('?');
  const isText = TEXT.test(headers['content-type'] ?? '');
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query.join('?'),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers: { ...rest, 'x-forwarded-proto': 'https', 'x-forwarded-port': '443' },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abcdefghij',
      domainName: (headers['host'] ?? '').replace(/:\d+$/, ''),
      domainPrefix: 'abcdefghij',
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: crypto.randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
    ...(body.byteLength > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.byteLength > 0 && !isText,
  };
  return event;
}

function send(response: ServerResponse, result: HttpResult): void {
  const { statusCode, headers, cookies = [], body, isBase64Encoded } = result;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.byteLength > PLATFORM_BYTES_MOST) throw new Error('the answer is too large');
  const renamed = Object.entries(headers).map(([name, value]): [string, string] =>
    name.toLowerCase() === 'www-authenticate'
      ? ['x-amzn-remapped-www-authenticate', value]
      : [name, value],
  );
  const bodyless = statusCode === 204 || statusCode === 304;
  response.writeHead(statusCode, {
    ...(!bodyless && { 'content-type': 'application/json' }),
    ...Object.fromEntries(renamed),
    ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
    'content-length': bodyless ? undefined : bytes.byteLength,
    'x-amzn-requestid': crypto.randomUUID(),
  });
  response.end(bodyless ? undefined : bytes);
}

/** What the platform says for itself. */
export function platformAnswer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ Message: message }));
}
