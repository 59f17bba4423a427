// What a decision on a run answers.
import type { Run, RunReceipt } from '../model/run.ts';
import type { RunRefusal } from './outcome.ts';
import type { RunPlan } from './plan.ts';

/** Write this plan, or answer without writing. */
export type RunDecision =
  | {
      readonly kind: 'commit';
      readonly plan: RunPlan;
      /** Of a command; a worker's step has none. */
      readonly receipt: RunReceipt | undefined;
    }
  /** The command took effect before; this is its receipt. */
  | { readonly kind: 'duplicate'; readonly receipt: RunReceipt }
  | { readonly kind: 'refuse'; readonly outcome: RunRefusal };

/** A refusal as a decision. */
export const refused = (outcome: RunRefusal): RunDecision => ({ kind: 'refuse', outcome });

/** The refusal of a state that a command cannot begin in. */
export const wrongState = (run: Run): RunDecision =>
  refused({ code: 'WRONG_STATE', state: run.state, run });
