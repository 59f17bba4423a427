// What answers of the evidence tools say, in a vocabulary of our own: a status out of a list, and the name
// of a runbook. Whatever else stands in an answer is for people, and changes nothing here.
import * as z from 'zod';
import { isJsonFault, parseJson, type Json } from '../../core/json.ts';
import type { EvidenceRow } from '../../core/model/run.ts';
import { runbookName } from './action.ts';

/** How a service can be. */
export type ServiceStatus = z.output<typeof statusWord>;

const statusWord = z.enum(['operational', 'degraded', 'down', 'maintenance', 'unknown']);
const statusAnswer = z.object({ services: z.array(z.object({ status: statusWord })).length(1) });
const searchAnswer = z.object({ matches: z.array(z.object({ runbook: z.string() })) });

type Answer = Pick<EvidenceRow, 'text' | 'truncated' | 'is_error'>;

/** The status of the service that was asked about; undefined where the answer is none. */
export function statusIn(answer: Answer): ServiceStatus | undefined {
  const read = statusAnswer.safeParse(dataOf(answer));
  return read.success ? read.data.services[0]?.status : undefined;
}

/** The runbook that fits best, null where none fits; undefined where the answer is none. */
export function runbookIn(answer: Answer): string | null | undefined {
  const read = searchAnswer.safeParse(dataOf(answer));
  if (!read.success) return undefined;
  const [best] = read.data.matches;
  if (best === undefined) return null;
  const name = runbookName.safeParse(best.runbook);
  return name.success ? name.data : undefined;
}

function dataOf({ text, truncated, is_error }: Answer): Json | undefined {
  if (truncated || is_error) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (!isJsonFault(error)) throw error;
    return undefined;
  }
}
