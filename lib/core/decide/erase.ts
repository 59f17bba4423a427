// Erasing the sensitive values of a step. The event keeps the commitment, which says nothing without
// the key that is deleted with the value; so the chain still verifies. Pure.
import { LIMITS } from '../limits.ts';
import type { Workflow } from '../model/workflow.ts';
import type { CommitPlan } from '../plan.ts';
import { appended, appendedPlan } from './appended.ts';
import type { DecideContext } from './decision.ts';

/** Erases every sensitive value that was ever recorded for a step of a workflow. */
export interface EraseStep {
  readonly workflow: string;
  readonly step: string;
  /** Kept in the trail in clear text. */
  readonly reason: string;
}

/** What erasing looks at, as of the version of the workflow. */
export interface EraseState {
  readonly workflow: Workflow;
  /** The records of the step that hold a sensitive value or once held one. */
  readonly records: readonly { readonly seq: number; readonly present: boolean }[];
}

/** What erasing decides: write this plan, or there is nothing to write and why. */
export type EraseDecision =
  | {
      readonly kind: 'commit';
      readonly plan: CommitPlan;
      readonly records: readonly number[];
      /** Whether values are left for a further transaction. */
      readonly more: boolean;
    }
  | { readonly kind: 'nothing'; readonly why: 'never_sensitive' | 'already_erased' };

/** The workflow, its event, and room for whatever a backend adds. */
const AT_ONCE = LIMITS.transactionItems.max - 10;

/** Decides an erasure. It is never refused for the length of a trail or the state of a workflow. */
export function decideErase(
  { workflow, records }: EraseState,
  { step, reason }: EraseStep,
  context: Pick<DecideContext, 'principal' | 'now' | 'requestId'>,
): EraseDecision {
  if (records.length === 0) return { kind: 'nothing', why: 'never_sensitive' };
  const present = records.filter((record) => record.present).map(({ seq }) => seq);
  if (present.length === 0) return { kind: 'nothing', why: 'already_erased' };
  const erased = present.slice(0, AT_ONCE);
  const appendix = appended(workflow, context, 'value_erased', {
    step,
    records: erased,
    reason,
  });
  return {
    kind: 'commit',
    records: erased,
    more: erased.length < present.length,
    plan: appendedPlan(workflow, context, appendix, { erased }),
  };
}
