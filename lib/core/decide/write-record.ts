// Writing a record: a deviating value is read back first, and once confirmed follows its rule.
import { canonicalHash } from '../canonical.ts';
import type { Step } from '../model/procedure.ts';
import { FORMAT, type ReceiptResult, type Slot } from '../model/workflow.ts';
import { commitment } from '../redact.ts';
import { viewOf } from '../view.ts';
import { commitChange, refuse, type DecideContext, type Decision } from './decision.ts';
import { deviationsOf, isWarning, type Deviation } from './findings.ts';
import { askedFor, proposalOf, proposedIn } from './proposal.ts';
import { confirms, question, type Recording } from './recording.ts';

/** Writes the record, once a deviating value has been read back and confirmed. */
export function writeRecord(r: Recording, context: DecideContext): Decision {
  const deviations = deviationsOf(context.registry, r.procedure, r.workflow, r.step, r.value);
  const worst = deviations[0];
  if (worst !== undefined && !confirms(r, context, r.slot?.seq ?? 0)) {
    return readBack(r, worst, context);
  }
  const { workflow, procedure, step, value, sensitive } = r;
  const at = new Date(context.now).toISOString();
  const warning = isWarning(step, value);
  const status = statusAfter(step, worst);
  const result = resultOf(status, worst, warning);
  const on = worst === undefined ? 'warning' : result === 'blocked' ? 'block' : 'deviation';
  const { original } = r;
  const shown = sensitive ? {} : { value, ...(original !== undefined && { original }) };
  const said = worst === undefined ? {} : { message: worst.message };
  const rules = deviations.map(({ rule }) => rule);
  const proposal =
    result === 'blocked'
      ? proposalOf({ ...r, ...asked(r, rules, context) }, context.now)
      : undefined;
  const told = askedFor(proposal, procedure, on);
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: r.replaces === undefined ? 'step_recorded' : 'step_corrected',
      data: {
        ...(r.replaces !== undefined && { replaces: r.replaces }),
        ...(sensitive && { commitment: commitment(context.fresh.vaultKey, value) }),
        ...(step.kind === 'reading' && { unit: step.unit.symbol }),
        ...(rules.length > 0 && { deviations: rules }),
        ...said,
        ...proposedIn(proposal),
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
                ...(proposal !== undefined && { proposal }),
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
          ...(step.kind !== 'text' && shown),
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
      notify: {
        on,
        audiences: told.audiences,
        payload: { step: step.id, title: step.title, result, ...shown, ...said, ...told.payload },
      },
    }),
  });
}

/** What a blocking record asks for: what was recorded, a text as its digest and a sensitive one committed to. */
function asked(
  { step, value, original, sensitive }: Recording,
  rules: readonly string[],
  { principal, fresh }: DecideContext,
) {
  const recorded = sensitive
    ? { commitment: commitment(fresh.vaultKey, value) }
    : step.kind === 'text'
      ? { digest: canonicalHash(value) }
      : { value, ...(original !== undefined && { original }) };
  return {
    on: 'deviation',
    requester: principal.subject,
    found: {
      step: step.id,
      ...recorded,
      ...(step.kind === 'reading' && { unit: step.unit.symbol }),
      rules,
    },
  } as const;
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
  const state = question(r, context, 'value', slot?.seq ?? 0);
  return refuse({
    code: 'NEEDS_CONFIRMATION',
    reason: worst.reason,
    step: step.id,
    ...(!r.sensitive && { heard: r.value }),
    ...(r.original !== undefined && { original: r.original }),
    ...(step.kind === 'reading' && { unit: step.unit.symbol }),
    ...(worst.limit !== undefined && { limit: worst.limit }),
    message: worst.message,
    follows: worst.follows,
    state,
    confirmation: state,
    ...(r.replaces !== undefined && { replaces: r.replaces }),
    workflow: viewOf(workflow, procedure),
  });
}
