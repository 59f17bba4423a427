// A delivery in a process of its own: prints how it failed. Arguments: the service and where it is.
import { systemClock } from '../../lib/adapters/runtime/system.ts';
import { eventBridgeSink } from '../../lib/adapters/sinks/eventbridge.ts';
import { snsSink } from '../../lib/adapters/sinks/sns.ts';
import { opsCenterTickets } from '../../lib/adapters/tickets/ops-center.ts';
import { isDeliveryError } from '../../lib/core/ports/sink.ts';

const [service = '', endpoint = ''] = process.argv.slice(2);
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const client = { endpoint: new URL(endpoint).origin, region: 'eu-central-1', credentials };
const topicArn = 'arn:aws:sns:eu-central-1:123456789012:notifications';
const message = { id: 'a', tenant: 'acme', payload: {} };
const by = Date.now() + 5_000;
const clock = systemClock;
const deliveries: Record<string, () => Promise<unknown>> = {
  sns: () => snsSink({ topicArn, clock, client }).deliver(message, by),
  eventbridge: () =>
    eventBridgeSink({ eventBus: 'operations', clock, client }).deliver(message, by),
  opscenter: () => opsCenterTickets({ clock, client }).find('acme', 'k', by),
};
try {
  await deliveries[service]?.();
} catch (error) {
  if (!isDeliveryError(error)) throw error;
  process.stdout.write(JSON.stringify([error.kind, error.message]));
}
