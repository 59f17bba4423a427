// The sinks of a process by their names, which are part of the lanes of its rows. Loads none of them.
import type { Settings } from '../settings.ts';

/** What is configured: the log is always there. */
export interface SinkSettings extends Pick<Settings, 'topicArn' | 'eventBus'> {
  readonly webhooks: readonly { readonly name: string }[];
}

/** Those of a deployment, also for functions that do not read the secrets of its webhooks. */
export function deployedSinks(settings: Settings): readonly string[] {
  const named = settings.webhookNames.map((name) => ({ name }));
  return sinkNames({ ...settings, webhooks: [...settings.webhooks, ...named] });
}

/** The names, in the order in which rows are written. */
export function sinkNames({ webhooks, topicArn, eventBus }: SinkSettings): readonly string[] {
  return [
    'log',
    ...(topicArn === undefined ? [] : ['sns']),
    ...(eventBus === undefined ? [] : ['eventbridge']),
    ...webhooks.map(({ name }) => name),
  ];
}
