// A definition that people bring along, checked: its pattern is tried before anything else is.
import type { InputFault } from '../../core/input-fault.ts';
import { parseProcedure } from '../../core/parse-procedure.ts';
import { slowPattern } from './slow-pattern.ts';

/** Every fault of a definition; none where it can be used. */
export function definitionFaults(input: unknown): readonly InputFault[] {
  // Parsing tries the example, which must not be what a slow pattern never ends on.
  const slow = slowPattern(input);
  if (slow.length > 0) return slow;
  const parsed = parseProcedure(input);
  return parsed.ok ? [] : parsed.faults;
}
