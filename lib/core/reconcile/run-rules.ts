// What a rule over runs sees and what it answers. A rule is a pure function.
import type { Run } from '../model/run.ts';
import type { ExecutionStatus } from '../ports/orchestrator.ts';
import type { RunContext } from '../runs/change.ts';
import type { RunPlan } from '../runs/plan.ts';
import type { Rule } from './rules.ts';

/** A run as of one moment, and what was asked about it because its time was over. */
export interface RunObservation {
  readonly run: Run;
  /** Whether the row that starts this attempt is still in the outbox: then its work is not lost. */
  readonly waiting: boolean;
  /** What became of this attempt's execution; undefined where nobody was asked. */
  readonly execution: ExecutionStatus | undefined;
  /** What was found under the key of its write; undefined where nobody was asked. */
  readonly written: Written | undefined;
}

/** What a read on another path found of a write. */
export interface Written {
  readonly provider: string;
  /** How long a write may take to show after the last moment to send it, in milliseconds. */
  readonly settlesInMs: number;
  /** What is there; `differs` names the fields that are not those of what was approved. */
  readonly ticket?: { readonly reference: string; readonly differs: readonly string[] };
}

/** What is to be done, and in words what was found. */
export interface RunRepair {
  readonly rule: Rule;
  readonly finding: string;
  readonly plan: RunPlan;
}

/** Looks for one kind of drift of runs. */
export type RunRule = (seen: RunObservation, context: RunContext) => RunRepair | undefined;

/** Whether the work of a run's attempt ought to be done by `now`. */
export const isOverdue = ({ work_by }: Run, now: number): boolean => now >= (work_by ?? 0);

/** Whether a run ought to have left its state by `now`. */
export const isLate = ({ deadline_at }: Run, now: number): boolean => now >= (deadline_at ?? 0);
