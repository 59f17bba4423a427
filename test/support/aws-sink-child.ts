// A delivery in a process of its own: prints how it failed. Arguments: the service and where it is.
import { systemClock } from '../../lib/adapters/runtime/system.ts';
import { eventBridgeSink } from '../../lib/adapters/sinks/eventbridge.ts';
import { snsSink } from '../../lib/adapters/sinks/sns.ts';
import { isDeliveryError } from '../../lib/core/ports/sink.ts';

const [service, endpoint = ''] = process.argv.slice(2);
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const client = { endpoint: new URL(endpoint).origin, region: 'eu-central-1', credentials };
const topicArn = 'arn:aws:sns:eu-central-1:123456789012:notifications';
const sink =
  service === 'sns'
    ? snsSink({ topicArn, clock: systemClock, client })
    : eventBridgeSink({ eventBus: 'operations', clock: systemClock, client });
try {
  await sink.deliver({ id: 'a', tenant: 'acme', payload: {} }, Date.now() + 5_000);
} catch (error) {
  if (!isDeliveryError(error)) throw error;
  process.stdout.write(JSON.stringify([error.kind, error.message]));
}
