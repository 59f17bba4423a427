// The webhook sink: one signed POST per message, by the Standard Webhooks specification.
// A receiver knows a repeat by `webhook-id`, which is also sent as `Idempotency-Key`.
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError, type NotificationSink } from '../../core/ports/sink.ts';
import { bodyOf } from './body.ts';

/** Where messages go, and the secrets they are signed with. */
export interface WebhookOptions {
  readonly name: string;
  readonly url: string;
  /** Base64 secrets with the prefix `whsec_`; while one replaces another, both sign. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
}

/** Answers that mean: this very message will never be taken. Any other refusal may pass. */
const NEVER_TAKEN = new Set([400, 410, 413, 415, 422]);

/** Delivers to a URL. No redirect is followed, and nothing of an answer but its status is looked at. */
export function webhookSink({ name, url, secrets, clock }: WebhookOptions): NotificationSink {
  const signers = secrets.map((secret) => new Webhook(secret));
  return {
    name,
    deliver: async (message, deadlineMs) => {
      const body = JSON.stringify(bodyOf(message));
      const sent = new Date(clock.now());
      const signature = signers.map((signer) => signer.sign(message.id, sent, body)).join(' ');
      const response = await post(url, deadlineMs - clock.now(), body, {
        'content-type': 'application/json',
        'user-agent': 'checkpoint',
        'idempotency-key': message.id,
        'webhook-id': message.id,
        'webhook-timestamp': String(Math.floor(sent.getTime() / 1_000)),
        'webhook-signature': signature,
      });
      await response.body?.cancel();
      if (!response.ok) throw refusal(response, clock.now());
    },
  };
}

async function post(
  url: string,
  withinMs: number,
  body: string,
  headers: Record<string, string>,
): Promise<Response> {
  const signal = AbortSignal.timeout(Math.max(1, withinMs));
  try {
    return await fetch(url, { method: 'POST', body, headers, signal, redirect: 'manual' });
  } catch (cause) {
    if (signal.aborted) throw new DeliveryError('unknown', 'no answer in time', { cause });
    const code = codeOf(cause);
    // Where no connection was made, nothing was sent.
    const kind = code !== undefined && NOT_CONNECTED.has(code) ? 'retryable' : 'unknown';
    throw new DeliveryError(kind, `no answer (${code ?? 'connection failed'})`, { cause });
  }
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

function refusal({ status, headers }: Response, now: number): DeliveryError {
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
