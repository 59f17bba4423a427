// What is wrong with a value that fits its step: beyond bounds, against a rule, denied, unwelcome.
import type { Json } from '../json.ts';
import type { DeviationRule, Procedure, Step } from '../model/procedure.ts';
import type { Workflow } from '../model/workflow.ts';
import type { ConfirmationReason } from '../outcome.ts';
import type { ProcedureRegistry } from '../procedures.ts';

/** A deviation that has to be confirmed before it is written. */
export interface Deviation {
  readonly reason: ConfirmationReason;
  readonly rule: string;
  readonly message: string;
  readonly follows: DeviationRule;
  readonly limit?: number;
}

const SEVERITY: readonly DeviationRule[] = ['record_and_notify', 'retake', 'block'];

/** All deviations of a new value, the most severe first. */
export function deviationsOf(
  registry: ProcedureRegistry,
  procedure: Procedure,
  workflow: Workflow,
  step: Step,
  value: Json,
): readonly Deviation[] {
  const values = Object.fromEntries(
    Object.entries(workflow.steps)
      .filter(([, slot]) => slot.status !== 'retake' && slot.value !== undefined)
      .map(([id, slot]) => [id, slot.value as Json]),
  );
  // Rules never see a sensitive text: their messages are spoken, stored and sent in the clear.
  const shown = step.kind === 'text' && step.sensitive ? {} : { [step.id]: value };
  const broken = registry
    .check(procedure, { step: step.id, values: { ...values, ...shown } })
    .map((finding): Deviation => ({ ...finding, reason: 'rule_broken' }));
  return [...ownDeviations(step, value), ...broken].sort(
    (a, b) => SEVERITY.indexOf(b.follows) - SEVERITY.indexOf(a.follows),
  );
}

/** Whether a reading is within its bounds but outside its warning band. */
export function isWarning(step: Step, value: Json): boolean {
  if (step.kind !== 'reading' || step.warning === undefined) return false;
  const reading = value as number;
  return reading < step.warning.min || reading > step.warning.max;
}

function ownDeviations(step: Step, value: Json): readonly Deviation[] {
  if (step.kind === 'reading') {
    const { min, max } = step.bounds;
    const reading = value as number;
    if (reading >= min && reading <= max) return [];
    const [side, limit] = reading < min ? ['lower', min] : ['upper', max];
    return [
      {
        reason: 'out_of_bounds',
        rule: 'bounds',
        message: `${step.title} is beyond the ${side} limit`,
        follows: step.on_deviation,
        limit,
      },
    ];
  }
  if (step.kind === 'confirm' && value === false) {
    const message = `${step.title} is not confirmed`;
    return [{ reason: 'not_confirmed', rule: 'confirm', message, follows: step.on_deviation }];
  }
  if (step.kind === 'choice') {
    const option = step.options.find(({ id }) => id === value);
    if (option?.deviates !== true) return [];
    const message = `${step.title} is ${option.title}`;
    return [{ reason: 'deviating_choice', rule: 'choice', message, follows: step.on_deviation }];
  }
  return [];
}
