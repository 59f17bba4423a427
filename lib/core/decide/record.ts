// Recording, correcting and confirming a step. Every check comes before any write.
// A repeat is recognised by state: the same content for a recorded step is the same receipt.
import { canonicalHash, canonicalJson } from '../canonical.ts';
import { checkConfirmation, signConfirmation } from '../confirmation.ts';
import type { Json } from '../json.ts';
import type { CorrectStep, RecordStep } from '../model/commands.ts';
import type { Procedure, Step } from '../model/procedure.ts';
import {
  FORMAT,
  type EventBody,
  type ReceiptResult,
  type Slot,
  type VaultRow,
  type Workflow,
} from '../model/workflow.ts';
import { stepOf } from '../procedures.ts';
import { commitment } from '../redact.ts';
import { unmetRequirements, viewOf } from '../view.ts';
import { commitChange, invalid, refuse, type DecideContext, type Decision } from './decision.ts';
import { deviationsOf, isWarning, type Deviation } from './findings.ts';
import { stepValue } from './step-input.ts';

/** What recording looks at; `vault` is the sensitive value of the step's present record. */
export interface RecordState {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly vault: VaultRow | undefined;
}

interface Recording extends RecordState {
  readonly step: Step;
  readonly slot: Slot | undefined;
  readonly value: Json;
  readonly sensitive: boolean;
  readonly replaces: number | undefined;
  readonly confirms: number | undefined;
  readonly confirmation: string | undefined;
}

/** Decides the recording or the correction of a step. */
export function decideRecord(
  state: RecordState,
  command: RecordStep | CorrectStep,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
  const step = stepOf(procedure, command.step);
  if (step === undefined) {
    const known = procedure.steps.map(({ id }) => id).join(', ');
    return invalid('/step', `expected one of: ${known}`);
  }
  const parsed = stepValue(step, command.input);
  if (!parsed.ok) return refuse({ code: 'INVALID_ARGUMENT', faults: parsed.faults });
  const recording: Recording = {
    ...state,
    step,
    slot: workflow.steps[step.id],
    value: parsed.value,
    sensitive: step.kind === 'text' && step.sensitive,
    replaces: command.type === 'correct_step' ? command.replaces : undefined,
    confirms: command.type === 'record_step' ? command.confirms : undefined,
    confirmation: command.confirmation,
  };
  return (
    repeated(recording, context) ??
    witnessed(recording, context) ??
    hindered(recording, context) ??
    write(recording, context)
  );
}

/** The same content for a recorded step, or a correction that was made before. */
function repeated(r: Recording, context: DecideContext): Decision | undefined {
  const { slot, replaces } = r;
  const { subject } = context.principal;
  const current = sameContent(r);
  const concerned = slot?.by === subject || r.workflow.holder.subject === subject;
  if (r.confirms !== undefined) {
    const open = slot?.seq === r.confirms && slot.witness === undefined;
    return open ? undefined : searchFor('confirms', r.confirms, r, subject);
  }
  if (replaces === undefined) {
    if (slot === undefined || !current) return undefined;
    if (slot.status === 'awaiting_second' && slot.by !== subject) return undefined;
    if (slot.status !== 'retake') {
      return concerned ? { kind: 'duplicate', seq: slot.seq } : undefined;
    }
    const answered = slot.by === subject && confirms(r, context, slot.basis) === 'valid';
    return answered ? { kind: 'duplicate', seq: slot.seq } : undefined;
  }
  if (slot?.seq === replaces) {
    const same = current && slot.status !== 'retake' && slot.by === subject;
    return same ? { kind: 'duplicate', seq: slot.seq } : undefined;
  }
  return searchFor('replaces', replaces, r, subject);
}

/** Looks for this very answer to a record that has been answered since. */
function searchFor(
  relation: 'replaces' | 'confirms',
  seq: number,
  r: Recording,
  subject: string,
): Decision {
  return {
    kind: 'search',
    after: seq,
    matches: (event, vault) =>
      event.data['step'] === r.step.id &&
      event.data[relation] === seq &&
      event.actor.subject === subject &&
      eventHolds(event, r, vault),
    otherwise: {
      code: 'STALE_REFERENCE',
      names: 'reading',
      given: seq,
      ...(r.slot !== undefined && { current: r.slot.seq }),
      workflow: viewOf(r.workflow, r.procedure),
    },
  };
}

/** Another person confirms the same content of a step that waits for one. */
function witnessed(r: Recording, context: DecideContext): Decision | undefined {
  const { slot, step, workflow, procedure } = r;
  const { subject, kind } = context.principal;
  if (r.replaces !== undefined) return undefined;
  if (slot?.status !== 'awaiting_second' || slot.by === subject) return misplaced(r);
  if (kind !== 'person') return refuse({ code: 'FORBIDDEN', why: 'person', need: 'a person' });
  const view = viewOf(workflow, procedure);
  const closed = closedFor(r);
  if (closed !== undefined) return closed;
  if (!sameContent(r)) {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', step: step.id, differs: true, workflow: view });
  }
  if (r.confirms === undefined) {
    return refuse({
      code: 'NEEDS_CONFIRMATION',
      reason: 'second_person',
      step: step.id,
      ...(!r.sensitive && { heard: r.value }),
      ...(step.kind === 'reading' && { unit: step.unit.symbol }),
      confirms: slot.seq,
      workflow: view,
    });
  }
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'step_confirmed',
      data: {
        confirms: slot.seq,
        ...(r.vault !== undefined && { commitment: commitment(r.vault.key, r.value) }),
      },
    },
    receipt: {
      command: 'record_step',
      result: 'confirmed',
      step: step.id,
      ...(!r.sensitive && { value: r.value }),
    },
    change: (seq) => ({
      set: {},
      steps: { [step.id]: { ...slot, status: 'done', witness: { seq, by: subject } } },
    }),
  });
}

/** A confirmation where none is waited for, or by the person who made the record. */
function misplaced(r: Recording): Decision | undefined {
  const { confirms, slot, step, workflow, procedure } = r;
  if (confirms === undefined) return undefined;
  const view = viewOf(workflow, procedure);
  if (slot?.status === 'awaiting_second') {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', step: step.id, workflow: view });
  }
  const current = slot === undefined ? {} : { current: slot.seq };
  return refuse({
    code: 'STALE_REFERENCE',
    names: 'reading',
    given: confirms,
    ...current,
    workflow: view,
  });
}

/** What keeps a new record from being written, apart from its value. */
function hindered(r: Recording, context: DecideContext): Decision | undefined {
  const { workflow, procedure, slot, step } = r;
  const view = viewOf(workflow, procedure);
  if (workflow.holder.subject !== context.principal.subject) {
    return refuse({ code: 'NOT_ASSIGNED', holder: workflow.holder.name, workflow: view });
  }
  const closed = closedFor(r);
  if (closed !== undefined) return closed;
  if (slot !== undefined && r.replaces === undefined) {
    return refuse({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_recorded',
      step: step.id,
      ...(!r.sensitive && { heard: r.value }),
      ...(slot.value !== undefined && { recorded: slot.value }),
      ...(step.kind === 'reading' && { unit: step.unit.symbol }),
      replaces: slot.seq,
      workflow: view,
    });
  }
  const requires = unmetRequirements(step, workflow);
  if (requires.length > 0) {
    return refuse({ code: 'STEP_NOT_READY', step: step.id, requires, workflow: view });
  }
  return undefined;
}

function closedFor({ workflow, procedure }: Recording): Decision | undefined {
  const view = viewOf(workflow, procedure);
  if (workflow.state === 'COMPLETED') return refuse({ code: 'WORKFLOW_COMPLETED', workflow: view });
  if (workflow.state === 'BLOCKED') return refuse({ code: 'WORKFLOW_BLOCKED', workflow: view });
  return undefined;
}

/** Writes the record, once a deviating value has been read back and confirmed. */
function write(r: Recording, context: DecideContext): Decision {
  const deviations = deviationsOf(context.registry, r.procedure, r.workflow, r.step, r.value);
  const worst = deviations[0];
  if (worst !== undefined && confirms(r, context, r.slot?.seq ?? 0) !== 'valid') {
    return readBack(r, worst, context);
  }
  const { workflow, procedure, step, value, sensitive } = r;
  const at = new Date(context.now).toISOString();
  const warning = worst === undefined && isWarning(step, value);
  const status = statusAfter(step, worst);
  const result = resultOf(status, worst, warning);
  const on = worst === undefined ? 'warning' : result === 'blocked' ? 'block' : 'deviation';
  const shown = sensitive ? {} : { value };
  const said = worst === undefined ? {} : { message: worst.message };
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: r.replaces === undefined ? 'step_recorded' : 'step_corrected',
      data: {
        ...(r.replaces !== undefined && { replaces: r.replaces }),
        ...(sensitive && { commitment: commitment(context.fresh.vaultKey, value) }),
        ...(step.kind === 'reading' && { unit: step.unit.symbol }),
        ...(deviations.length > 0 && { deviations: deviations.map(({ rule }) => rule) }),
        ...said,
      },
    },
    receipt: {
      command: r.replaces === undefined ? 'record_step' : 'correct_step',
      result,
      step: step.id,
      ...shown,
      ...(worst !== undefined && { rule: worst.follows }),
    },
    change: (seq) => ({
      set:
        result === 'blocked'
          ? {
              state: 'BLOCKED',
              block: {
                seq,
                reason: 'deviation',
                step: step.id,
                by: context.principal.subject,
                at,
                message: worst?.message ?? '',
              },
            }
          : { state: 'RUNNING' },
      steps: {
        [step.id]: {
          seq,
          basis: r.slot?.seq ?? 0,
          status,
          by: context.principal.subject,
          at,
          ...(step.kind !== 'text' && { value }),
          ...(step.kind === 'text' && !sensitive && { digest: canonicalHash(value) }),
        },
      },
    }),
    ...(sensitive && {
      vault: (seq: number) => ({
        format: FORMAT,
        tenant: workflow.tenant,
        workflow: workflow.id,
        seq,
        key: context.fresh.vaultKey,
        value,
      }),
    }),
    ...((worst !== undefined || warning) && {
      notify: { on, payload: { step: step.id, title: step.title, result, ...shown, ...said } },
    }),
  });
}

function statusAfter(step: Step, worst: Deviation | undefined): Slot['status'] {
  if (worst?.follows === 'retake') return 'retake';
  return step.second_person ? 'awaiting_second' : 'done';
}

function resultOf(
  status: Slot['status'],
  worst: Deviation | undefined,
  warning: boolean,
): ReceiptResult {
  if (worst?.follows === 'block') return 'blocked';
  if (status === 'retake') return 'retake_required';
  if (worst !== undefined) return 'deviation_recorded';
  if (status === 'awaiting_second') return 'awaiting_second_person';
  return warning ? 'recorded_with_warning' : 'recorded';
}

function readBack(r: Recording, worst: Deviation, context: DecideContext): Decision {
  const { step, workflow, procedure, slot } = r;
  return refuse({
    code: 'NEEDS_CONFIRMATION',
    reason: worst.reason,
    step: step.id,
    ...(!r.sensitive && { heard: r.value }),
    ...(step.kind === 'reading' && { unit: step.unit.symbol }),
    ...(worst.limit !== undefined && { limit: worst.limit }),
    message: worst.message,
    follows: worst.follows,
    confirmation: signConfirmation(
      context.confirmationSecret,
      binding(r, context, slot?.seq ?? 0),
      context.now,
    ),
    ...(r.replaces !== undefined && { replaces: r.replaces }),
    workflow: viewOf(workflow, procedure),
  });
}

function confirms(r: Recording, context: DecideContext, basis: number): 'valid' | 'no' {
  if (r.confirmation === undefined) return 'no';
  const bound = binding(r, context, basis);
  const { confirmationSecret, now } = context;
  const answer = checkConfirmation(confirmationSecret, bound, r.confirmation, now);
  return answer === 'valid' ? 'valid' : 'no';
}

function binding(r: Recording, context: DecideContext, basis: number) {
  const { tenant, subject } = context.principal;
  return { tenant, subject, workflow: r.workflow.id, step: r.step.id, value: r.value, basis };
}

function sameContent(r: Recording): boolean {
  if (r.step.kind === 'text' && !r.sensitive) return r.slot?.digest === canonicalHash(r.value);
  const recorded = r.sensitive ? r.vault?.value : r.slot?.value;
  return recorded !== undefined && canonicalJson(recorded) === canonicalJson(r.value);
}

function eventHolds(event: EventBody, r: Recording, vault: VaultRow | undefined): boolean {
  const { data } = event;
  if (!r.sensitive) return canonicalJson(data['value'] ?? null) === canonicalJson(r.value);
  return vault !== undefined && data['commitment'] === commitment(vault.key, r.value);
}
