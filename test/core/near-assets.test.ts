import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nearAssets } from '../../lib/core/near-assets.ts';

const pumps = { type: 'pump', pattern: 'PUMP-[0-9]{2}', example: 'PUMP-07' };
const balances = { type: 'balance', pattern: 'BAL-[0-9]{3}', example: 'BAL-001' };
const any = { type: 'unit', pattern: '[^]+', example: 'MAIN' };

describe('an asset that is not known', () => {
  test.each([
    ['pump seven', ['PUMP-07']],
    ['Pump 7', ['PUMP-07']],
    ['pump zero seven', ['PUMP-07']],
    ['pump oh seven', ['PUMP-07']],
    ['pump seventeen', ['PUMP-17']],
    ['pump one seven', ['PUMP-17']],
    ['pump ate', ['PUMP-08']],
    ['pump for', ['PUMP-04']],
    ['pump too', ['PUMP-02']],
    ['balance twelve', ['BAL-012']],
    ['bal one hundred and five', ['BAL-105']],
    ['balance one oh five', ['BAL-105']],
  ])('is proposed for %j by the shape of an example', (heard, near) => {
    expect(nearAssets(heard, [], [pumps, balances])).toEqual(near);
  });

  test.each([
    ['the number does not fit the pattern', 'pump one hundred and five'],
    ['the number is put together from neighbours', 'balance seven eighty eight'],
    ['there is more than the name', 'pump eight in hall two'],
    ['there is no number', 'pump'],
    ['it is another kind of thing', 'crane seven'],
    ['it is nothing', ''],
  ])('is not proposed where %s: %j', (_why, heard) => {
    expect(nearAssets(heard, [], [pumps, balances])).toEqual([]);
  });
});

describe('an asset that is known', () => {
  test('is proposed alone where it reads the same', () => {
    const known = ['UNIT 788', 'UNIT 78', 'UNIT 789', 'UNIT 95'];
    expect(nearAssets('unit seven eighty eight', known, [any])).toEqual(['UNIT 788']);
    expect(nearAssets('seven eighty eight', ['788', '95'], [any])).toEqual(['788']);
  });

  test('is not made up where it reads the same and is not there', () => {
    expect(nearAssets('seven eighty eight', ['95', '560'], [any])).toEqual([]);
  });

  test('is proposed where what was heard is its name and more', () => {
    expect(nearAssets('pump eight in hall two', ['PUMP-07', 'PUMP-08'], [pumps])).toEqual([
      'PUMP-08',
    ]);
    expect(nearAssets('P for P seven', ['P-6', 'P-7'], [any])).toEqual(['P-7']);
  });

  test('is proposed in spite of words that sound alike', () => {
    const known = ['WARD 4', 'WORD FOR'];
    expect(nearAssets('ward for', known, [any])).toEqual(['WARD 4']);
    expect(nearAssets('word four', known, [any])).toEqual(['WORD FOR']);
    expect(nearAssets('wart four', known, [any])).toEqual(['WARD 4', 'WORD FOR']);
  });

  test('is proposed where little differs, nearest first, at most three', () => {
    const known = ['PUMP-01', 'PUMP-10', 'PUMP-17', 'PUMP-71', 'BAL-007'];
    expect(nearAssets('bump seventeen', known, [pumps])).toEqual(['PUMP-17', 'PUMP-01', 'PUMP-10']);
  });

  test('is never proposed for itself', () => {
    expect(nearAssets('pump-80', ['PUMP-08', 'PUMP-80'], [pumps])).toEqual(['PUMP-08']);
    expect(nearAssets('PUMP-80', [], [pumps])).toEqual([]);
  });

  test('is not proposed where a procedure could not be done on it', () => {
    expect(nearAssets('balance 7', ['PUMP-07', 'BAL-007'], [pumps])).toEqual([]);
  });

  test('is never proposed twice, and nothing outside the shapes is', () => {
    const word = fc.constantFrom('pump', 'bal', 'seven', 'eight', '07', 'for', 'hall', 'oh', 'and');
    const heard = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
    const asset = fc.tuple(fc.constantFrom('PUMP', 'BAL'), fc.nat(99)).map(([a, n]) => `${a}-${n}`);
    fc.assert(
      fc.property(fc.oneof(heard, fc.string()), fc.array(asset), (said, known) => {
        const near = nearAssets(said, known, [pumps, balances]);
        expect(near.length).toBeLessThanOrEqual(3);
        expect(new Set(near).size).toBe(near.length);
        expect(near.filter((one) => !/^(?:PUMP-\d{2}|BAL-\d{3})$/u.test(one))).toEqual([]);
      }),
    );
  });
});

test('of a thousand assets with the longest names three are proposed', () => {
  const known = Array.from({ length: 1_000 }, (_, i) => `${'LONG NAME '.repeat(6)}${1_000 + i}`);
  expect(nearAssets('one two for too '.repeat(4), known, [any])).toEqual([]);
  expect(nearAssets(`${'long name '.repeat(6)}123`, known, [any])).toEqual([
    `${'LONG NAME '.repeat(6)}1023`,
    `${'LONG NAME '.repeat(6)}1123`,
    `${'LONG NAME '.repeat(6)}1203`,
  ]);
});
