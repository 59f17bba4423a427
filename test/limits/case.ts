import type { LIMITS } from '../../lib/core/limits.ts';

/** A row of the limits table. */
export type Name = keyof typeof LIMITS;

/** Tries an amount and answers whether it was taken in full. */
export type Try = (amount: number) => boolean | Promise<boolean>;

/** How a row is reached. `grain` is how far beside the limit is tried where time is the amount. */
export type Case = Try | { readonly attempt: Try; readonly grain: number };

/** Whether something was done without a refusal. */
export function goes(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
