// Commands as the surfaces build them after validation. Principal and deadline travel beside them.

/** What the operator said for one step. */
export type StepInput =
  | { readonly kind: 'reading'; readonly value: number; readonly unit?: string }
  /** A reading in words or digits, as it was heard; its unit may be part of the text. */
  | { readonly kind: 'spoken_reading'; readonly text: string; readonly unit?: string }
  | { readonly kind: 'choice'; readonly option: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'confirm'; readonly confirmed: boolean }
  /** Not done, for this reason; for optional steps of any kind. */
  | { readonly kind: 'skip'; readonly reason: string };

/** The answer to a question that an earlier call was answered with, beside its arguments again. */
export interface Answer {
  /** The signed text of the question. */
  readonly state: string;
  /** The workflow that was chosen, where that was the question. */
  readonly workflow?: string;
  /** The person who was chosen, where that was the question. */
  readonly to?: string;
}

interface Keyed {
  /** The caller's idempotency key; unique per subject. */
  readonly key?: string;
  readonly answer?: Answer;
}

/** Starts a procedure on an asset and takes the asset's lock. */
export interface StartWorkflow extends Keyed {
  readonly type: 'start_workflow';
  readonly procedure: string;
  readonly asset: string;
}

/**
 * Records a step, or confirms as second person the record with sequence `confirms`. A step that was
 * recorded before or has to be retaken is corrected instead.
 */
export interface RecordStep extends Keyed {
  readonly type: 'record_step';
  readonly workflow?: string;
  readonly step: string;
  readonly input: StepInput;
  readonly confirms?: number;
  readonly confirmation?: string;
}

/** Replaces the record with sequence `replaces` of a step. */
export interface CorrectStep extends Keyed {
  readonly type: 'correct_step';
  readonly workflow?: string;
  readonly step: string;
  readonly input: StepInput;
  readonly replaces: number;
  readonly confirmation?: string;
}

/** Ends the block with sequence `block`. */
export interface ResolveBlock extends Keyed {
  readonly type: 'resolve_block';
  readonly workflow?: string;
  readonly block: number;
  readonly decision: 'continue' | 'retake' | 'abandon';
  readonly reason: string;
}

/** Approves or denies exactly what a block proposes, by its digest in full. */
export interface DecideProposal extends Keyed {
  readonly type: 'decide_approval';
  readonly workflow: string;
  readonly approved: boolean;
  readonly action_hash: string;
}

/** Gives the workflow to another person; `tenure` names the assignment that ends. */
export interface HandOver extends Keyed {
  readonly type: 'hand_over';
  readonly workflow?: string;
  readonly to: string;
  readonly tenure?: number;
}

/** Ends a workflow of which every required step is done. */
export interface CompleteWorkflow extends Keyed {
  readonly type: 'complete_workflow';
  readonly workflow?: string;
}

/** Ends a workflow early and frees the asset; `tenure` names the assignment that ends. */
export interface AbandonWorkflow extends Keyed {
  readonly type: 'abandon_workflow';
  readonly workflow?: string;
  readonly tenure?: number;
  readonly reason: string;
}

/** Every command that can change state. */
export type Command =
  | StartWorkflow
  | RecordStep
  | CorrectStep
  | ResolveBlock
  | DecideProposal
  | HandOver
  | CompleteWorkflow
  | AbandonWorkflow;

/** Every command but the one that creates its workflow. */
export type WorkflowCommand = Exclude<Command, StartWorkflow>;
