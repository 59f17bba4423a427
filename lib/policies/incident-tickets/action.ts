// The one action of this domain: `ticket.create` on a service. The digest is over what the schema answers.
import * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';

/** Changes with every change of what is asked or proposed; it is part of the digest. */
export const POLICY_VERSION = 'incident-tickets@1';

/** The type of the action. */
export const ACTION_TYPE = 'ticket.create';

/** How urgent a ticket is, the least first. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

/** How urgent a ticket is. */
export type Severity = (typeof SEVERITIES)[number];

/** Characters of a description: a symptom of the longest kind, and what is said around it. */
const DESCRIPTION_CHARS = 2 * LIMITS.symptomChars.max;

const text = (max: number) =>
  z
    .string()
    .refine((given) => given.trim() !== '', 'expected a text that is not empty')
    .refine((given) => [...given].length <= max, `expected at most ${max} characters`)
    .refine((given) => given.isWellFormed(), 'expected Unicode text');

/** The name of a runbook: nothing that could be read as a sentence, a path or a command. */
export const runbookName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u);

/** The arguments, complete: what is left out is filled in before the digest is made. */
export const ticketArguments = z.strictObject({
  summary: text(LIMITS.titleChars.max),
  description: text(DESCRIPTION_CHARS),
  severity: z.enum(SEVERITIES).default('medium'),
  /** The runbook that fits best; null where none was found. */
  runbook: runbookName.nullable().default(null),
});

/** The arguments of a ticket. */
export type TicketArguments = z.output<typeof ticketArguments>;
