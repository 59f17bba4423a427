// The planner port: what to look at next, and what to propose. A planner does nothing by itself.
import type { Json } from '../json.ts';
import type { Action, EvidenceRow, Run } from '../model/run.ts';
import type { EvidenceTool } from './evidence.ts';

/** What a planner sees; the texts of the evidence are untrusted. */
export interface PlannerInput {
  readonly run: Pick<Run, 'service' | 'symptom'>;
  readonly evidence: readonly EvidenceRow[];
  readonly tools: readonly EvidenceTool[];
  /** How many more calls of tools there may be. */
  readonly budget: number;
}

/** What comes next. `missing` tells whoever decides what the evidence lacks. */
export type Plan =
  | {
      readonly next: 'call';
      readonly server: string;
      readonly tool: string;
      readonly arguments: { readonly [name: string]: Json };
    }
  | {
      readonly next: 'propose';
      readonly action: Pick<Action, 'type' | 'target' | 'arguments' | 'policy_version'>;
      readonly missing?: string;
    }
  | { readonly next: 'give_up'; readonly reason: string; readonly message: string };

/** A planner; the same input gives the same plan. */
export interface Planner {
  readonly name: string;
  plan(input: PlannerInput, deadlineMs: number): Promise<Plan>;
}
