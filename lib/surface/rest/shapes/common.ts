// Parts of answers that several groups share. These schemas shape answers by their types alone: what is
// answered is not parsed again, and tests hold every answer against the document made of them.
import * as z from 'zod';

/** A moment, UTC with milliseconds. */
export const instant = z.iso.datetime({ precision: 3 }).describe('UTC with milliseconds.');

/** SHA-256, 64 lower-case hex digits. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** Any JSON. */
export const json = z.unknown().describe('Any JSON value, exact.');

/** Any JSON object. */
export const jsonObject = z.record(z.string(), z.unknown()).describe('Exact JSON.');

/** A person, an agent or a service. */
export const someone = z.object({ subject: z.string(), name: z.string() });

/** Who did something, and how they came. */
export const actor = z.object({
  ...someone.shape,
  kind: z.enum(['person', 'agent', 'service']),
  via: z.enum(['mcp', 'rest', 'cli', 'system']),
});

/** A text of others as it may be looked at. */
export const displayed = z
  .object({
    text: z.string(),
    escaped: z.int().min(0).describe('Characters that stand as an escape.'),
    hidden: z.int().min(0).describe('Characters that are left out.'),
  })
  .describe(
    'A text of others on one line: controls, bidi and zero-width characters stand as escapes.',
  );

/** One field of a value as it may be looked at. */
export const displayedField = z.object({
  path: z.string().describe('JSON pointer of the field.'),
  ...displayed.shape,
});

/** A page of a list. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next_cursor: z.string().optional().describe('Give it as cursor to go on; absent at the end.'),
  });

/** An error. Which members come along depends on `code`. Source: RFC 9457. */
export const problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int().describe('The HTTP status.'),
    code: z.string().describe('Stable; what to act on.'),
    errors: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .optional()
      .describe('What cannot be used, by JSON pointer.'),
    need: z.string().optional().describe('What the caller lacks.'),
    retryable: z.boolean().optional(),
    fields: z
      .array(z.string())
      .optional()
      .describe('Arguments that differ from those the key was used with.'),
    decision: z.enum(['approved', 'denied']).optional(),
    decided_by: someone.optional(),
    decided_at: instant.optional(),
    action_hash: digest.optional().describe('Of the decision, or of the present proposal.'),
    given: z.string().optional().describe('The digest that was sent.'),
    expires_at: instant.optional(),
    state: z.string().optional(),
    limit: z.string().optional(),
    max: z.number().optional(),
    suggestions: z.array(z.string()).optional().describe('Assets that may be meant.'),
  })
  .meta({ id: 'Problem' });

/** The exact write that a run, or blocked work, proposes. */
export const action = z
  .object({
    type: z.string(),
    target: z.string(),
    arguments: jsonObject,
    evidence: z.array(digest).describe('Digests of the full texts of the evidence.'),
    policy_version: z.string(),
    idempotency_key: z.string(),
    requester: z.string(),
    expires_at: instant.describe('The last moment to approve.'),
    not_after: instant.describe('The last moment to send.'),
  })
  .meta({ id: 'Action', description: 'One exact write. Its digest covers every field.' });
