/** HTTP as it goes over the wire: any header in any case, twice or not at all, and a body in parts. */
import { request, type IncomingMessage } from 'node:http';

/** What a server answered. */
export interface Reply {
  readonly status: number;
  /** By lower-case name; a header that was sent twice is joined. */
  readonly headers: { readonly [name: string]: string | undefined };
  readonly text: string;
  /** The body where it is JSON, otherwise an empty object. */
  readonly body: { readonly [name: string]: unknown };
}

/** One request; a header of value undefined is left out, a list is sent as several lines. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body?: string | Uint8Array;
}

/** A request whose body goes out in parts. */
export interface OpenRequest {
  write(part: string): Promise<void>;
  end(part?: string | Uint8Array): void;
  /** Cuts the connection. */
  abort(): void;
  /** Rejects when the connection ends before the answer. */
  readonly reply: Promise<Reply>;
}

/** Sends one request on a connection of its own. */
export function rawRequest(url: string, options: RawRequest = {}): Promise<Reply> {
  const { body } = options;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const open = openRequest(url, { ...options, headers: { ...length, ...options.headers } });
  open.end(body);
  return open.reply;
}

/** Begins a request. Nothing is added to its headers but `Host` and `Connection`. */
export function openRequest(url: string, options: RawRequest = {}): OpenRequest {
  const { method = 'POST', headers = {} } = options;
  const all = { host: new URL(url).host, connection: 'close', ...headers };
  const overridden = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const lines = Object.entries(all).flatMap(([name, value]) => {
    if (value === undefined || (!(name in headers) && overridden.has(name))) return [];
    return [value].flat().flatMap((one) => [name, one]);
  });
  const outgoing = request(url, { method, agent: false, headers: lines });
  const reply = new Promise<Reply>((resolve, reject) => {
    outgoing.on('error', reject).on('response', (incoming) => {
      readReply(incoming).then(resolve, reject);
    });
  });
  // Whoever aborts does not wait for the answer.
  reply.catch(() => undefined);
  return {
    reply,
    write: (part) =>
      new Promise((resolve) => {
        outgoing.write(part, () => {
          resolve();
        });
      }),
    end: (part) => {
      outgoing.end(part);
    },
    abort: () => {
      outgoing.destroy();
    },
  };
}

async function readReply(incoming: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
  const json = /^application\/(?:[\w.]+\+)?json/.test(headers['content-type'] ?? '') && text !== '';
  const body = json ? (JSON.parse(text) as Reply['body']) : {};
  return { status: incoming.statusCode ?? 0, headers, text, body };
}
