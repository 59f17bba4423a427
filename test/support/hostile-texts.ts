/** Texts that somebody made to mislead whoever looks at them, each as it has to be shown everywhere. */
export const HOSTILE_TEXTS: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['C0 controls', 'a\u0000\u0007\bb', 'a\\u{0000}\\u{0007}\\u{0008}b'],
  ['C1 controls', 'a\u0085\u009b2Kb', 'a\\u{0085}\\u{009B}2Kb'],
  ['terminal escapes', 'a\u001b[2K\u001b]0;t\u0007b', 'a\\u{001B}[2K\\u{001B}]0;t\\u{0007}b'],
  ['a forged line', 'no\r\nApproved by: Dora', 'no\\r\\nApproved by: Dora'],
  ['bidi overrides', 'ok\u202Egnp.exe\u202C', 'ok\\u{202E}gnp.exe\\u{202C}'],
  ['bidi isolates', 'a\u2066b\u2067c\u2068d\u2069e', 'a\\u{2066}b\\u{2067}c\\u{2068}d\\u{2069}e'],
  [
    'zero-width characters',
    'a\u200Bb\u200Dc\u2060d\uFEFFe',
    'a\\u{200B}b\\u{200D}c\\u{2060}d\\u{FEFF}e',
  ],
  ['variation selectors', 'a\uFE0Fb\u{E0100}c', 'a\\u{FE0F}b\\u{E0100}c'],
  ['a forged escape', 'a\\u{202E}b', 'a\\\\u{202E}b'],
  ['blanks that push', `a${' '.repeat(300)}b`, 'a\\s{300}b'],
  ['a long text', 'x'.repeat(600), `${'x'.repeat(500)}… [100 more characters]`],
];
