/**
 * What no emulator produces, put in front of one: a shim replaces or delays answers of the service on
 * their way to the SDK, below its retries, so that the whole client is under test.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

/** One call on its way to the service. */
export interface PassingCall {
  readonly operation: string;
  readonly body: {
    readonly TransactItems?: readonly Readonly<Record<string, { readonly Key?: unknown }>>[];
    readonly ClientRequestToken?: string;
    readonly IndexName?: string;
    readonly ConsistentRead?: boolean;
    readonly [name: string]: unknown;
  };
  /** Sends it on and answers what the service answers. */
  pass(): Promise<Answer>;
}

/** An HTTP answer. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/** Decides what becomes of a call; undefined lets it pass. */
export type Interference = (call: PassingCall) => Promise<Answer> | undefined;

/** Whatever a client sends is shown to the interference that is set at that moment. */
export interface Shim {
  set(interference: Interference): void;
  /** Names of the calls that were sent since the last time, the repeated ones included. */
  sent(): readonly string[];
}

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface Handler {
  handle(
    request: Request,
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<{ readonly response: Answer }>;
}

/** Puts a shim on a client, in the place of the network. */
export function shimOn(client: DynamoDBDocumentClient): Shim {
  let interference: Interference = () => undefined;
  let sent: string[] = [];
  const handler = client.config.requestHandler as unknown as Handler;
  const handle = handler.handle.bind(handler);
  handler.handle = async (request, options) => {
    const operation = (request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    sent.push(operation);
    const call: PassingCall = {
      operation,
      body: JSON.parse(new TextDecoder().decode(request.body)) as PassingCall['body'],
      pass: async () => (await handle(request, options)).response,
    };
    const replaced = interference(call);
    if (replaced === undefined) return handle(request, options);
    return { response: await Promise.race([replaced, aborted(options?.abortSignal)]) };
  };
  return {
    set: (next) => {
      interference = next;
    },
    sent: () => {
      const names = sent;
      sent = [];
      return names;
    },
  };
}

/** Rejects as the network does when a call is given up. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      reject(Object.assign(new Error('given up'), { name: 'AbortError' }));
    });
  });
}

/** The answer of an exception, as the service puts it. */
export function exception(type: string, more: object = {}, statusCode = 400): Answer {
  const __type = `com.amazonaws.dynamodb.v20120810#${type}`;
  return {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify({ __type, message: 'from the shim', ...more }), 'utf8'),
  };
}

/** A cancelled transaction with one code per item, in their order. */
export function cancelled(codes: readonly string[]): Answer {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  return exception('TransactionCanceledException', { CancellationReasons });
}

/** The error of a connection that was cut. */
export function cutOff(code: string): Promise<never> {
  return Promise.reject(Object.assign(new Error('from the shim'), { code, name: code }));
}

/** Interferes with the first so many calls of an operation, and lets the others pass. */
export function firstCalls(
  operation: string,
  count: number,
  interference: (call: PassingCall, n: number) => Promise<Answer> | undefined,
): Interference {
  let seen = 0;
  return (call) => {
    if (call.operation !== operation || seen >= count) return undefined;
    seen += 1;
    return interference(call, seen);
  };
}

/** Passes a call on; its answer, and what is in it. */
export async function jsonOf(
  call: PassingCall,
): Promise<{ readonly answer: Answer; readonly content: Readonly<Record<string, unknown>> }> {
  const answer = await call.pass();
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body as AsyncIterable<Buffer>) chunks.push(chunk);
  const content = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  return { answer, content };
}

/** The number of items of a transaction. */
export const itemsOf = ({ body }: PassingCall): number => body.TransactItems?.length ?? 0;

/** The sort keys that a transaction writes or reads, in order. */
export function sortKeysOf({ body }: PassingCall): readonly string[] {
  return (body.TransactItems ?? []).map((item) => {
    const [action] = Object.values(item) as { Key?: object; Item?: object }[];
    const key = unmarshall((action?.Key ?? action?.Item ?? {}) as Parameters<typeof unmarshall>[0]);
    return String(key['sk']);
  });
}
