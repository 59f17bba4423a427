// One recording under decision: the step, its slot and the value, and what is asked about them.
import { canonicalHash, canonicalJson } from '../canonical.ts';
import { checkConfirmation, type ConfirmationBinding } from '../confirmation.ts';
import type { Json } from '../json.ts';
import type { Procedure, Step } from '../model/procedure.ts';
import type { Original, Slot, VaultRow, Workflow } from '../model/workflow.ts';
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
  readonly original: Original | undefined;
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
  const value = r.original === undefined ? r.value : { value: r.value, original: r.original };
  return { tenant, subject, workflow: r.workflow.id, step: r.step.id, value, basis };
}

/** Whether the value is the one on record, said in the same unit; an erased sensitive value equals nothing. */
export function sameContent(r: Recording): boolean {
  if (r.step.kind === 'text' && !r.sensitive) return r.slot?.digest === canonicalHash(r.value);
  const recorded = r.sensitive ? r.vault?.value : r.slot?.value;
  return (
    recorded !== undefined &&
    canonicalJson(recorded) === canonicalJson(r.value) &&
    sameOriginal(r, r.slot?.original)
  );
}

/** Whether what was said in another unit, or in none, is what is on record. */
export function sameOriginal(r: Recording, recorded: Json | undefined): boolean {
  return canonicalJson(recorded ?? null) === canonicalJson(r.original ?? null);
}
