// One recording under decision: the step, its slot and the value, and what is asked about them.
import { canonicalHash, canonicalJson } from '../canonical.ts';
import { checkConfirmation, type ConfirmationBinding } from '../confirmation.ts';
import type { Json } from '../json.ts';
import type { Procedure, Step } from '../model/procedure.ts';
import type { Slot, VaultRow, Workflow } from '../model/workflow.ts';
import type { DecideContext } from './decision.ts';

/** What recording looks at; `vault` is the sensitive value of the step's present record. */
export interface RecordState {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly vault: VaultRow | undefined;
}

/** A recording whose value fits its step. */
export interface Recording extends RecordState {
  readonly step: Step;
  readonly slot: Slot | undefined;
  readonly value: Json;
  readonly sensitive: boolean;
  readonly replaces: number | undefined;
  readonly confirms: number | undefined;
  readonly confirmation: string | undefined;
}

/** Whether the confirmation given was signed for this value when the step stood at `basis`. */
export function confirms(r: Recording, context: DecideContext, basis: number): boolean {
  if (r.confirmation === undefined) return false;
  const bound = binding(r, context, basis);
  const { confirmationSecret, now } = context;
  return checkConfirmation(confirmationSecret, bound, r.confirmation, now) === 'valid';
}

/** What a confirmation of this value is bound to. */
export function binding(r: Recording, context: DecideContext, basis: number): ConfirmationBinding {
  const { tenant, subject } = context.principal;
  return { tenant, subject, workflow: r.workflow.id, step: r.step.id, value: r.value, basis };
}

/** Whether the value is the one on record; an erased sensitive value equals nothing. */
export function sameContent(r: Recording): boolean {
  if (r.step.kind === 'text' && !r.sensitive) return r.slot?.digest === canonicalHash(r.value);
  const recorded = r.sensitive ? r.vault?.value : r.slot?.value;
  return recorded !== undefined && canonicalJson(recorded) === canonicalJson(r.value);
}
