// The SNS sink: one message on a topic. A subscriber knows a repeat by the attribute `id`, and can filter
// by `type` and `tenant`.
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { Clock } from '../../core/ports/runtime.ts';
import type { NotificationSink } from '../../core/ports/sink.ts';
import { sendingOnce, sent, type AwsClient } from '../outbound/aws.ts';
import { bodyOf } from './body.ts';

/** The topic, and where it is. */
export interface SnsOptions {
  readonly topicArn: string;
  readonly clock: Clock;
  readonly client?: AwsClient;
}

/** Delivers to a topic that is not FIFO. */
export function snsSink({ topicArn, clock, client = {} }: SnsOptions): NotificationSink {
  const sns = new SNSClient(sendingOnce(client));
  return {
    name: 'sns',
    deliver: async (message, deadlineMs) => {
      const body = bodyOf(message);
      const command = new PublishCommand({
        TopicArn: topicArn,
        Message: JSON.stringify(body),
        MessageAttributes: {
          id: text(message.id),
          type: text(body.type),
          tenant: text(message.tenant),
        },
      });
      await sent(clock, deadlineMs, (options) => sns.send(command, options));
    },
  };
}

const text = (StringValue: string) => ({ DataType: 'String', StringValue });
