// One recording under decision: the step, its slot and the value, and what is asked about them.
import { canonicalHash, canonicalJson } from '../canonical.ts';
import { signQuestion, verifyQuestion, type Asked } from '../confirmation.ts';
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

/** Whether the confirmation given was signed for this value at `basis`, in time or not. */
export function wasConfirmed(r: Recording, context: DecideContext, basis: number): boolean {
  return confirmed(r, context, basis) !== undefined;
}

/** Whether the confirmation given was signed for this value when the step stood at `basis`. */
export function confirms(r: Recording, context: DecideContext, basis: number): boolean {
  return confirmed(r, context, basis)?.late === false;
}

function confirmed(r: Recording, context: DecideContext, basis: number) {
  if (r.confirmation === undefined) return undefined;
  const { confirmationSecret, now } = context;
  const said = verifyQuestion(confirmationSecret, asked(r, context), r.confirmation, now);
  const same = said?.question === 'value' && said.workflow === r.workflow.id;
  return same && said.basis === basis ? said : undefined;
}

/** Whom and what a question about this value is bound to. */
export function asked(
  { step, value: kept, original }: Pick<Recording, 'step' | 'value' | 'original'>,
  { principal }: DecideContext,
): Asked {
  const { tenant, subject } = principal;
  const value = original === undefined ? kept : { value: kept, original };
  return { tenant, subject, step: step.id, value };
}

/** Signs a question about this value at the record with sequence `basis`. */
export function question(
  r: Recording,
  context: DecideContext,
  kind: 'value' | 'replace' | 'witness',
  basis: number,
): string {
  const occasion = {
    question: kind,
    workflow: r.workflow.id,
    basis,
    ...(r.replaces !== undefined && { replaces: r.replaces }),
  };
  return signQuestion(context.confirmationSecret, asked(r, context), occasion, context.now);
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
