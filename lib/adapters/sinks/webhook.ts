// The webhook sink: one signed POST per message. Nothing of an answer but its status is looked at.
import type { Clock } from '../../core/ports/runtime.ts';
import type { NotificationSink } from '../../core/ports/sink.ts';
import { refusal, signedSender } from '../outbound/http.ts';
import { bodyOf } from './body.ts';

/** Where messages go, and the secrets they are signed with. */
export interface WebhookOptions {
  readonly name: string;
  readonly url: string;
  /** Base64 secrets with the prefix `whsec_`; while one replaces another, both sign. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
}

/** Delivers to a URL. */
export function webhookSink({ name, url, secrets, clock }: WebhookOptions): NotificationSink {
  const send = signedSender(secrets, clock);
  return {
    name,
    deliver: async (message, deadlineMs) => {
      const body = JSON.stringify(bodyOf(message));
      const response = await send({ method: 'POST', url, id: message.id, body }, deadlineMs);
      await response.body?.cancel();
      if (!response.ok) throw refusal(response, clock.now());
    },
  };
}
