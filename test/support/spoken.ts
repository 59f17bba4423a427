// What a text must be so that it can be spoken (C2, C3): the lint of every sentence of the product.

const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['an identifier with an underscore', /\w_\w/u],
  ['an id of a workflow', /\b[0-9a-z]{20,}\b/u],
  ['a subject', /\b[a-z]+:[a-z]/u],
  ['a code', /\b[A-Z]{2,}_[A-Z]/u],
  ['JSON', /[{}[\]]|":/u],
  ['markdown', /[*`#|<>\\]/u],
  ['a link', /:\/\/|www\./u],
  ['a control or direction character', /[\p{Cc}\p{Cf}]/u],
  ['a sign that is not spoken', /(?<![\w])[-−]\d/u],
  ['an exponent', /\d[eE][+-]?\d/u],
  ['a word for a missing value', /\b(?:undefined|null|NaN|object)\b/u],
  ['a step number', /\bseq\b|\btoken\b|\btool\b/u],
  ['a doubled mark', /[.,;:?!]{2}|\s[.,;:?!]|\s\s/u],
];

/** Everything that keeps a text from being spoken; empty when it can be. */
export function unspeakable(text: string): readonly string[] {
  const found = FORBIDDEN.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
  const words = text.split(/\s+/u).length;
  const sentences = text.split(/[.?!](?:\s|$)/u).filter((part) => part !== '').length;
  if (words >= 75) found.push(`${words} words`);
  if (sentences < 1 || sentences > 2) found.push(`${sentences} sentences`);
  if (!/^[\p{Lu}\p{N}].*[.?!]$/su.test(text)) found.push('no capital or no end');
  return found;
}
