// One signed HTTP request to somebody outside, by the Standard Webhooks specification. A receiver knows
// a repeat by `webhook-id`, which is also sent as `Idempotency-Key`. No redirect is followed.
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError } from '../../core/ports/sink.ts';

/** What is sent: `id` is the same for every repeat; a body is JSON text, and empty where none is sent. */
export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly id: string;
  readonly body: string;
}

/** Sends one request by `deadlineMs` (epoch milliseconds); throws a `DeliveryError` alone. */
export type SendSigned = (request: SignedRequest, deadlineMs: number) => Promise<Response>;

/** Signs with base64 secrets with the prefix `whsec_`; while one replaces another, both sign. */
export function signedSender(secrets: readonly string[], clock: Clock): SendSigned {
  const signers = secrets.map((secret) => new Webhook(secret));
  return ({ method, url, id, body }, deadlineMs) => {
    const at = new Date(clock.now());
    const headers = {
      'user-agent': 'checkpoint',
      'idempotency-key': id,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(id, at, body)).join(' '),
      ...(body !== '' && { 'content-type': 'application/json' }),
    };
    const request = { method, headers, ...(body !== '' && { body }) };
    return sendOnce(url, request, deadlineMs - clock.now());
  };
}

async function sendOnce(url: string, request: RequestInit, withinMs: number): Promise<Response> {
  const signal = AbortSignal.timeout(Math.max(1, withinMs));
  try {
    return await fetch(url, { ...request, signal, redirect: 'manual' });
  } catch (cause) {
    throw signal.aborted ? late(cause) : unanswered(cause);
  }
}

const late = (cause: unknown) => new DeliveryError('unknown', 'no answer in time', { cause });

/** Where no connection was made, nothing was sent. */
function unanswered(cause: unknown): DeliveryError {
  const code = codeOf(cause);
  const kind = code !== undefined && NOT_CONNECTED.has(code) ? 'retryable' : 'unknown';
  return new DeliveryError(kind, `no answer (${code ?? 'connection failed'})`, { cause });
}

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The system's or the client's own code, of letters, digits and `_` only. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  const code = cause?.code;
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : undefined;
}

/** The body of an answer as text, of at most `most` bytes; one that breaks off or is longer is unknown. */
export async function boundedText({ body }: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > most) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw (cause as Error).name === 'TimeoutError' ? late(cause) : unanswered(cause);
  }
  if (bytes > most) throw new DeliveryError('unknown', 'the answer is too long');
  return Buffer.concat(chunks).toString('utf8');
}

/** Answers that mean: this very message will never be taken. Any other refusal may pass. */
const NEVER_TAKEN = new Set([400, 410, 413, 415, 422]);

/** The failure that an answer stands for. */
export function refusal({ status, headers }: Response, now: number): DeliveryError {
  const kind = NEVER_TAKEN.has(status) ? 'terminal' : 'retryable';
  const retryAfterMs = pauseIn(headers.get('retry-after'), now);
  return new DeliveryError(kind, `HTTP ${status}`, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** `Retry-After` is a number of seconds or a date. */
function pauseIn(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
