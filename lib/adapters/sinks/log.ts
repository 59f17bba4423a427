// The log sink: a notification as one log line, for laptops and for deployments without a receiver.
import type { NotificationSink } from '../../core/ports/sink.ts';

/** Writes one line; `fields` are what the line carries beside its message. */
export type WriteLine = (fields: { readonly [name: string]: unknown }, message: string) => void;

/** Delivers to a log. It accepts every message: the payload holds no sensitive value. */
export function logSink(write: WriteLine): NotificationSink {
  return {
    name: 'log',
    deliver: async ({ id, tenant, payload }) => {
      write({ notification: id, tenant, ...payload }, 'notification');
    },
  };
}
