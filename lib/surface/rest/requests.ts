// What requests may carry: the schemas that check them, and that the OpenAPI document shows.
import * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';
import { isBlank } from '../../core/names.ts';
import { RUN_STATES } from '../../core/model/run.ts';
import { checkStep, STEP_FIELDS } from '../step-arguments.ts';

/** A text of 1 to `max` characters, counted in code points. */
const bounded = (max: number) =>
  z
    .string()
    .refine((text) => !isBlank(text), { error: 'expected a text that is not empty' })
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
export const LIMIT = limited(LIMITS.pageItems.max)
  .default(20)
  .describe(
    `Entries of a page: a whole number from 1 to ${LIMITS.pageItems.max}; 20 where left out.`,
  );

/** Where a list goes on: `next_cursor` of the page before. */
export const CURSOR = z.string().optional().describe('next_cursor of the page before.');

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

/** Why frozen work goes on, and what of its trail was looked at. */
export const UNFREEZE = REASON.extend({
  seen: z
    .string()
    .exactOptional()
    .describe('What was found, as LOOK_FIRST names it; something else is refused.'),
});

/** Why a lock is taken away, and which hold of it is meant. */
export const RELEASE = REASON.extend({
  fence: z
    .int('expected the fence that the list of locks shows')
    .min(1)
    .exactOptional()
    .describe('The fence that the list of locks shows; another one is refused.'),
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
  limit: limited(10)
    .default(5)
    .describe('Entries of a page: a whole number from 1 to 10; 5 where left out.'),
  cursor: CURSOR,
});

/** Notifications that wait, or those that are parked. */
export const OUTBOX = LIST.extend({ state: z.enum(['waiting', 'parked']).default('waiting') });

const DAY = z.iso
  .date('expected a day as 2026-03-01')
  .optional()
  .describe('In UTC; today where it is left out.');

/** A day of sweeps. */
export const SWEEPS = z.strictObject({ day: DAY });

/** A day of findings. */
export const FINDINGS = z.strictObject({ day: DAY, cursor: CURSOR });

/** A procedure on an asset. */
export const START = z.strictObject({
  procedure: bounded(LIMITS.idChars.max).describe('Its name in the list of procedures.'),
  asset: bounded(LIMITS.assetChars.max).describe('The asset, as its label says.'),
});

/** Which work is listed; `asset` asks for the work on that asset alone. */
export const WORKFLOWS = z.strictObject({
  show: z.enum(['mine', 'blocked']).default('mine'),
  asset: bounded(LIMITS.assetChars.max).optional(),
});

/** Where a trail goes on. */
export const TRAIL = z.strictObject({ cursor: CURSOR });

/** The result of a step. */
export const STEP = z.strictObject(STEP_FIELDS).superRefine(checkStep);

/** A decision about a block. */
export const RESOLVE = REASON.extend({
  block: z.int().min(1).describe('seq of the block.'),
  decision: z.enum(['continue', 'retake', 'abandon']),
});

const TENURE = z
  .int()
  .min(1)
  .optional()
  .describe('Names the assignment that ends. Without it the answer asks and names it.');

/** Who takes work over. */
export const HAND_OVER = z.strictObject({
  to: bounded(LIMITS.subjectChars.max).describe('Subject or name of a person who has signed in.'),
  tenure: TENURE,
});

/** Why work is given up. */
export const ABANDON = REASON.extend({ tenure: TENURE });
