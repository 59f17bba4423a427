// From what was said to a stored value: right kind, right unit, representable, or a named fault.
import type { Json } from '../json.ts';
import type { StepInput } from '../model/commands.ts';
import type { Step } from '../model/procedure.ts';
import type { InputFault } from '../input-fault.ts';
import { foldName } from '../names.ts';
import { hasDecimals } from '../parse-procedure.ts';

/** A value that fits its step, or the faults with the argument they are in. */
export type StepValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly faults: readonly InputFault[] };

const ARGUMENT = { reading: '/reading', choice: '/choice', text: '/text', confirm: '/confirmed' };

/** Reads an input against its step. */
export function stepValue(step: Step, input: StepInput): StepValue {
  if (input.kind === 'reading' && step.kind === 'reading') return readingValue(step, input);
  if (input.kind === 'choice' && step.kind === 'choice') {
    const wanted = foldName(input.option);
    const option = step.options.find(
      ({ id, title }) => id === wanted || foldName(title) === wanted,
    );
    if (option !== undefined) return { ok: true, value: option.id };
    return fault(
      '/choice',
      `expected one of: ${step.options.map(({ title }) => title).join(', ')}`,
    );
  }
  if (input.kind === 'text' && step.kind === 'text') {
    const text = input.text.normalize('NFC').trim();
    if (text === '') return fault('/text', 'expected a text that is not empty');
    return [...text].length <= step.max_chars
      ? { ok: true, value: text }
      : fault('/text', `expected at most ${step.max_chars} characters`);
  }
  if (input.kind === 'confirm' && step.kind === 'confirm')
    return { ok: true, value: input.confirmed };
  return fault(
    ARGUMENT[input.kind],
    `${step.title} is a ${step.kind} step: expected the argument ${ARGUMENT[step.kind].slice(1)}`,
  );
}

function readingValue(
  step: Extract<Step, { kind: 'reading' }>,
  input: Extract<StepInput, { kind: 'reading' }>,
): StepValue {
  const { unit, decimals } = step;
  const faults: InputFault[] = [];
  if (input.unit !== undefined) {
    const given = foldName(input.unit);
    if (![unit.symbol, unit.spoken, ...unit.aliases].some((name) => foldName(name) === given)) {
      faults.push({ path: '/unit', message: `expected ${unit.symbol} (${unit.spoken})` });
    }
  }
  if (!hasDecimals(input.value, decimals)) {
    const places = decimals === 0 ? 'a whole number' : `at most ${decimals} decimal places`;
    faults.push({ path: '/reading', message: `expected ${places}` });
  }
  if (faults.length > 0) return { ok: false, faults };
  // -0 and 0 are one value everywhere.
  return { ok: true, value: input.value === 0 ? 0 : input.value };
}

function fault(path: string, message: string): StepValue {
  return { ok: false, faults: [{ path, message }] };
}
