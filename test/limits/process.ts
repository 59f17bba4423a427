// Limits of tokens, of connections, and of what a process remembers of its callers.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import type { Context } from 'aws-lambda';
import { readClaims } from '../../lib/adapters/identity/claims.ts';
import { createKnownTokens } from '../../lib/adapters/identity/known-tokens.ts';
import { createTokenBuckets } from '../../lib/adapters/runtime/token-buckets.ts';
import { createBoundedServer } from '../../lib/cli/bounded-server.ts';
import { LIMITS } from '../../lib/core/limits.ts';
import { createHttpFunction, type FunctionApp } from '../../lib/lambda/http-handler.ts';
import { createObservers } from '../../lib/lambda/observers.ts';
import { rawSocket } from '../support/raw-socket.ts';
import { goodClaims } from '../support/test-issuer.ts';
import type { Case } from './case.ts';

const claimed = (claims: object) =>
  readClaims(
    { ...goodClaims, ...claims },
    {
      alias: 'corp',
      issuer: goodClaims.iss,
      audience: goodClaims.aud,
      tenants: 'any',
      tenantClaim: 'tenant',
      keys: { kind: 'local', jwks: { keys: [] } },
    },
  );

/** The server of `serve` with an answer to everything; `untimed` takes its clocks away. */
async function withServer<T>(work: (url: string) => Promise<T>, untimed = false): Promise<T> {
  const server = createBoundedServer();
  if (untimed) Object.assign(server, { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 });
  server.on('request', (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n';
const FULL = `${HEAD}Connection: close\r\n\r\n`;

/** Opens so many connections that say nothing. */
async function idle(url: string, count: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  // In groups, so that no queue of the system overflows.
  while (sockets.length < count) {
    const group = Array.from({ length: Math.min(100, count - sockets.length) }, () =>
      connect({ host: hostname, port: Number(port) }).on('error', () => undefined),
    );
    await Promise.all(group.map((socket) => once(socket, 'connect')));
    sockets.push(...group);
  }
  return sockets;
}

/** How much of ten seconds a function keeps from the app behind it, in milliseconds. */
async function keptByFunction(): Promise<number> {
  const endsAt = Date.now() + 10_000;
  let kept = 0;
  const app: FunctionApp = {
    fetch: (_request, { deadlineMs }) => {
      kept = endsAt - (deadlineMs ?? endsAt);
      return new Response();
    },
  };
  const { handler } = createHttpFunction(createObservers(), () => Promise.resolve(app));
  const event = {
    rawPath: '/health',
    requestContext: { domainName: 'a.example', http: { method: 'GET' } },
    headers: { host: 'a.example' },
  };
  const getRemainingTimeInMillis = (): number => endsAt - Date.now();
  await handler(event, { awsRequestId: 'a', getRemainingTimeInMillis } as unknown as Context);
  return kept;
}

/** The cases. */
export const PROCESS = {
  hostMarginMs: {
    grain: LIMITS.hostMarginMs.max / 2,
    attempt: async (ms) => (await keptByFunction()) >= ms,
  },
  displayNameChars: (chars) => {
    const read = claimed({ name: 'n'.repeat(chars) });
    return read.ok && read.principal.name.length === chars;
  },
  tenantChars: (chars) => claimed({ tenant: 't'.repeat(chars) }).ok,
  headerBytes: (bytes) =>
    withServer(async (url) => {
      // Names and values count, what stands between them does not.
      const spent = ['/', 'Host', 'a', 'Connection', 'close', 'X'].join('').length;
      const filler = 'x'.repeat(bytes - spent);
      const head = `${HEAD}Connection: close\r\nX: ${filler}\r\n\r\n`;
      return (await rawSocket(url, [head])).status === 200;
    }),
  requestMs: {
    grain: 2_500,
    attempt: (ms) =>
      withServer(async (url) => {
        const parts = [HEAD, FULL.slice(HEAD.length)];
        const options = { pauseMs: ms, untilMs: ms + 5_000 };
        return (await rawSocket(url, parts, options)).status === 200;
      }),
  },
  idleMs: {
    grain: 2_500,
    attempt: (ms) =>
      withServer(async (url) => {
        const options = { pauseMs: ms, untilMs: ms + 5_000 };
        const { text } = await rawSocket(url, [`${HEAD}\r\n`, FULL], options);
        return text.match(/HTTP\/1\.1 200/gu)?.length === 2;
      }),
  },
  connections: (count) =>
    withServer(async (url) => {
      const others = await idle(url, count - 1);
      const { status } = await rawSocket(url, [FULL]);
      for (const socket of others) socket.destroy();
      return status === 200;
    }, true),
  ratedCallers: async (callers) => {
    const buckets = createTokenBuckets(60, { now: () => 0 });
    for (let n = 0; n < 60; n++) await buckets.take('caller 0');
    for (let n = 1; n < callers; n++) await buckets.take(`caller ${n}`);
    // Whoever is forgotten has a full bucket again.
    return (await buckets.take('caller 0')) > 0;
  },
  rememberedTokens: (count) => {
    const tokens = createKnownTokens(LIMITS.rememberedTokens.max, 0);
    const known = {
      header: { alg: 'RS256' },
      key: new Uint8Array(),
      from: 0,
      until: 10,
      verification: { ok: false, fault: 'claims' },
    } as const;
    for (let n = 0; n < count; n++) tokens.remember(`token ${n}`, known);
    return tokens.recall('token 0', 5) !== undefined;
  },
} as const satisfies { readonly [name: string]: Case };
