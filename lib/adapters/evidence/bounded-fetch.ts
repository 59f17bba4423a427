// A fetch for the official client's HTTP transport, with bounds: bytes, addresses, no redirects, no
// compression. Time is the caller's: whatever it aborts is destroyed.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { PassThrough, pipeline, Readable, Transform } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';
import { LIMITS } from '../../core/limits.ts';
import { EvidenceError } from '../../core/ports/evidence.ts';
import { AddressRefused, guardedLookup, isReachable } from './addresses.ts';

/** Where requests go. */
export interface BoundedFetchOptions {
  readonly server: string;
  /** Headers of every request; they may hold a secret. */
  readonly headers: { readonly [name: string]: string };
  /** Whether a name may lead to an address that is not public. */
  readonly privateNetwork: boolean;
  /** Hears what ends an answer early, whoever reads it. */
  readonly onFault: (fault: EvidenceError) => void;
}

/** A fetch and its connections. */
export interface BoundedFetch {
  readonly fetch: FetchLike;
  close(): void;
}

const HEADER_BYTES = 16_384;
const SOCKETS = 8;

/** Makes the fetch. */
export function boundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: SOCKETS }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: SOCKETS }),
  };
  return {
    fetch: async (to, init) => {
      // A stream of what nobody asked for is not listened to, which 405 says by the protocol.
      if (init?.method === 'GET') return new Response(null, { status: 405 });
      const url = new URL(to);
      const agent = agents[url.protocol === 'https:' ? 'https:' : 'http:'];
      const answer = await send(url, init ?? {}, options, agent);
      return toResponse(answer, options);
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function send(
  url: URL,
  init: RequestInit,
  { server, headers, privateNetwork }: BoundedFetchOptions,
  agent: HttpAgent,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An address that is configured as such is meant; a name may lead anywhere.
  const named = isIP(host) === 0;
  if (!named && !isReachable(host, true)) return Promise.reject(refusedAddress(server));
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: init.method ?? 'POST',
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': 'checkpoint',
      },
      agent,
      maxHeaderSize: HEADER_BYTES,
      ...(named && { lookup: guardedLookup(privateNetwork) }),
      ...(init.signal && { signal: init.signal }),
    });
    sent.on('response', resolve).on('error', (cause: NodeJS.ErrnoException) => {
      if (init.signal?.aborted === true) reject(cause);
      else if (cause instanceof AddressRefused) reject(refusedAddress(server));
      else {
        const code = /^[A-Z0-9_]{1,40}$/.test(cause.code ?? '') ? cause.code : 'no connection';
        const message = `it cannot be reached (${code})`;
        reject(new EvidenceError('SERVER_UNREACHABLE', server, message, { cause }));
      }
    });
    sent.end(typeof init.body === 'string' ? init.body : undefined);
  });
}

function refusedAddress(server: string): EvidenceError {
  const message =
    'its name leads to an address that is not public, which its settings do not allow';
  return new EvidenceError('SERVER_UNREACHABLE', server, message);
}

function toResponse(answer: IncomingMessage, options: BoundedFetchOptions): Response {
  const { server, onFault } = options;
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    answer.destroy();
    const message = `it answered with a redirect (HTTP ${status}), which is not followed`;
    throw new EvidenceError('ANSWER_UNUSABLE', server, message);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each);
  }
  if ([204, 205].includes(status) || status < 200) {
    answer.resume();
    return new Response(null, { status: status < 200 ? 502 : status, headers });
  }
  const stream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const { max } = stream ? LIMITS.evidenceChatterBytes : LIMITS.evidenceMessageBytes;
  const bounded = pipeline(answer, boundOf(max, server), new PassThrough(), (error) => {
    if (error instanceof EvidenceError) onFault(error);
  });
  return new Response(Readable.toWeb(bounded) as ReadableStream, { status, headers });
}

/** Passes bytes on, and fails at one too many. */
function boundOf(max: number, server: string): Transform {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      if (seen <= max) done(null, chunk);
      else {
        const message = `its answer has more than ${max} bytes`;
        done(new EvidenceError('ANSWER_TOO_LARGE', server, message));
      }
    },
  });
}
