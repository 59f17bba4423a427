// What a rule sees and what it answers. A rule is a pure function: an observation in, a repair out.
import type { Procedure } from '../model/procedure.ts';
import type { Lock, Pointer, Workflow } from '../model/workflow.ts';
import type { CommitPlan } from '../plan.ts';
import type { Transaction } from '../ports/storage.ts';
import type { RepairContext } from '../decide/lost-lock.ts';

/** A rule by its name in the design. */
export type Rule = 'R1' | 'R2' | 'R3' | 'R4' | 'R5' | 'R6' | 'R7' | 'R8';

/** A workflow and what belongs to it, as of one moment. */
export interface Observation {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly lock: Lock | undefined;
  /** The workflow that the lock names, where that is another one and it exists. */
  readonly holder: Workflow | undefined;
  /** The pointers of everybody who ever held it, by subject. */
  readonly pointers: ReadonlyMap<string, Pointer | undefined>;
}

/** What is to be done, and in words what was found. */
export interface Repair {
  readonly rule: Rule;
  readonly finding: string;
  /** A plan with its event; or, where there is no aggregate to tell, the writes alone. */
  readonly work:
    | { readonly kind: 'plan'; readonly plan: CommitPlan }
    | { readonly kind: 'writes'; readonly writes: Transaction['writes'] };
}

/** Something that was found; `repaired` says whether it was put right. */
export interface Finding {
  readonly rule: Rule;
  readonly tenant: string;
  readonly workflow: string;
  readonly what: string;
  readonly repaired: boolean;
  /** The trail does not verify: nothing goes on until a person has looked. */
  readonly broken?: true;
}

/** Looks for one kind of drift. */
export type RuleFunction = (seen: Observation, context: RepairContext) => Repair | undefined;
