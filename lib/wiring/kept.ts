// What every function of a deployment finds by its settings: the table, and webhooks with their secrets.
import type * as z from 'zod';
import type { DeploymentValues } from '../adapters/deployment/read-values.ts';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { createDynamoStore } from '../adapters/dynamodb/store.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { Fault } from '../core/fault.ts';
import { expectedOf } from '../core/shape-words.ts';
import { evidenceServerList } from '../settings/evidence.ts';
import { ticketProvider } from '../settings/tickets.ts';
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
 * for.
 */
export async function keptWebhooks(
  { webhooks, webhooksSecretId, webhookNames }: Settings,
  values: DeploymentValues,
): Promise<readonly WebhookSettings[]> {
  if (webhooksSecretId === undefined) return webhooks;
  const kept = await keptIn(webhooksSecretId, values, webhookList, 'list of webhooks');
  const names = kept.map(({ name }) => name);
  if (names.toSorted().join() === webhookNames.toSorted().join()) return [...webhooks, ...kept];
  const differ = `the secret ${webhooksSecretId} holds other webhooks than CHECKPOINT_WEBHOOK_NAMES names`;
  throw new Fault('terminal', 'START_REFUSED', differ);
}

/** Where the tickets of a deployment are written. Throws as {@link keptWebhooks}. */
export async function keptTickets(
  { tickets, ticketsSecretId }: Pick<Settings, 'tickets' | 'ticketsSecretId'>,
  values: DeploymentValues,
): Promise<Settings['tickets']> {
  if (ticketsSecretId === undefined) return tickets;
  const kept = await keptIn(ticketsSecretId, values, ticketProvider, 'ticket provider');
  // What a function may do was deployed for the provider of the settings.
  if (kept.kind === 'webhook') return kept;
  throw notKept(ticketsSecretId, 'webhook: a provider that is named by a word is a setting');
}

/** The evidence servers of a deployment. Throws as {@link keptWebhooks}. */
export async function keptEvidence(
  { evidenceServers, evidenceSecretId }: Pick<Settings, 'evidenceServers' | 'evidenceSecretId'>,
  values: DeploymentValues,
): Promise<Settings['evidenceServers']> {
  if (evidenceSecretId === undefined) return evidenceServers;
  const what = 'list of evidence servers';
  const kept = await keptIn(evidenceSecretId, values, evidenceServerList, what);
  const command = kept.find(({ kind }) => kind === 'command');
  if (command === undefined) return kept;
  const fault = `${command.name} is a command, which a function does not have`;
  throw notKept(evidenceSecretId, `${what} for a function: ${fault}`);
}

/** A secret's text, read as a setting. What is thrown names the place and nothing of the text. */
async function keptIn<T>(
  id: string,
  values: DeploymentValues,
  type: z.ZodType<T, string>,
  what: string,
): Promise<T> {
  const read = type.safeParse(await values.secret(id));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  const fault = issue === undefined ? '' : expectedOf(issue);
  throw notKept(id, `${what}${place}: ${fault}`);
}

const notKept = (id: string, what: string): Fault =>
  new Fault('terminal', 'START_REFUSED', `the secret ${id} holds no ${what}`);
