// What evidence servers offer, as another function of the deployment says it: that one may be of another
// release, so its answer is read like any that comes from outside.
import * as z from 'zod';
import type { CallFunction } from '../adapters/deployment/call-function.ts';
import { Fault } from '../core/fault.ts';
import { REASON_WORDS, type RefusalReason } from '../core/evidence/vet.ts';
import type { EvidenceTools } from '../surface/rest/runs.ts';

/** Time for the way there and back, in milliseconds. */
const ANSWER_MS = 1_000;

const REASONS = Object.keys(REASON_WORDS) as readonly RefusalReason[];

const answer = z.object({
  tools: z.array(
    z.object({
      server: z.string(),
      name: z.string(),
      allowed: z.boolean(),
      pinned: z.boolean(),
      reason: z.enum(REASONS).nullable(),
      definition: z.string().nullable(),
    }),
  ),
  missing: z.array(z.object({ server: z.string(), name: z.string() })),
  problems: z.array(
    z.object({
      server: z.string(),
      code: z.enum([
        'SERVER_UNREACHABLE',
        'SERVER_TIMEOUT',
        'ANSWER_TOO_LARGE',
        'ANSWER_UNUSABLE',
        'CALL_REFUSED',
      ]),
      message: z.string(),
      lastWords: z.string().exactOptional(),
    }),
  ),
});

/** Asks the function of a name. Throws a retryable fault for no answer, and for one of another form. */
export function askedTools(call: CallFunction, name: string): EvidenceTools {
  return async (deadlineMs) => {
    // It answers what it could find out, so it is given the time before ours is over.
    const within = { task: 'tools', deadline_ms: deadlineMs - ANSWER_MS };
    const read = answer.safeParse(await call(name, within, deadlineMs));
    if (read.success) return read.data;
    const what = `the function ${name} gave an answer that is no report of tools`;
    throw new Fault('retryable', 'BACKEND_UNAVAILABLE', what);
  };
}
