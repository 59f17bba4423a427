import { describe, expect, test } from '@jest/globals';
import { cutAtBytes, cutAtChars } from '../../lib/core/cut.ts';

describe('a text', () => {
  test.each([
    ['é', 1, ''],
    ['aé', 2, 'a'],
    ['a€b', 3, 'a'],
    ['a€b', 4, 'a€'],
    ['🙂🙂', 7, '🙂'],
    ['🙂🙂', 8, '🙂🙂'],
    ['a\uFFFD', 3, 'a'],
    ['a\uFFFD', 4, 'a\uFFFD'],
  ])('%j is cut at %i bytes between two characters', (text, bytes, kept) => {
    expect(cutAtBytes(text, bytes)).toBe(kept);
  });

  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['🙂🙂', 1, '🙂'],
    ['', 1, ''],
  ])('%j is cut at %i characters', (text, chars, kept) => {
    expect(cutAtChars(text, chars)).toBe(kept);
  });
});
