/**
 * The value of `CHECKPOINT_TICKETS`: where the ticket of an approved run is written. It sends nothing.
 */
import * as z from 'zod';
import { isSecureUrl } from './value-types.ts';
import { webhookSecret } from './webhooks.ts';

/** A ticket provider, as the rest of the code sees it. */
export type TicketSettings =
  | { readonly kind: 'built-in' }
  | { readonly kind: 'opscenter' }
  | { readonly kind: 'webhook'; readonly url: string; readonly secrets: readonly string[] };

const words = z.enum(['built-in', 'opscenter']).transform((kind): TicketSettings => ({ kind }));

const webhook = z
  .strictObject({
    webhook: z.strictObject({
      url: z
        .string()
        .max(2048)
        .refine(isSecureUrl, 'expected an https URL (http only to this machine)'),
      secrets: z.array(webhookSecret).min(1, 'expected at least one secret').max(4),
    }),
  })
  .transform(({ webhook: to }): TicketSettings => ({ kind: 'webhook', ...to }));

/** `built-in`, `opscenter`, or a JSON object that names a webhook. */
export const ticketProvider = z
  .string()
  .transform((text, context): unknown => {
    if (!text.trimStart().startsWith('{')) return text;
    try {
      return JSON.parse(text);
    } catch {
      // The parser's own message quotes the text, so it is not passed on.
      context.addIssue({ code: 'custom', message: 'expected JSON' });
      return z.NEVER;
    }
  })
  .transform((value, context): TicketSettings => {
    const read = (typeof value === 'string' ? words : webhook).safeParse(value);
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues) {
      context.addIssue({ code: 'custom', path, message });
    }
    return z.NEVER;
  });
