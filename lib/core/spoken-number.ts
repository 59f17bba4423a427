// From what was heard to one exact decimal, or to nothing: a part of a text is never understood.
// English words and digits; unit words only where they are names of the unit that is asked for.
// docs/procedures.md says for users what is understood and what is asked again.
import { decimalOf, numberOf, type Decimal } from './decimal.ts';
import { LIMITS } from './limits.ts';
import { foldName } from './names.ts';
import { belowHundred, digitOf, scaleOf, wholeOf } from './spoken-whole.ts';

/** A number as it was understood, with the name of the unit that was said with it. */
export interface SpokenNumber {
  readonly value: number;
  /** One of the names that were given. */
  readonly unit?: string;
}

/**
 * Reads a text that is one number from end to end, with or without one of these names of units at
 * its end. Answers undefined for everything else: ranges, lists, dates, junk, ambiguous digits
 * ("2,500"), and decimals that a JSON number cannot say exactly. Never throws.
 */
export function readSpokenNumber(
  text: string,
  units: readonly string[] = [],
): SpokenNumber | undefined {
  if ([...text].length > LIMITS.spokenReadingChars.max) return undefined;
  const said = text.trim().replace(/\.$/u, '');
  const found = new Map<string, SpokenNumber>();
  const take = (part: string, unit: string | undefined): void => {
    const decimal = decimalIn(part);
    const value = decimal === undefined ? undefined : numberOf(decimal);
    if (value === undefined) return;
    const folded = unit === undefined ? '' : foldName(unit);
    found.set(`${value} ${folded}`, { value, ...(unit !== undefined && { unit }) });
  };
  take(said, undefined);
  for (const [part, unit] of withUnit(said, units)) take(part, unit);
  // A unit that can be heard as a number would leave a choice, and nothing is chosen here.
  const [only, ...others] = found.values();
  return others.length === 0 ? only : undefined;
}

/** Every way to cut a name of a unit off the end of a text. */
function withUnit(text: string, units: readonly string[]): readonly (readonly [string, string])[] {
  const names = new Set(units.map(foldName));
  const cuts: (readonly [string, string])[] = [];
  for (let i = 1; i < text.length; i++) {
    // As it was said: whoever knows the units decides whether its case matters.
    const unit = text.slice(i).trim();
    // A symbol may stand right behind a digit, but a word is never cut.
    if (names.has(foldName(unit)) && /[\s\d][^\d\s]/u.test(text.slice(i - 1, i + 1))) {
      cuts.push([text.slice(0, i), unit]);
    }
  }
  return cuts;
}

function decimalIn(text: string): Decimal | undefined {
  const words = text
    .toLowerCase()
    .replaceAll('\u2212', '-')
    .replace(/(?<=[a-z])-(?=[a-z])/gu, ' ')
    .trim()
    .split(/\s+/u);
  const [first = ''] = words;
  const sign = /^(?:(minus|negative)|plus)$/u.exec(first) ?? /^(?:(-)|\+)(?=[\d.])/u.exec(first);
  if (sign === null) return magnitude(words);
  const rest = first.slice(sign[0].length);
  const decimal = magnitude(rest === '' ? words.slice(1) : [rest, ...words.slice(1)]);
  if (decimal === undefined || sign[1] === undefined) return decimal;
  return { ...decimal, units: -decimal.units };
}

function magnitude(words: readonly string[]): Decimal | undefined {
  return withPoint(words) ?? withHalf(words) ?? inDigits(words) ?? integer(wholeOf(words));
}

const integer = (whole: bigint | undefined): Decimal | undefined =>
  whole === undefined ? undefined : { units: whole, places: 0 };

/** "two point oh five", "one point two million". */
function withPoint(words: readonly string[]): Decimal | undefined {
  const place = words.indexOf('point');
  if (place < 0) return undefined;
  const [body, scale] = scaled(words);
  const whole = place === 0 ? 0n : wholeOf(body.slice(0, place));
  const fraction = fractionOf(body.slice(place + 1));
  if (whole === undefined || fraction === undefined) return undefined;
  return enlarged(decimalOf(`${whole}.${fraction}`), scale);
}

/** Digits after the point: one by one, as one run of digits, or as one number from 10 to 99. */
function fractionOf(words: readonly string[]): string | undefined {
  const [only = ''] = words;
  if (words.length === 0) return undefined;
  if (words.length === 1 && /^\d+$/u.test(only)) return only;
  const digits = words.map((word) => digitOf(word, true));
  if (!digits.includes(undefined)) return digits.join('');
  const pair = belowHundred(words);
  return pair === undefined ? undefined : String(pair);
}

/** "half", "two and a half", "two and a half million". */
function withHalf(words: readonly string[]): Decimal | undefined {
  const [body, scale] = scaled(words);
  if (/^(?:(?:a|one) )?half$/u.test(words.join(' '))) return decimalOf('0.5');
  if (body.slice(-3).join(' ') !== 'and a half') return undefined;
  // "a hundred and a half" is 100.5 to some and 150 to others.
  const whole = belowHundred(body.slice(0, -3));
  return whole === undefined ? undefined : enlarged(decimalOf(`${whole}.5`), scale);
}

/** "12", "-3.5", ".5", "1.2 million", "1,200,000"; one comma alone may be a decimal comma. */
function inDigits(words: readonly string[]): Decimal | undefined {
  const [body, scale] = scaled(words);
  const [numeral = ''] = body;
  const plain = /^(?:0|[1-9]\d*)?(?:\.\d+)?$/u.test(numeral);
  const grouped = /^[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)$/u.test(numeral);
  if (body.length !== 1 || numeral === '' || !(plain || grouped)) return undefined;
  const digits = numeral.replaceAll(',', '');
  return enlarged(decimalOf(digits.startsWith('.') ? `0${digits}` : digits), scale);
}

/** Words without the scale word at their end, and what it stands for. */
function scaled(words: readonly string[]): readonly [readonly string[], bigint] {
  const scale = scaleOf(words.at(-1));
  return scale === undefined ? [words, 1n] : [words.slice(0, -1), scale];
}

/** A scale is said of a number below one thousand only. */
function enlarged(decimal: Decimal, scale: bigint): Decimal | undefined {
  const { units, places } = decimal;
  if (scale > 1n && units >= 1_000n * 10n ** BigInt(places)) return undefined;
  return { units: units * scale, places };
}
