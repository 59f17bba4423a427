// Delivery in a deployment: the table, and the sinks that its settings name.
import { openDeploymentValues } from '../adapters/deployment/read-values.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { eventBridgeSink } from '../adapters/sinks/eventbridge.ts';
import { logSink } from '../adapters/sinks/log.ts';
import { snsSink } from '../adapters/sinks/sns.ts';
import { webhookSink } from '../adapters/sinks/webhook.ts';
import { stepFunctionsOrchestrator } from '../adapters/step-functions/orchestrator.ts';
import { createDispatcher, type Dispatcher } from '../core/dispatch/dispatcher.ts';
import type { Orchestrator } from '../core/ports/orchestrator.ts';
import type { NotificationSink } from '../core/ports/sink.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import { starter } from '../core/runs/execution.ts';
import type { Observers } from '../lambda/observers.ts';
import { readSettings, type Environment, type Settings } from '../settings.ts';
import type { WebhookSettings } from '../settings/webhooks.ts';
import { keptWebhooks, needed, openTable } from './kept.ts';
import { sinkNames, type SinkSettings } from './sink-names.ts';

/** What delivers, and where it writes to. */
export interface Delivery {
  readonly settings: Settings;
  readonly store: StorageBackend;
  readonly dispatcher: Dispatcher;
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
  /** What does the work of runs; absent where the deployment has none. */
  readonly orchestrator?: Orchestrator;
}

/**
 * Opens it. Throws a retryable fault when the webhooks cannot be read now, and a terminal one, or a
 * `SettingsError`, for what only a deployment can repair.
 */
export async function openDelivery(
  environment: Environment,
  observers: Pick<Observers, 'log' | 'onDelivery' | 'setLogLevel'>,
): Promise<Delivery> {
  const settings = readSettings(environment);
  observers.setLogLevel(settings.logLevel);
  const tableName = needed(settings, 'table', 'CHECKPOINT_TABLE');
  const values = openDeploymentValues();
  try {
    const webhooks = await keptWebhooks(settings, values);
    const configured = { ...settings, webhooks };
    const store = openTable(tableName);
    const { runMachineArn: stateMachineArn } = settings;
    const runs =
      stateMachineArn === undefined
        ? undefined
        : stepFunctionsOrchestrator({ stateMachineArn, clock: systemClock });
    const dispatcher = createDispatcher({
      store,
      sinks: sinksOf(configured, observers),
      ...(runs !== undefined && { starter: starter(store, runs) }),
      clock: systemClock,
      random: systemRandom,
      onDelivery: observers.onDelivery,
    });
    const sinks = sinkNames(configured);
    return {
      settings,
      store,
      dispatcher,
      sinks,
      ...(runs !== undefined && { orchestrator: runs }),
    };
  } finally {
    values.close();
  }
}

function sinksOf(
  {
    webhooks,
    topicArn,
    eventBus,
  }: Omit<SinkSettings, 'webhooks'> & { readonly webhooks: readonly WebhookSettings[] },
  { log }: Pick<Observers, 'log'>,
): readonly NotificationSink[] {
  return [
    logSink((fields, msg) => {
      log({ ...fields, level: 'info', msg });
    }),
    ...(topicArn === undefined ? [] : [snsSink({ topicArn, clock: systemClock })]),
    ...(eventBus === undefined ? [] : [eventBridgeSink({ eventBus, clock: systemClock })]),
    ...webhooks.map((to) => webhookSink({ ...to, clock: systemClock })),
  ];
}
