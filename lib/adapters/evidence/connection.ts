// One connection to a tool server by the official client, in whichever era the server speaks. Nothing is
// offered to the server: no sampling, no questions, no roots.
// Invariants: every request settles by its deadline; a connection that ended, was too loud or let one
// request run out of time is not used for another.
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../core/ports/runtime.ts';
import { EvidenceError, isEvidenceError } from '../../core/ports/evidence.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { NO_ANSWER, toldError } from './client-errors.ts';
import type { StdioServer, ToolServer } from './servers.ts';
import { stdioTransport } from './stdio-transport.ts';
import type { OnWarning } from './warnings.ts';

/** What every connection is made with. */
export interface EvidenceParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly version: string;
  /** What every process finds in its environment. */
  readonly environment: { readonly [name: string]: string };
  readonly onWarning: OnWarning;
}

/** The same, with what ends a connection from outside and what hears of its end. */
export interface ConnectionParts extends EvidenceParts {
  readonly signal: AbortSignal;
  readonly onClosing: (closing: Promise<void>) => void;
}

/** The end of one request, as the client takes it. */
export interface RequestTime {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxTotalTimeout: number;
}

/** An open connection. */
export interface Connection {
  /** Whether another request may be made on it. */
  usable(): boolean;
  /** Makes a request; throws an `EvidenceError` and nothing else. */
  request<T>(
    deadlineMs: number,
    work: (client: Client, time: RequestTime) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

type Mode = 'auto' | 'legacy';

/** Connects before a deadline. Throws an `EvidenceError`. */
export async function connect(
  server: ToolServer,
  parts: ConnectionParts,
  deadlineMs: number,
): Promise<Connection> {
  if (!('command' in server)) return open(server, parts, deadlineMs, 'auto');
  const now = parts.clock.now();
  try {
    return await open(server, parts, now + (deadlineMs - now) / 2, 'auto');
  } catch (error) {
    // Some servers end, or say nothing, when they are asked anything before the handshake.
    if (!isEvidenceError(error) || !FOR_THE_HANDSHAKE.has(error.code)) throw error;
    if (error.cause instanceof Error && 'syscall' in error.cause) throw error;
    return open(server, parts, deadlineMs, 'legacy');
  }
}

const FOR_THE_HANDSHAKE: ReadonlySet<string> = new Set([
  'SERVER_UNREACHABLE',
  'SERVER_TIMEOUT',
  'ANSWER_UNUSABLE',
]);

async function open(
  server: ToolServer,
  parts: ConnectionParts,
  deadlineMs: number,
  mode: Mode,
): Promise<Connection> {
  const { clock, version, signal } = parts;
  const { transport, fault, release } = transportTo(server, parts);
  const client = new Client(
    { name: 'checkpoint', version },
    {
      capabilities: {},
      versionNegotiation: { mode },
      // What asks back is refused: nobody is there to be asked.
      inputRequired: { autoFulfill: false },
    },
  );
  let state: 'open' | 'worn' | 'closed' = 'open';
  let busy = 0;
  let closing: Promise<void> | undefined;
  client.onclose = () => {
    state = 'closed';
    release();
  };
  const close = (): Promise<void> => {
    // The transport is closed by itself too: before it is connected, the client knows of none.
    if (closing === undefined) {
      closing = Promise.allSettled([client.close(), transport.close()]).then(release);
      parts.onClosing(closing);
    }
    return closing;
  };
  const timed = async <T>(until: number, work: (time: RequestTime) => Promise<T>): Promise<T> => {
    const timeout = Math.floor(until - clock.now());
    if (timeout <= 0) throw new EvidenceError('SERVER_TIMEOUT', server.name, NO_ANSWER);
    try {
      return await work({ signal, timeout, maxTotalTimeout: timeout });
    } catch (error) {
      if (signal.aborted) {
        throw new EvidenceError('SERVER_UNREACHABLE', server.name, 'the source was closed');
      }
      throw fault() ?? toldError(error, server.name);
    }
  };
  try {
    await timed(deadlineMs, (time) => client.connect(transport, time));
  } catch (error) {
    void close();
    throw error;
  }
  return {
    usable: () => state === 'open' && fault() === undefined,
    request: async (until, work) => {
      busy++;
      try {
        return await timed(until, (time) => work(client, time));
      } catch (error) {
        // A server that is late for one request is not trusted with the next one.
        if (isEvidenceError(error) && error.code !== 'CALL_REFUSED') state = 'worn';
        throw error;
      } finally {
        busy--;
        if (state === 'worn' && busy === 0) void close();
      }
    },
    close,
  };
}

interface Link {
  readonly transport: Transport;
  readonly fault: () => EvidenceError | undefined;
  readonly release: () => void;
}

function transportTo(server: ToolServer, parts: ConnectionParts): Link {
  if ('command' in server) {
    const transport = stdioTransport(server.name, startOf(server, parts), parts.onWarning);
    return { transport, fault: () => transport.fault(), release: () => undefined };
  }
  let fault: EvidenceError | undefined;
  const { name, url, headers, privateNetwork } = server;
  const bounded = boundedFetch({
    server: name,
    headers,
    privateNetwork,
    onFault: (found) => {
      fault ??= found;
      void transport.close();
    },
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: bounded.fetch,
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
  return { transport, fault: () => fault, release: () => bounded.close() };
}

function startOf({ command, args, env }: StdioServer, { environment }: ConnectionParts) {
  return { command, args, environment: { ...environment, ...env } };
}
