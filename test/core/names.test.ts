import { describe, expect, it } from '@jest/globals';
import { canonicalAsset, isBlank } from '../../lib/core/names.ts';

describe('the stored form of an asset id', () => {
  it.each([
    ['pump-07', 'PUMP-07'],
    ['  PUMP   7 ', 'PUMP 7'],
    ['ＰＵＭＰ-０７', 'PUMP-07'],
    ['PUMP\u201007', 'PUMP-07'],
    ['PUMP\u201307', 'PUMP-07'],
    ['PU\u00adMP-07', 'PUMP-07'],
    ['PUMP-\u200b07', 'PUMP-07'],
    ['\u3000 ', ''],
    ['ẞ1', 'SS1'],
    ['ß1', 'SS1'],
  ])('of %j is %j', (said, stored) => {
    expect(canonicalAsset(said)).toBe(stored);
  });

  it('is one for canonically equivalent spellings, and stays the same when it is taken again', () => {
    expect(canonicalAsset('P\u0390')).toBe(canonicalAsset('P\u03aa\u0301'));
    for (let point = 0x20; point < 0x3000; point++) {
      const once = canonicalAsset(`A${String.fromCodePoint(point)}B`);
      expect([point, canonicalAsset(once)]).toEqual([point, once]);
      expect([point, once.normalize('NFC').normalize('NFKC')]).toEqual([point, once]);
    }
  });
});

describe('a blank text', () => {
  it.each(['', ' ', '\u200b', '\u0301', '\ufeff\n', '\u2060\u00ad'])('is %j', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(['a', '0', '😀', '-', 'é'])('is not %j', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});
