// The parser against words of an independent package, and against word salad.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toCardinal as british } from 'n2words/en-GB';
import { toCardinal as american } from 'n2words/en-US';
import { readSpokenNumber } from '../../lib/core/spoken-number.ts';
import { instrumentCalibration } from '../../lib/policies/instrument-calibration/policy.ts';
import { pumpInspection } from '../../lib/policies/pump-inspection/policy.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';

const VALUES = 10_000;
const SALADS = 20_000;

const readings = [pumpInspection, instrumentCalibration]
  .map(({ procedures }) => parsedProcedure(procedures[0]))
  .flatMap(({ id, steps }) => steps.map((step) => ({ procedure: id, step })))
  .flatMap(({ procedure, step }) => (step.kind === 'reading' ? [{ procedure, step }] : []));

/** A decimal as people say it: the whole part by the package, the rest digit by digit. */
function inWords(decimal: string, words: (whole: string) => string, oh: boolean): string {
  const [, sign = '', whole = '0', fraction] = /^(-?)(\d+)(?:\.(\d+))?$/u.exec(decimal) ?? [];
  const digits = [...(fraction ?? '')].map((digit) => (oh && digit === '0' ? 'oh' : words(digit)));
  return [
    ...(sign === '' ? [] : ['minus']),
    words(whole),
    ...(digits.length === 0 ? [] : ['point', ...digits]),
  ].join(' ');
}

/** As `expect(heard).toBe(value)`, which is slow a hundred thousand times over. */
function same(text: string, heard: number | undefined, value: number): void {
  if (!Object.is(heard, value)) throw new Error(`${text}: ${heard} is not ${value}`);
}

describe(`${VALUES} values of`, () => {
  test.each(readings)('$procedure, $step.title, are read back from words', ({ step }) => {
    const { bounds, decimals, unit } = step;
    const scale = 10 ** decimals;
    const margin = bounds.max - bounds.min;
    const from = Math.round((bounds.min - margin) * scale);
    const to = Math.round((bounds.max + margin) * scale);
    const arbitrary = fc.record({
      units: fc.integer({ min: from, max: to }),
      words: fc.constantFrom(british, american),
      oh: fc.boolean(),
      name: fc.constantFrom('', ` ${unit.spoken}`, ` ${unit.symbol}`),
    });
    let read = 0;
    fc.assert(
      fc.property(arbitrary, ({ units, words, oh, name }) => {
        const digits = String(Math.abs(units)).padStart(decimals + 1, '0');
        const at = digits.length - decimals;
        const fraction = decimals === 0 ? '' : `.${digits.slice(at)}`;
        const decimal = `${units < 0 ? '-' : ''}${digits.slice(0, at)}${fraction}`;
        const text = `${inWords(decimal, words, oh)}${name}`;
        const heard = readSpokenNumber(text, [unit.symbol, unit.spoken]);
        same(text, heard?.value, Number(decimal) === 0 ? 0 : Number(decimal));
        read++;
      }),
      { numRuns: VALUES },
    );
    expect(read).toBe(VALUES);
  });

  test('any size below a billion are read back from words', () => {
    const size = fc.integer({ min: 1, max: 9 }).chain((n) => fc.nat(10 ** n - 1));
    fc.assert(
      fc.property(size, fc.constantFrom(british, american), (value, words) => {
        const text = words(value);
        same(text, readSpokenNumber(text)?.value, value);
      }),
      { numRuns: VALUES },
    );
  });
});

describe('word salad', () => {
  const NUMBERS = (
    'zero one two three four five six seven eight nine ten eleven twelve fifteen nineteen twenty ' +
    'thirty fifty ninety hundred thousand million and a half point oh o minus sixty-one 5 12 2.5'
  ).split(' ');
  const JUNK = 'between or to for about bar um, nothing 3-4 2,500 ? % six-pack dozen ate'.split(
    ' ',
  );

  test('of number words and junk never throws, and a text with a word of junk is no number', () => {
    const salad = fc.array(fc.constantFrom(...NUMBERS, ...JUNK), { maxLength: 8 });
    fc.assert(
      fc.property(salad, (words) => {
        const heard = readSpokenNumber(words.join(' '));
        if (words.some((word) => JUNK.includes(word))) expect([words, heard]).toEqual([words]);
      }),
      { numRuns: SALADS },
    );
  });

  test('that is understood needs every word of it: without one it is another number, or none', () => {
    const salad = fc.array(fc.constantFrom(...NUMBERS), { minLength: 2, maxLength: 6 });
    // Words that change nothing where they stand, and a zero behind a point.
    const silent = /\b(?:and|a|plus|zero|oh|o|one|nought)\b/u;
    let understood = 0;
    fc.assert(
      fc.property(salad, (words) => {
        const heard = readSpokenNumber(words.join(' '));
        // Zero is zero with a sign or a point as well.
        if (heard === undefined || heard.value === 0) return;
        understood++;
        words.forEach((word, i) => {
          if (silent.test(word)) return;
          const less = readSpokenNumber(words.toSpliced(i, 1).join(' '));
          expect([words, i, less?.value]).not.toEqual([words, i, heard.value]);
        });
      }),
      { numRuns: SALADS },
    );
    expect(understood).toBeGreaterThan(200);
  });

  test('of any characters never throws', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 130 });
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), (said, units) => {
        const heard = readSpokenNumber(said, units);
        if (heard !== undefined) expect(Number.isFinite(heard.value)).toBe(true);
      }),
      { numRuns: SALADS },
    );
  });
});
