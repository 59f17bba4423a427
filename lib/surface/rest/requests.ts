// What requests may carry: the schemas that check them, and that the OpenAPI document shows.
import * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';
import { RUN_STATES } from '../../core/model/run.ts';

/** A text of 1 to `max` characters, counted in code points. */
const bounded = (max: number) =>
  z
    .string()
    .refine((text) => text.trim() !== '', { error: 'expected a text that is not empty' })
    .refine((text) => [...text].length <= max, { error: `expected at most ${max} characters` })
    .meta({ minLength: 1, maxLength: max });

/** A body without any field. */
export const NO_BODY = z.strictObject({});

/** How many entries a page has, up to `max`. */
const limited = (max: number) =>
  z
    .string()
    .regex(/^\d{1,3}$/, `expected a whole number from 1 to ${max}`)
    .transform(Number)
    .pipe(z.int().min(1).max(max));

/** How many entries a page has at most. */
export const LIMIT = limited(LIMITS.pageItems.max).default(20);

/** Where a list goes on: `next_cursor` of the page before. */
export const CURSOR = z.string().optional();

/** A list of pages. */
export const LIST = z.strictObject({ limit: LIMIT, cursor: CURSOR });

/** Why something is done. */
export const REASON = z.strictObject({
  reason: z
    .string()
    .trim()
    .refine((text) => text !== '' && [...text].length <= LIMITS.reasonChars.max, {
      message: `expected 1 to ${LIMITS.reasonChars.max} characters`,
    }),
});

/** What happened to which service. */
export const INCIDENT = z.strictObject({
  service: bounded(LIMITS.serviceChars.max).describe('The service that is affected.'),
  symptom: bounded(LIMITS.symptomChars.max).describe('What is wrong, in a sentence or two.'),
});

/** A person's decision on exactly the action whose digest is named. */
export const DECISION = z.strictObject({
  approved: z.boolean(),
  action_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected the full digest of the action: 64 lower-case hex digits')
    .describe('action_hash of the run, in full.'),
});

/** Runs, all or those in one state. */
export const RUNS = LIST.extend({ state: z.enum(RUN_STATES).optional() });

/** Whole texts are long, so a page has few of them. */
export const OBSERVATIONS = z.strictObject({
  limit: limited(10).default(5),
  cursor: CURSOR,
});
