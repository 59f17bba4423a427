// From what was said to a stored value: right kind, right unit, representable, or a named fault.
import type { Json } from '../json.ts';
import type { StepInput } from '../model/commands.ts';
import type { ReadingStep, Step } from '../model/procedure.ts';
import type { InputFault } from '../input-fault.ts';
import type { Original } from '../model/workflow.ts';
import { foldName, isBlank } from '../names.ts';
import { hasDecimals } from '../parse-procedure.ts';
import { readSpokenNumber } from '../spoken-number.ts';
import { measured, unitNamed, unitNames } from '../unit.ts';

/** A value that fits its step, or the faults with the argument they are in. */
export type StepValue =
  | { readonly ok: true; readonly value: Json; readonly original?: Original }
  | { readonly ok: false; readonly faults: readonly InputFault[] };

const ARGUMENT = {
  reading: '/reading',
  spoken_reading: '/spoken_reading',
  choice: '/choice',
  text: '/text',
  confirm: '/confirmed',
};

/** Reads an input against its step. */
export function stepValue(step: Step, input: Exclude<StepInput, { kind: 'skip' }>): StepValue {
  if (input.kind === 'reading' && step.kind === 'reading') {
    return readingValue(step, input.value, [input.unit], ARGUMENT.reading);
  }
  if (input.kind === 'spoken_reading' && step.kind === 'reading') return heardValue(step, input);
  if (input.kind === 'choice' && step.kind === 'choice') {
    const wanted = foldName(input.option);
    const option =
      step.options.find(({ id }) => id === wanted) ??
      step.options.find(({ title }) => foldName(title) === wanted);
    if (option !== undefined) return { ok: true, value: option.id };
    return fault(
      '/choice',
      `expected one of: ${step.options.map(({ title }) => title).join(', ')}`,
    );
  }
  if (input.kind === 'text' && step.kind === 'text') {
    const text = input.text.normalize('NFC').trim();
    if (isBlank(text)) return fault('/text', 'expected a text that is not empty');
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

function heardValue(
  step: ReadingStep,
  { text, unit }: Extract<StepInput, { kind: 'spoken_reading' }>,
): StepValue {
  const path = ARGUMENT.spoken_reading;
  const heard = readSpokenNumber(text, unitNames(step.unit));
  if (heard !== undefined) return readingValue(step, heard.value, [heard.unit, unit], path);
  return fault(path, `expected one number in ${step.unit.spoken} for ${step.title}`);
}

/** `units` are the names that were said with the value; without any it is in the step's unit. */
function readingValue(
  step: ReadingStep,
  said: number,
  units: readonly (string | undefined)[],
  path: string,
): StepValue {
  const { unit, decimals } = step;
  const faults: InputFault[] = [];
  // -0 and 0 are one value everywhere.
  const value = said === 0 ? 0 : said;
  const meant = new Set(
    units.filter((name) => name !== undefined).map((name) => unitNamed(unit, name)),
  );
  const [given = unit] = meant;
  if (meant.size > 1 || meant.has(undefined)) {
    faults.push({ path: '/unit', message: `expected ${unit.symbol} (${unit.spoken})` });
  }
  if (given === unit && !hasDecimals(value, decimals)) {
    const places =
      decimals === 0
        ? 'a whole number'
        : `at most ${decimals} decimal place${decimals === 1 ? '' : 's'}`;
    faults.push({ path, message: `expected ${places}` });
  }
  const measure = measured(value, given, decimals);
  if (measure === undefined) faults.push({ path, message: 'expected a smaller value' });
  return measure === undefined || faults.length > 0
    ? { ok: false, faults }
    : { ok: true, ...measure };
}

function fault(path: string, message: string): StepValue {
  return { ok: false, faults: [{ path, message }] };
}
