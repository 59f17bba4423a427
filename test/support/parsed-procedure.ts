import type { Procedure } from '../../lib/core/model/procedure.ts';
import { parseProcedure } from '../../lib/core/parse-procedure.ts';

/** A parsed procedure; its faults are the failure's message. */
export function parsedProcedure(input: unknown): Procedure {
  const parsed = parseProcedure(input);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.procedure;
}
