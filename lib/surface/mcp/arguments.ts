// Arguments that several tools share, and the faults of arguments in the words of this product.
import * as z from 'zod';
import type { InputFault } from '../../core/input-fault.ts';
import { pointer } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { isBlank } from '../../core/names.ts';
import { expectedOf, valueAt } from '../../core/shape-words.ts';
import { bounded } from './schema.ts';

/** Which workflow is meant; left out where the person has one only. */
export const workflowId = bounded(
  LIMITS.workflowIdChars.max,
  'Which work (job, inspection): workflow_id of an earlier answer. Leave it out to be asked.',
).optional();

/** The key that makes a repeat the same request. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(LIMITS.idempotencyKeyChars.max)
  .regex(/^[ -~]+$/, 'expected printable ASCII characters')
  .describe('Random, new for each request.')
  .optional();

/** Why something is decided, in the person's words. */
export const reason = bounded(LIMITS.reasonChars.max, 'Why, in their words. It is kept.').refine(
  (text) => !isBlank(text),
  { error: 'expected a reason that is not empty' },
);

/** A positive whole number that names a record. */
export const sequence = (description: string) => z.int().min(1).describe(description).optional();

/** All faults of an input, the first of each place, with JSON pointers. Values are never repeated. */
export function faultsOf(error: z.ZodError, input: unknown): readonly InputFault[] {
  const faults = error.issues.flatMap((issue): readonly InputFault[] => {
    const path = issue.path.reduce<string>((base, part) => pointer(base, String(part)), '');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: pointer(path, key.slice(0, 64)),
        message: 'this is not an argument of this tool',
      }));
    }
    return [{ path, message: messageOf(issue, valueAt(input, issue.path)) }];
  });
  const first = new Map<string, InputFault>();
  for (const fault of faults) if (!first.has(fault.path)) first.set(fault.path, fault);
  return [...first.values()].slice(0, LIMITS.faultsShown.max);
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  return value === undefined && issue.code !== 'custom' ? 'required' : expectedOf(issue);
}
