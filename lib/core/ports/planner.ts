// The planner port: what to look at next, and what to propose. A planner does nothing by itself, and
// what it is shown of evidence is untrusted.
import type { EvidenceRequest } from '../evidence/gather.ts';
import type { Action, EvidenceRow, Run } from '../model/run.ts';

/** A request for evidence that gave none, with the code of why. */
export interface Miss {
  readonly server: string;
  readonly tool: string;
  readonly code: string;
}

/** What a planner sees. */
export interface PlannerInput {
  readonly run: Pick<Run, 'service' | 'symptom'>;
  /** What was observed in this gathering, in its order. */
  readonly evidence: readonly EvidenceRow[];
  /** What this attempt asked for in vain. */
  readonly misses: readonly Miss[];
  /** How many more requests there may be; none is made once it is 0. */
  readonly budget: number;
}

/** What comes next. `missing` tells whoever decides what the evidence lacks. */
export type PlannedStep =
  | { readonly next: 'ask'; readonly request: EvidenceRequest }
  | {
      readonly next: 'propose';
      /** Exact, its arguments validated and complete. */
      readonly action: Pick<Action, 'type' | 'target' | 'arguments' | 'policy_version'>;
      readonly missing?: string;
    }
  | { readonly next: 'give_up'; readonly reason: string; readonly message: string };

/** A planner. The same input gives the same plan, so that a restarted attempt comes to the same end. */
export interface Planner {
  readonly name: string;
  plan(input: PlannerInput, deadlineMs: number): Promise<PlannedStep>;
}
