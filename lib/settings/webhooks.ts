/**
 * The value of `CHECKPOINT_WEBHOOKS`: where notifications are posted, and the secrets that sign them.
 * It sends nothing.
 */
import * as z from 'zod';
import { jsonList } from './json-list.ts';
import { isSecureUrl } from './value-types.ts';

/** A receiver of notifications, as the rest of the code sees it. */
export interface WebhookSettings {
  /** Short name; part of the lane that its rows wait in, so it stays the same when the URL changes. */
  readonly name: string;
  readonly url: string;
  /** Secrets in base64 behind `whsec_`; all of them sign. */
  readonly secrets: readonly string[];
}

/** One secret: base64 behind `whsec_`. */
export const webhookSecret = z
  .string()
  .regex(
    /^whsec_(?:[A-Za-z0-9+/]{4}){6,64}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'expected whsec_ and at least 24 characters of base64',
  );

/** Names of the sinks that are no webhooks. */
const OWN_SINKS: ReadonlySet<string> = new Set(['log', 'sns', 'eventbridge']);

const webhookName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected 1 to 32 of a-z 0-9 -, a letter first')
  .refine(
    (name) => !OWN_SINKS.has(name),
    'expected another name than log, sns and eventbridge, which are sinks of their own',
  );

const webhookEntry = z.strictObject({
  name: webhookName,
  url: z
    .string()
    .max(2048)
    .refine(isSecureUrl, 'expected an https URL (http only to this machine)'),
  secrets: z.array(webhookSecret).min(1, 'expected at least one secret').max(4),
});

/** Names of webhooks, separated by commas, each once. */
export const webhookNames = z
  .string()
  .transform((text) => (text === '' ? [] : text.split(',').map((name) => name.trim())))
  .pipe(z.array(webhookName).max(20))
  .refine((names) => new Set(names).size === names.length);

/** A JSON array of webhooks with unique names. */
export const webhookList = jsonList(webhookEntry, 20, ['name']);
