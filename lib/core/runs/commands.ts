// What people ask of runs. Parsed at the edge; nothing in here is trusted to say who is calling.

/** Asks for a run. The same incident of the same caller attaches to it for ten minutes. */
export interface CreateRun {
  readonly type: 'create_run';
  readonly service: string;
  readonly symptom: string;
  readonly key?: string;
}

/** Approves or denies exactly the action whose digest is named, in full. */
export interface DecideApproval {
  readonly type: 'decide_approval';
  readonly run: string;
  readonly approved: boolean;
  readonly action_hash: string;
  readonly key?: string;
}

/** Lets a failed run go on. */
export interface ResumeRun {
  readonly type: 'resume_run';
  readonly run: string;
  readonly key?: string;
}

/** A command on a run. */
export type RunCommand = CreateRun | DecideApproval | ResumeRun;
