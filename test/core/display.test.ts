import { describe, expect, test } from '@jest/globals';
import { display, displayFields, displayLines, visibleJson } from '../../lib/core/display.ts';

describe('the display of a text of others', () => {
  test.each([
    [
      'a plain sentence',
      'Restart payments-api, please. Ünïcödé: 日本, 🙂',
      'Restart payments-api, please. Ünïcödé: 日本, 🙂',
    ],
    ['a bidi override', 'ok\u202Egnp.exe', 'ok\\u{202E}gnp.exe'],
    ['bidi isolates and marks', 'a\u2066b\u2069\u200F', 'a\\u{2066}b\\u{2069}\\u{200F}'],
    ['a forged second line', 'line1\nApproved by: user-b', 'line1\\nApproved by: user-b'],
    ['other line ends', 'a\r\nb\u0085c\u2028d\u2029e', 'a\\r\\nb\\u{0085}c\\u{2028}d\\u{2029}e'],
    ['a terminal escape', '\u001b[2K', '\\u{001B}[2K'],
    ['a C1 control sequence', '\u009b2K', '\\u{009B}2K'],
    ['a variation selector', 'x\u{E0100}', 'x\\u{E0100}'],
    ['an emoji variation selector', '✔\uFE0F', '✔\\u{FE0F}'],
    ['tag characters', 'a\u{E0041}\u{E007F}', 'a\\u{E0041}\\u{E007F}'],
    [
      'zero-width characters',
      'pay\u200Bments\u200D\u2060\uFEFF',
      'pay\\u{200B}ments\\u{200D}\\u{2060}\\u{FEFF}',
    ],
    ['a soft hyphen', 'pay\u00ADments', 'pay\\u{00AD}ments'],
    [
      'letters that are drawn as nothing',
      'a\u3164b\u115Fc\u2800',
      'a\\u{3164}b\\u{115F}c\\u{2800}',
    ],
    ['blanks that are no space', 'a\u00A0b\u3000c', 'a\\u{00A0}b\\u{3000}c'],
    ['half of a pair', 'a\uD800b', 'a\\u{D800}b'],
    ['private use', '\uE000', '\\u{E000}'],
    ['marks that pile up', 'a\u0301\u0301\u0301\u0301', 'a\u0301\u0301\\u{0301}\\u{0301}'],
    ['what looks like an escape', '\\u{202E}', '\\\\u{202E}'],
  ])('shows %s for what it is', (_what, text, shown) => {
    expect(display(text).text).toBe(shown);
  });

  test('counts blanks that would push the rest out of sight', () => {
    expect(display(`safe${' '.repeat(300)}unsafe`)).toEqual({
      text: 'safe\\s{300}unsafe',
      escaped: 300,
      hidden: 0,
    });
    expect(display('a   b').text).toBe('a   b');
  });

  test('says how much it left out, and cuts no character in two', () => {
    expect(display('🙂'.repeat(5), 3)).toEqual({
      text: '🙂🙂🙂… [2 more characters]',
      escaped: 0,
      hidden: 2,
    });
    expect(display('abcd', 3).text).toBe('abc… [1 more character]');
    expect(display('abc', 3)).toEqual({ text: 'abc', escaped: 0, hidden: 0 });
  });

  test('shows every field of a value, its name included, in one way', () => {
    const action = {
      type: 'restart',
      'na\u202Eme': 'x',
      args: { note: 'a\nb', count: 2, tags: [] as string[], list: ['one', null] },
    };
    const shown = displayFields(action, 10).map(({ path, text }) => [path, text]);
    expect(shown).toEqual([
      ['/type', 'restart'],
      ['/na\\u{202E}me', 'x'],
      ['/args/note', 'a\\nb'],
      ['/args/count', '2'],
      ['/args/tags', '[]'],
      ['/args/list/0', 'one'],
      ['/args/list/1', 'null'],
    ]);
  });

  test('says how many fields of a long value are missing', () => {
    const shown = displayFields(Array.from({ length: 250 }, (_, i) => i));
    expect(shown.length).toBe(100);
    expect(shown.at(-1)).toEqual({
      path: '',
      text: '… [151 more fields]',
      escaped: 0,
      hidden: 151,
    });
  });
});

/** One of every kind that is not plainly visible. */
const UNSEEN = '\u001b\u009b\u202E\u2066\u200B\uFE0F\u{E0041}\u3164\u2028\u00A0\uD800';
const ESCAPED =
  '\\u{001B}\\u{009B}\\u{202E}\\u{2066}\\u{200B}\\u{FE0F}\\u{E0041}\\u{3164}\\u{2028}\\u{00A0}\\u{D800}';

describe('lines of displayed texts', () => {
  test('keep their ends, blanks and backslashes, and escape what is still unsafe', () => {
    const lines = `one  \\d\n    two${UNSEEN}\tö\u0301\u0301\u0301`;
    expect(displayLines(lines)).toBe(`one  \\d\n    two${ESCAPED}\\tö\u0301\u0301\\u{0301}`);
  });

  test('stay as they are when they come by again', () => {
    const once = displayLines(display(`a\\${UNSEEN}\n${' '.repeat(9)}`).text);
    expect([once, displayLines(once)]).toEqual([
      `a\\\\${ESCAPED}\\n\\s{9}`,
      `a\\\\${ESCAPED}\\n\\s{9}`,
    ]);
  });
});

describe('visible JSON', () => {
  test('escapes the same characters, and says the same to the last one', () => {
    const value = { 'a\u001b': [UNSEEN, 'Ä 🔧 語 é', 'line\nline', '\\d'] };
    const text = visibleJson(JSON.stringify(value, null, 2));
    expect(displayLines(text)).toBe(text);
    expect(text).toContain(
      '\\u009b\\u202e\\u2066\\u200b\\ufe0f\\udb40\\udc41\\u3164\\u2028\\u00a0',
    );
    expect(text).toContain('Ä 🔧 語 é');
    expect(JSON.parse(text)).toEqual(value);
  });
});
