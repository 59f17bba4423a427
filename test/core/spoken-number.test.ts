import { describe, expect, test } from '@jest/globals';
import { readSpokenNumber } from '../../lib/core/spoken-number.ts';

const UNITS = ['bar', 'bars', 'bar gauge', '°C', 'C', 'degrees', 'degrees Celsius', 'mm/s', 'm²'];
const read = (text: string): number | undefined => readSpokenNumber(text)?.value;

describe('a text that is one number from end to end is understood', () => {
  test.each<readonly [string, number]>([
    ['minus two point five', -2.5],
    ['negative two point five', -2.5],
    ['plus two', 2],
    ['point five', 0.5],
    ['minus point oh five', -0.05],
    ['nought point five', 0.5],
    ['zero point zero', 0],
    ['two point o five', 2.05],
    ['two point twenty-five', 2.25],
    ['eight point fifteen', 8.15],
    ['one hundred and five point two', 105.2],
    ['one point two million', 1_200_000],
    ['two point five thousand', 2_500],
    ['minus twelve', -12],
    ['twelve', 12],
    ['three', 3],
    ['zero', 0],
    ['minus zero', 0],
    ['fifteen', 15],
    ['fifty', 50],
    ['seventy eight', 78],
    ['sixty-one', 61],
    ['a hundred', 100],
    ['a thousand and five', 1_005],
    ['one hundred and five', 105],
    ['one hundred five', 105],
    ['one hundred and five thousand', 105_000],
    ['twelve hundred', 1_200],
    ['twenty-five hundred and one', 2_501],
    ['two thousand and five', 2_005],
    ['one million two hundred thousand and five', 1_200_005],
    ['twenty-six million and twenty-seven thousand', 26_027_000],
    ['nine hundred and ninety-nine billion', 999_000_000_000],
    ['one oh five', 105],
    ['1 oh 5', 105],
    ['half', 0.5],
    ['a half', 0.5],
    ['two and a half', 2.5],
    ['minus twenty-one and a half', -21.5],
    ['two and a half million', 2_500_000],
    ['12', 12],
    ['-3.5', -3.5],
    ['\u22123.5', -3.5],
    ['+3', 3],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['-0', 0],
    ['2 point 05', 2.05],
    ['1.2 million', 1_200_000],
    ['2 thousand 500', 2_500],
    ['1,200,000', 1_200_000],
    ['1,200.5', 1_200.5],
    [' Two  Point\u00a0One. ', 2.1],
  ])('%j is %d', (text, value) => {
    expect(read(text)).toBe(value);
  });
});

describe('a text that is anything else is not understood', () => {
  test.each([
    ['a range', 'between three and four hundred'],
    ['a range in digits', '3-4'],
    ['a choice', 'three or four'],
    ['neighbouring numbers', 'seven eighty eight'],
    ['neighbouring digits', 'one two'],
    ['a number read in pairs', 'one fifty'],
    ['a list', 'three, four, 500'],
    ['words before it', 'about five'],
    ['words after it', 'five or so'],
    ['another word in its middle', 'two um point five'],
    ['a question', 'five?'],
    ['nothing', ''],
    ['white space', ' \n '],
    ['oh alone', 'oh'],
    ['the letter alone', 'o'],
    ['oh at its beginning', 'oh five'],
    ['oh at its end', 'five oh'],
    ['a point without digits', 'two point'],
    ['a point alone', 'point'],
    ['two points', 'two point one point two'],
    ['a sign alone', 'minus'],
    ['two signs', 'minus -3'],
    ['a dash that may be a bullet', '- 3'],
    ['a comma that may be a decimal comma', '2,500'],
    ['a comma at a wrong place', '1,20,000'],
    ['an exponent', '1e3'],
    ['a leading zero', '05'],
    ['a superscript', '2²'],
    ['a fraction sign', '2½'],
    ['digits of another script', '٣'],
    ['a homophone', 'to point one'],
    ['a hundred without its number', 'hundred and five'],
    ['two hundreds', 'one hundred hundred'],
    ['scales in a wrong order', 'three thousand million'],
    ['and before hundreds', 'two thousand and one hundred'],
    ['and at its beginning', 'and two thousand'],
    ['a zero after tens', 'twenty zero'],
    ['a teen after tens', 'twenty eleven'],
    ['a half of a round number', 'a hundred and a half'],
    ['hundreds after a point', 'one point five hundred'],
    ['and at its end', 'two hundred and'],
    ['a unit that was not asked for', 'five bar'],
    ['more digits than a number keeps', '12345678901234567890'],
    ['more decimals than a number keeps', '0.12345678901234567890'],
    ['more text than can be said', `${'one '.repeat(40)}`],
  ])('%s: %j', (_what, text) => {
    expect(readSpokenNumber(text)).toBeUndefined();
  });
});

describe('a unit at the end', () => {
  test.each([
    ['two point one bar', 2.1, 'bar'],
    ['two point one BARS.', 2.1, 'BARS'],
    ['two bar gauge', 2, 'bar gauge'],
    ['12°C', 12, '°C'],
    ['12 °C', 12, '°C'],
    ['minus twenty degrees celsius', -20, 'degrees celsius'],
    ['twenty c', 20, 'c'],
    ['4.5mm/s', 4.5, 'mm/s'],
    ['five m²', 5, 'm²'],
    ['five m2', 5, 'm2'],
    ['sixty-one', 61, undefined],
  ])('of %j is taken off, as it was said, where it is one of the names', (text, value, unit) => {
    expect(readSpokenNumber(text, UNITS)).toEqual({
      value,
      ...(unit !== undefined && { unit }),
    });
  });

  test.each(['five psi', 'bar', 'five bar bar', 'bar five', 'fivebar', 'five bar gauge bar'])(
    'does not make %j a number',
    (text) => {
      expect(readSpokenNumber(text, UNITS)).toBeUndefined();
    },
  );

  test('that can be heard as a part of the number leaves nothing understood', () => {
    expect(readSpokenNumber('two million', ['million'])).toBeUndefined();
  });
});

test('a text of 200 characters is read, and one of 201 is not', () => {
  const filled = (length: number): string => `two${' '.repeat(length - 6)}bar`;
  expect(readSpokenNumber(filled(200), UNITS)).toEqual({ value: 2, unit: 'bar' });
  expect(readSpokenNumber(filled(201), UNITS)).toBeUndefined();
});
