// The sink port: where an outbox row goes when it leaves.
import type { OutboxRow } from '../model/workflow.ts';

/** What a sink is given. `id` is the same for every delivery of a row. */
export type Message = Pick<OutboxRow, 'id' | 'tenant' | 'payload'>;

/**
 * A receiver of effects. `deliver` resolves once the receiver has accepted the message and throws a
 * `DeliveryError` otherwise; it settles before `deadlineMs` (epoch milliseconds), whatever the
 * receiver does.
 */
export interface NotificationSink {
  readonly name: string;
  deliver(message: Message, deadlineMs: number): Promise<void>;
}

/**
 * A failed delivery. `retryable`: not accepted. `unknown`: it may have been accepted. `terminal`:
 * the receiver will never accept this message. The message is shown to people; it holds no payload.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly kind: 'retryable' | 'unknown' | 'terminal';
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: DeliveryError['kind'],
    message: string,
    options: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Recognises the error by name, whichever copy of the module made it. */
export function isDeliveryError(error: unknown): error is DeliveryError {
  return error instanceof Error && error.name === 'DeliveryError' && 'kind' in error;
}
