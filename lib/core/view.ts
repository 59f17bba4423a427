// What people see of a workflow: the aggregate read together with its procedure. Pure.
// Sensitive values are never in the aggregate, so they cannot be in a view.
import { displayFields, type DisplayedField } from './display.ts';
import type { Json } from './json.ts';
import type { Procedure, Step } from './model/procedure.ts';
import type { Principal } from './model/principal.ts';
import type { Action, Approval, Proposal } from './model/run.ts';
import type {
  Block,
  BlockReason,
  DueTime,
  Original,
  Slot,
  SlotStatus,
  Workflow,
  WorkflowResult,
  WorkflowState,
} from './model/workflow.ts';
import { stepOf } from './procedures.ts';

/** A deadline; `overdue` once it has been told that it passed. */
export interface DueView {
  readonly due_at?: string;
  readonly overdue?: true;
}

/** The step to be done next, with all that has to be said about it. */
export interface NextStep extends DueView {
  readonly step: string;
  readonly title: string;
  readonly instruction: string;
  readonly kind: Step['kind'];
  readonly optional: boolean;
  readonly second_person: boolean;
  /** True when the step is recorded and waits for another person. */
  readonly awaiting_second: boolean;
  readonly unit?: string;
  readonly unit_spoken?: string;
  readonly decimals?: number;
  readonly expected?: { readonly min: number; readonly max: number };
  readonly bounds?: { readonly min: number; readonly max: number };
  readonly options?: readonly { readonly id: string; readonly title: string }[];
  readonly max_chars?: number;
  /** What was recorded for the step on this asset last time, and when that work ended. */
  readonly last?: { readonly value: Json; readonly at: string };
  /** Present when the step has a record that this one replaces. */
  readonly replaces?: number;
  /** Present when another person has to confirm the record with this sequence. */
  readonly confirms?: number;
}

/** One step as it stands. */
export interface StepView extends DueView {
  readonly step: string;
  readonly title: string;
  readonly kind: Step['kind'];
  readonly status: SlotStatus | 'open';
  readonly optional: boolean;
  readonly seq?: number;
  readonly value?: Json;
  readonly unit?: string;
  /** What was said, where the value was converted from another unit. */
  readonly original?: Original;
}

/** What a block proposes, with all that somebody who decides has to see. */
export interface ProposalView {
  readonly action_hash: string;
  readonly expires_at: string;
  readonly proposed_action: Action;
  /** Every field of the action as it may be looked at; the action beside it is exact. */
  readonly proposed_action_display: readonly DisplayedField[];
}

/** Who denied what a block had proposed. */
export interface DeniedView {
  readonly action_hash: string;
  readonly decided_by: { readonly subject: string; readonly name: string };
  readonly via: Principal['via'];
  readonly at: string;
}

/** One workflow as people see it. Times are ISO 8601 in UTC; `due_at` is when all of it is due. */
export interface WorkflowView extends DueView {
  readonly workflow: string;
  readonly version: number;
  readonly procedure: string;
  readonly procedure_version: number;
  readonly title: string;
  readonly asset: string;
  readonly asset_type: string;
  readonly state: WorkflowState;
  readonly holder: string;
  readonly holder_subject: string;
  readonly tenure: number;
  readonly offered: boolean;
  readonly result?: WorkflowResult;
  readonly block?: {
    readonly seq: number;
    readonly reason: BlockReason;
    /** The step of a deviation or of a deadline, and its title. */
    readonly step?: string;
    readonly title?: string;
    readonly message: string;
    readonly since: string;
    /** How often it was told again because it still stands, and when that comes next. */
    readonly told_again?: number;
    readonly told_next?: string;
    readonly proposal?: ProposalView;
    readonly denied?: DeniedView;
  };
  readonly done: number;
  readonly required: number;
  readonly steps: readonly StepView[];
  readonly next?: NextStep;
  readonly ready_to_complete: boolean;
  readonly started_at: string;
  readonly updated_at: string;
}

/** Reads an aggregate with its procedure. */
export function viewOf(workflow: Workflow, procedure: Procedure): WorkflowView {
  const required = procedure.steps.filter((step) => !step.optional);
  const missing = missingSteps(procedure, workflow);
  const active = workflow.state === 'CREATED' || workflow.state === 'RUNNING';
  const next = active ? nextStep(procedure, workflow) : undefined;
  const { block } = workflow;
  return {
    workflow: workflow.id,
    version: workflow.version,
    procedure: procedure.id,
    procedure_version: procedure.version,
    title: procedure.title,
    asset: workflow.asset,
    asset_type: procedure.asset.type,
    state: workflow.state,
    holder: workflow.holder.name,
    holder_subject: workflow.holder.subject,
    tenure: workflow.tenure,
    offered: workflow.offered,
    ...(workflow.result !== undefined && { result: workflow.result }),
    ...(block !== undefined && {
      block: {
        seq: block.seq,
        reason: block.reason,
        ...(block.step !== undefined && {
          step: block.step,
          title: stepOf(procedure, block.step)?.title ?? block.step,
        }),
        message: block.message,
        since: block.at,
        ...escalated(workflow),
        ...proposalIn(block),
      },
    }),
    ...due(workflow.timers?.deadline),
    done: required.length - missing.filter((id) => !stepOf(procedure, id)?.optional).length,
    required: required.length,
    steps: procedure.steps.map((step) => stepView(step, workflow)),
    ...(next !== undefined && { next }),
    ready_to_complete: active && missing.length === 0,
    started_at: workflow.created_at,
    updated_at: workflow.updated_at,
  };
}

function due(time: DueTime | undefined): DueView {
  if (time === undefined) return {};
  const due_at = new Date(time.due_at).toISOString();
  return { due_at, ...(time.passed === true && { overdue: true }) };
}

function escalated({ timers }: Workflow): object {
  if (timers?.escalation === undefined) return {};
  const { told, due_at } = timers.escalation;
  const next = due_at === undefined ? {} : { told_next: new Date(due_at).toISOString() };
  return { told_again: told, ...next };
}

function proposalIn({ proposal, denied }: Block) {
  return {
    ...(proposal !== undefined && { proposal: proposalView(proposal) }),
    ...(denied !== undefined && { denied: deniedView(denied) }),
  };
}

function proposalView({ action, action_hash }: Proposal): ProposalView {
  return {
    action_hash,
    expires_at: action.expires_at,
    proposed_action: action,
    proposed_action_display: displayFields({ ...action } as unknown as Json),
  };
}

function deniedView({ action_hash, subject, name, via, at }: Approval): DeniedView {
  return { action_hash, decided_by: { subject, name }, via, at };
}

/** What can be said of a workflow whose procedure this process does not know. */
export function bareView(workflow: Workflow): WorkflowView {
  const { procedure, procedure_version: version } = workflow;
  const unknown = {
    id: procedure,
    version,
    title: procedure,
    description: procedure,
    asset: { type: 'asset', pattern: '.*', example: workflow.asset },
    steps: [],
    rules: [],
    escalation: [],
  };
  return { ...viewOf(workflow, unknown), ready_to_complete: false };
}

/** Steps that keep a workflow from being completed: required ones not done, optional ones begun. */
export function missingSteps(procedure: Procedure, workflow: Workflow): readonly string[] {
  return procedure.steps
    .filter((step) => {
      const status = workflow.steps[step.id]?.status;
      const open = status === undefined || status === 'skipped';
      return open ? !step.optional : status !== 'done';
    })
    .map((step) => step.id);
}

/** Whether a required step can only be done after this one: passing it over would lead nowhere. */
export function isNeeded(procedure: Procedure, id: string): boolean {
  return procedure.steps.some(
    (later) => later.requires.includes(id) && (!later.optional || isNeeded(procedure, later.id)),
  );
}

/** Required earlier steps of a step that are not done. */
export function unmetRequirements(step: Step, workflow: Workflow): readonly string[] {
  return step.requires.filter((id) => workflow.steps[id]?.status !== 'done');
}

function nextStep(procedure: Procedure, workflow: Workflow): NextStep | undefined {
  const { steps } = procedure;
  const open = steps.find((step, i) => {
    const slot = workflow.steps[step.id];
    if (slot !== undefined && slot.status !== 'retake') return false;
    if (unmetRequirements(step, workflow).length > 0) return false;
    const passedOver = steps.slice(i + 1).some((later) => {
      const status = workflow.steps[later.id]?.status;
      return status !== undefined && status !== 'skipped';
    });
    return slot !== undefined || !step.optional || !passedOver || isNeeded(procedure, step.id);
  });
  const step =
    open ?? steps.find((other) => workflow.steps[other.id]?.status === 'awaiting_second');
  return step === undefined ? undefined : describe(step, workflow);
}

function describe(step: Step, { steps, previous, timers }: Workflow): NextStep {
  const slot = steps[step.id];
  const told = slot?.status !== 'awaiting_second';
  const last =
    told && previous !== undefined && Object.hasOwn(previous.values, step.id)
      ? previous.values[step.id]
      : undefined;
  return {
    step: step.id,
    title: step.title,
    instruction: step.instruction,
    kind: step.kind,
    optional: step.optional,
    second_person: step.second_person,
    awaiting_second: slot?.status === 'awaiting_second',
    ...due(timers?.steps[step.id]),
    ...(slot?.status === 'retake' && { replaces: slot.seq }),
    ...(slot?.status === 'awaiting_second' && { confirms: slot.seq }),
    ...(step.kind === 'reading' && {
      unit: step.unit.symbol,
      unit_spoken: step.unit.spoken,
      decimals: step.decimals,
      expected: step.expected,
      bounds: step.bounds,
    }),
    ...(step.kind === 'choice' && {
      options: step.options.map(({ id, title }) => ({ id, title })),
    }),
    ...(step.kind === 'text' && { max_chars: step.max_chars }),
    ...(last !== undefined && { last: { value: last, at: previous?.at ?? '' } }),
  };
}

function stepView(step: Step, { steps, timers }: Workflow): StepView {
  const slot: Slot | undefined = steps[step.id];
  return {
    step: step.id,
    title: step.title,
    kind: step.kind,
    status: slot?.status ?? 'open',
    optional: step.optional,
    ...due(timers?.steps[step.id]),
    ...(slot !== undefined && { seq: slot.seq }),
    ...(slot?.value !== undefined && { value: slot.value }),
    ...(step.kind === 'reading' && { unit: step.unit.symbol }),
    ...(slot?.original !== undefined && { original: slot.original }),
  };
}
