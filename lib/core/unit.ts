// Names of a reading's unit, and the exact conversion of a value that was said in another one.
import { decimalOf, numberOf, plus, rounded, times } from './decimal.ts';
import type { InputFault } from './input-fault.ts';
import type { Conversion, ReadingStep } from './model/procedure.ts';
import type { Original } from './model/workflow.ts';
import { foldName } from './names.ts';

type Unit = ReadingStep['unit'];

/** A value in the unit of its step; `original` where it was said in another one. */
export interface Measure {
  readonly value: number;
  readonly original?: Original;
}

/** Every name under which a value of this unit can be said, conversions included. */
export function unitNames(unit: Unit): readonly string[] {
  return [unit, ...unit.conversions].flatMap(namesOf);
}

/** The unit of the step or one of its conversions, by any of its names. */
export function unitNamed(unit: Unit, name: string): Unit | Conversion | undefined {
  const units = [unit, ...unit.conversions];
  // Case tells symbols apart (mPa, MPa); words are the same in any case.
  const exact = name.normalize('NFKC').trim();
  const bySymbol = units.find(({ symbol }) => symbol.normalize('NFKC') === exact);
  const wanted = foldName(name);
  return bySymbol ?? units.find((one) => wordsOf(one).some((word) => foldName(word) === wanted));
}

/**
 * A value in the unit of its step: `value * factor + offset`, rounded half away from zero to the
 * decimals of the step, in decimal arithmetic. Undefined where no number says the result exactly.
 */
export function measured(
  value: number,
  given: Unit | Conversion,
  decimals: number,
): Measure | undefined {
  if (!('factor' in given)) return { value };
  const { factor, offset, symbol } = given;
  const exact = plus(times(decimalOf(value), decimalOf(factor)), decimalOf(offset));
  const result = numberOf(rounded(exact, decimals));
  if (result === undefined || Math.abs(result) > Number.MAX_SAFE_INTEGER) return undefined;
  return { value: result, original: { value, unit: symbol } };
}

/** Names that two units of one step share, by JSON pointer within the unit. */
export function unitFaults(unit: Unit): readonly InputFault[] {
  const taken = new Set(namesOf(unit).map(foldName));
  return unit.conversions.flatMap((conversion, i) => {
    const { symbol, spoken, aliases } = conversion;
    const named: readonly (readonly [string, string])[] = [
      ['symbol', symbol],
      ['spoken', spoken],
      ...aliases.map((alias, j) => [`aliases/${j}`, alias] as const),
    ];
    const clashes = named.filter(([, name]) => taken.has(foldName(name)));
    for (const [, name] of named) taken.add(foldName(name));
    return clashes.map(([place, name]) => ({
      path: `/conversions/${i}/${place}`,
      message: `${name} is the name of another unit of this step`,
    }));
  });
}

function wordsOf({ spoken, aliases }: Unit | Conversion): readonly string[] {
  return [spoken, ...aliases];
}

function namesOf({ symbol, spoken, aliases }: Unit | Conversion): readonly string[] {
  return [symbol, spoken, ...aliases];
}
