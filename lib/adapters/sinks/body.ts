// A notification as receivers get it, whichever way it comes.
import type { Message } from '../../core/ports/sink.ts';

/** Type, time and data of a message; the same for every delivery. */
export interface NotificationBody {
  readonly type: string;
  readonly timestamp: string | undefined;
  readonly data: { readonly [name: string]: unknown };
}

/** The body of a message. Its id is in `data`, which is what a receiver knows a repeat by. */
export function bodyOf({ id, tenant, payload }: Message): NotificationBody {
  const { kind, at } = payload;
  return {
    type: typeof kind === 'string' ? `checkpoint.${kind}` : 'checkpoint',
    timestamp: typeof at === 'string' ? at : undefined,
    data: { id, tenant, ...payload },
  };
}
