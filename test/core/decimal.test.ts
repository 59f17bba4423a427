import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decimalOf, numberOf, plus, rounded, times } from '../../lib/core/decimal.ts';

describe('a decimal', () => {
  test.each<readonly [string | number, bigint, number]>([
    [0, 0n, 0],
    [-0, 0n, 0],
    ['-12.50', -1250n, 2],
    [0.1, 1n, 1],
    [1e21, 1_000_000_000_000_000_000_000n, 0],
    [1.5e-7, 15n, 8],
    [-2.5e22, -25_000_000_000_000_000_000_000n, 0],
  ])('is read from %s', (value, units, places) => {
    expect(decimalOf(value)).toEqual({ units, places });
  });

  test('is added and multiplied without binary fractions', () => {
    expect(numberOf(plus(decimalOf(0.1), decimalOf(0.2)))).toBe(0.3);
    expect(numberOf(times(decimalOf(1.1), decimalOf(1.1)))).toBe(1.21);
  });

  test.each([
    ['2.068428', 2, 2.07],
    ['2.065', 2, 2.07],
    ['2.06499999', 2, 2.06],
    ['-2.065', 2, -2.07],
    ['-2.0649', 2, -2.06],
    ['0.5', 0, 1],
    ['-0.5', 0, -1],
    ['-0.4', 0, 0],
    ['1.005', 2, 1.01],
    ['3', 2, 3],
  ])('%s is rounded half away from zero to %d places: %d', (text, places, value) => {
    expect(numberOf(rounded(decimalOf(text), places))).toBe(value);
  });

  test('that no number says exactly has no number', () => {
    expect(numberOf(decimalOf('9007199254740993'))).toBeUndefined();
    expect(numberOf(decimalOf('0.12345678901234567890'))).toBeUndefined();
    expect(numberOf(decimalOf(`1${'0'.repeat(400)}`))).toBeUndefined();
  });

  test('of a number is that number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(numberOf(decimalOf(value))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});
