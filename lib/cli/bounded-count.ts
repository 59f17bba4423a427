// How many there are of what is counted up to a bound.
import { LIMITS } from '../core/limits.ts';

/** A count, or that there are at least as many as are counted. */
export function boundedCount(n: number): string {
  const { max } = LIMITS.countedWorkflows;
  return n >= max ? `${max} or more` : String(n);
}
