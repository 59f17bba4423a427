import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ReadingStep } from '../../lib/core/model/procedure.ts';
import { measured, unitNamed, unitNames } from '../../lib/core/unit.ts';

const unit: ReadingStep['unit'] = {
  symbol: 'bar',
  spoken: 'bar',
  aliases: ['bars'],
  conversions: [
    { symbol: 'psi', spoken: 'psi', aliases: ['pounds'], factor: 0.0689476, offset: 0 },
    {
      symbol: '°F',
      spoken: 'degrees Fahrenheit',
      aliases: [],
      factor: 0.555555555555556,
      offset: -17.7777777777778,
    },
    { symbol: 'n', spoken: 'negatives', aliases: [], factor: -0.5, offset: 0 },
  ],
};
const convert = (value: number, name: string, decimals: number) =>
  measured(value, unitNamed(unit, name) ?? unit, decimals);

describe('a value in another unit', () => {
  test.each([
    [30, 'psi', 2, 2.07],
    [30, 'Pounds', 6, 2.068428],
    [-30, 'psi', 2, -2.07],
    [0, 'psi', 2, 0],
    [212, '°F', 1, 100],
    [32, 'degrees  fahrenheit', 1, 0],
    [-40, '°F', 1, -40],
    [98.6, '°F', 1, 37],
    [1, 'n', 0, -1],
    [-1, 'n', 0, 1],
  ])('%d %s with %d decimals is exactly %d', (value, name, decimals, result) => {
    const symbol = unitNamed(unit, name)?.symbol;
    expect(convert(value, name, decimals)).toEqual({
      value: result,
      original: { value, unit: symbol },
    });
  });

  test('is the value itself in the unit of the step', () => {
    expect(convert(2.1, 'Bars', 2)).toEqual({ value: 2.1 });
  });

  test('has no result beyond what a number keeps', () => {
    expect(convert(1e300, 'psi', 2)).toBeUndefined();
    expect(convert(9_007_199_254_740_991, '°F', 9)).toBeUndefined();
    expect(convert(5e-324, 'psi', 2)?.value).toBe(0);
  });

  test('never has more decimals than its step', () => {
    const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    const name = fc.constantFrom('psi', '°F', 'n');
    fc.assert(
      fc.property(value, name, fc.nat(9), (said, called, decimals) => {
        const result = convert(said, called, decimals)?.value;
        if (result !== undefined) expect(Number(result.toFixed(decimals))).toBe(result);
      }),
    );
  });
});

test('names are those of the unit and of its conversions', () => {
  expect(unitNames(unit)).toEqual([
    'bar',
    'bar',
    'bars',
    'psi',
    'psi',
    'pounds',
    '°F',
    'degrees Fahrenheit',
    'n',
    'negatives',
  ]);
  expect(unitNamed(unit, 'pascal')).toBeUndefined();
});
