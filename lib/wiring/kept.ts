// What every function of a deployment finds by its settings: the table, and webhooks with their secrets.
import type { DeploymentValues } from '../adapters/deployment/read-values.ts';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { createDynamoStore } from '../adapters/dynamodb/store.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { Fault } from '../core/fault.ts';
import { expectedOf } from '../core/shape-words.ts';
import { webhookList, type WebhookSettings } from '../settings/webhooks.ts';
import type { Settings } from '../settings.ts';

/** Opens the store of a table. */
export function openTable(tableName: string) {
  const client = createDynamoClient();
  return createDynamoStore({ client, tableName, clock: systemClock, random: systemRandom });
}

/** A setting that a deployment has. Throws a terminal fault where it has not. */
export function needed(
  settings: Settings,
  name: 'table' | 'secretId' | 'publicUrlParameter',
  env: string,
): string {
  const value = settings[name];
  if (value !== undefined) return value;
  throw new Fault('terminal', 'START_REFUSED', `${env} is not set`);
}

/**
 * The webhooks of a deployment, which Secrets Manager keeps because they hold secrets. Throws a terminal
 * fault where the secret's text is no list of webhooks, or one of others than those that rows are written
 * for; it names the place and nothing of the text.
 */
export async function keptWebhooks(
  { webhooks, webhooksSecretId, webhookNames }: Settings,
  values: DeploymentValues,
): Promise<readonly WebhookSettings[]> {
  if (webhooksSecretId === undefined) return webhooks;
  const read = webhookList.safeParse(await values.secret(webhooksSecretId));
  if (read.success) {
    const names = read.data.map(({ name }) => name);
    if (names.toSorted().join() === webhookNames.toSorted().join()) {
      return [...webhooks, ...read.data];
    }
    const differ = `the secret ${webhooksSecretId} holds other webhooks than CHECKPOINT_WEBHOOK_NAMES names`;
    throw new Fault('terminal', 'START_REFUSED', differ);
  }
  const [issue] = read.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  const what = `the secret ${webhooksSecretId} holds no list of webhooks${place}: ${issue === undefined ? '' : expectedOf(issue)}`;
  throw new Fault('terminal', 'START_REFUSED', what);
}
