// A stdio transport for the official client, with bounds on everything a process can do to its parent:
// the length of a line, what it says without answering, and how long it takes to end.
// Invariants: a message reaches the client only if something is waiting for it, or it asks us; whatever
// ends the connection ends the process, and the client is told once.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { LIMITS } from '../../core/limits.ts';
import { EvidenceError } from '../../core/ports/evidence.ts';
import { startChild, type Child, type ChildOptions } from './child.ts';
import { createLineReader } from './lines.ts';
import { readLine } from './messages.ts';
import { countOddities, type OnWarning } from './warnings.ts';

/** The transport, and what is known of a connection that ended by itself. */
export interface StdioTransport extends Transport {
  /** Why the connection ended; undefined while it lasts, and where it was closed on purpose. */
  fault(): EvidenceError | undefined;
}

/** JSON-RPC: what was received is no valid message. */
const PARSE_ERROR = -32_700;

/** Makes a transport that starts the process on `start`. */
export function stdioTransport(
  server: string,
  options: ChildOptions,
  onWarning: OnWarning,
): StdioTransport {
  const odd = countOddities(server, onWarning);
  const waiting = new Set<string | number>();
  let child: Child | undefined;
  let fault: EvidenceError | undefined;
  let closing: Promise<void> | undefined;
  let told = false;
  let chatter = { bytes: 0, lines: 0 };
  let note = Buffer.alloc(0);

  const tellEnd = (): void => {
    if (told) return;
    told = true;
    transport.onclose?.();
  };
  const lastWords = (): string | undefined =>
    note.length === 0 ? undefined : note.toString('utf8').trim();
  const fail = (code: EvidenceError['code'], message: string): void => {
    fault ??= new EvidenceError(code, server, message, { lastWords: lastWords() });
    child?.kill();
    tellEnd();
  };
  const deliver = (message: JSONRPCMessage): void => {
    if ('method' in message) {
      if ('id' in message) odd('a request that is refused');
      transport.onmessage?.(message);
      return;
    }
    if (message.id === undefined || !waiting.delete(message.id)) {
      odd('an answer to nothing that was asked');
      return;
    }
    chatter = { bytes: 0, lines: 0 };
    transport.onmessage?.(message);
  };
  const onLine = (line: Buffer): void => {
    if (told) return;
    const { max } = LIMITS.evidenceChatterLines;
    if (++chatter.lines > max) {
      fail('ANSWER_TOO_LARGE', `it wrote more than ${max} lines without answering`);
      return;
    }
    const { messages, unusable, odd: oddity } = readLine(line);
    if (oddity !== undefined) odd(oddity);
    for (const message of messages) deliver(message);
    for (const id of unusable) {
      const error = { code: PARSE_ERROR, message: 'the answer cannot be read' };
      deliver({ jsonrpc: '2.0', id, error });
    }
  };
  const onOutput = (chunk: Buffer): void => {
    chatter.bytes += chunk.length;
    reader.push(chunk);
    const { max } = LIMITS.evidenceChatterBytes;
    if (chatter.bytes > max)
      fail('ANSWER_TOO_LARGE', `it wrote more than ${max} bytes without answering`);
  };
  const reader = createLineReader(LIMITS.evidenceMessageBytes.max, onLine, () => {
    const { max } = LIMITS.evidenceMessageBytes;
    fail('ANSWER_TOO_LARGE', `it wrote a line of more than ${max} bytes`);
  });

  const transport: StdioTransport = {
    fault: () => fault,
    start: async () => {
      const started = await startChild(options).catch((cause: unknown) => {
        const { code } = cause as NodeJS.ErrnoException;
        const message = `its command cannot be started (${code ?? 'unknown reason'})`;
        fault = new EvidenceError('SERVER_UNREACHABLE', server, message, { cause });
        throw fault;
      });
      child = started;
      started.stdout.on('data', onOutput).on('error', () => undefined);
      started.stderr
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          odd('text on standard error');
          note = Buffer.concat([note, chunk]).subarray(-LIMITS.evidenceNoteBytes.max);
        });
      void started.ended.then((how) => {
        if (closing === undefined) fail('SERVER_UNREACHABLE', `its process ended ${how}`);
        tellEnd();
      });
    },
    send: (message) => {
      if (child === undefined || told) {
        return Promise.reject(fault ?? new EvidenceError('SERVER_UNREACHABLE', server, 'it ended'));
      }
      noteSent(message, waiting);
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => {
      closing ??= (child?.end() ?? Promise.resolve()).finally(tellEnd);
      return closing;
    },
  };
  return transport;
}

/** Keeps what is waited for: what was cancelled is not, and its late answer is an oddity. */
function noteSent(message: JSONRPCMessage, waiting: Set<string | number>): void {
  if (!('method' in message)) return;
  if ('id' in message) waiting.add(message.id);
  else if (message.method === 'notifications/cancelled') {
    const { requestId } = (message.params ?? {}) as { readonly requestId?: string | number };
    if (requestId !== undefined) waiting.delete(requestId);
  }
}
