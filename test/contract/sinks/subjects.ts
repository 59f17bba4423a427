/** The sinks that the contract runs over, each in front of a receiver on a local port. */
import type { ServerResponse } from 'node:http';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import type { AwsClient } from '../../../lib/adapters/outbound/aws.ts';
import { eventBridgeSink } from '../../../lib/adapters/sinks/eventbridge.ts';
import { logSink } from '../../../lib/adapters/sinks/log.ts';
import { snsSink } from '../../../lib/adapters/sinks/sns.ts';
import { webhookSink } from '../../../lib/adapters/sinks/webhook.ts';
import type { NotificationSink } from '../../../lib/core/ports/sink.ts';
import { startAws, type AwsAnswer, type AwsService } from '../../support/aws-receiver.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import type { Behaviour, SinkBench, SinkSubject } from './contract.ts';

const clock = systemClock;
const NEVER = 'a log accepts every message';

const log: SinkSubject = {
  name: 'log',
  open: () => {
    const lines: string[] = [];
    const sink = logSink((fields) => lines.push(JSON.stringify(fields)));
    return Promise.resolve({ sink, received: () => lines, close: () => Promise.resolve() });
  },
  never: {
    throttles: NEVER,
    denies: NEVER,
    refuses: NEVER,
    breaks: NEVER,
    hangs: NEVER,
    gone: NEVER,
  },
};

/** A bench on a receiver, which is closed before the delivery where nobody is to be there. */
async function benchOf(
  receiver: Receiver,
  behaviour: Behaviour,
  sinkAt: (url: string) => NotificationSink,
): Promise<SinkBench> {
  const { url, received } = receiver;
  const sink = sinkAt(url);
  if (behaviour === 'gone') await receiver.close();
  return {
    sink,
    received: () => received.map(({ body }) => body),
    close: () => (behaviour === 'gone' ? Promise.resolve() : receiver.close()),
  };
}

const silent = (behaviour: Behaviour): ((response: ServerResponse) => void) | undefined => {
  if (behaviour === 'breaks') return (response) => response.destroy();
  return behaviour === 'hangs' ? () => undefined : undefined;
};

const STATUS: Partial<Record<Behaviour, number>> = { throttles: 429, denies: 403, refuses: 422 };

const webhook: SinkSubject = {
  name: 'desk',
  open: async (behaviour) => {
    const status = STATUS[behaviour] ?? 204;
    const answer = (response: ServerResponse) => response.writeHead(status).end('Ana');
    const secrets = [`whsec_${Buffer.from('a secret of the receiver').toString('base64')}`];
    return benchOf(await startReceiver(silent(behaviour) ?? answer), behaviour, (url) =>
      webhookSink({ name: 'desk', url, secrets, clock }),
    );
  },
};

const CODES: Record<AwsService, Partial<Record<Behaviour, AwsAnswer>>> = {
  sns: {
    throttles: { status: 400, code: 'Throttled' },
    denies: { status: 403, code: 'AuthorizationError' },
    refuses: { status: 400, code: 'InvalidParameter' },
  },
  eventbridge: {
    throttles: { status: 400, code: 'ThrottlingException' },
    denies: { status: 400, code: 'AccessDeniedException' },
    refuses: { status: 400, code: 'ValidationException' },
  },
};

/** Why nobody can be away from here. */
export const HIDDEN_ERROR =
  'the SDK hides errors of another realm, which test files are; a process of its own shows it';

function aws(service: AwsService, sinkAt: (client: AwsClient) => NotificationSink): SinkSubject {
  return {
    name: service,
    open: async (behaviour) => {
      const quiet = silent(behaviour);
      const receiver =
        quiet === undefined
          ? await startAws(service, CODES[service][behaviour] ?? { status: 200 })
          : await startReceiver(quiet);
      return benchOf(receiver, behaviour, (url) => sinkAt(clientAt(url)));
    },
    never: { gone: HIDDEN_ERROR },
  };
}

/** A client of a receiver. */
export function clientAt(url: string): AwsClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { endpoint: new URL(url).origin, region: 'eu-central-1', credentials };
}

export const TOPIC_ARN = 'arn:aws:sns:eu-central-1:123456789012:notifications';

/** All of them. */
export const SINKS: readonly SinkSubject[] = [
  log,
  webhook,
  aws('sns', (client) => snsSink({ topicArn: TOPIC_ARN, clock, client })),
  aws('eventbridge', (client) => eventBridgeSink({ eventBus: 'operations', clock, client })),
];
