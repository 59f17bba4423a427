// The EventBridge sink: one event on a bus. A target knows a repeat by `detail.id`.
// An answer 200 may carry a refusal of its entry: it is a failure like any other.
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError, type NotificationSink } from '../../core/ports/sink.ts';
import { refusedBy, sendingOnce, sent, type AwsClient } from '../outbound/aws.ts';
import { bodyOf } from './body.ts';

/** The bus, by name or ARN, and where it is. */
export interface EventBridgeOptions {
  readonly eventBus: string;
  readonly clock: Clock;
  readonly client?: AwsClient;
}

/** What events of ours say that they come from. */
export const EVENT_SOURCE = 'checkpoint';

/** Delivers to a bus. */
export function eventBridgeSink(options: EventBridgeOptions): NotificationSink {
  const { eventBus, clock, client = {} } = options;
  const bridge = new EventBridgeClient(sendingOnce(client));
  return {
    name: 'eventbridge',
    deliver: async (message, deadlineMs) => {
      const { type, timestamp, data } = bodyOf(message);
      const command = new PutEventsCommand({
        Entries: [
          {
            EventBusName: eventBus,
            Source: EVENT_SOURCE,
            DetailType: type,
            Detail: JSON.stringify(data),
            ...(timestamp !== undefined && { Time: new Date(timestamp) }),
          },
        ],
      });
      const answer = await sent(clock, deadlineMs, (more) => bridge.send(command, more));
      const [entry] = answer.Entries ?? [];
      if ((answer.FailedEntryCount ?? 0) > 0 || entry?.ErrorCode !== undefined) {
        throw refusedBy(entry?.ErrorCode ?? 'UnknownError');
      }
      if (entry?.EventId === undefined) throw new DeliveryError('unknown', 'no event id');
    },
  };
}
