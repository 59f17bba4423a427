// Whole numbers in English words, by one grammar: what does not fit it from end to end is no number.
// Neighbouring words are never added or multiplied by guess: "seven eighty eight" is no value.

const UNITS = 'zero one two three four five six seven eight nine'.split(' ');
const TEENS =
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES = [
  ['billion', 1_000_000_000n],
  ['million', 1_000_000n],
  ['thousand', 1_000n],
] as const;

/** What a scale word stands for, or undefined for any other word. */
export function scaleOf(word: string | undefined): bigint | undefined {
  return SCALES.find(([name]) => name === word)?.[1];
}

/** The digit that a word stands for; `oh` where the letter counts as zero. */
export function digitOf(word: string, oh: boolean): string | undefined {
  if (/^\d$/u.test(word)) return word;
  if (word === 'oh' || word === 'o') return oh ? '0' : undefined;
  const digit = UNITS.indexOf(word === 'nought' ? 'zero' : word);
  return digit < 0 ? undefined : String(digit);
}

/** A number from 0 to 99: one word, tens and a unit, or digits without a leading zero. */
export function belowHundred(words: readonly string[]): bigint | undefined {
  const [first = '', second, ...rest] = words;
  if (rest.length > 0) return undefined;
  const tens = TENS.indexOf(first);
  if (second !== undefined) {
    const unit = UNITS.indexOf(second);
    return tens >= 0 && unit > 0 ? BigInt((tens + 2) * 10 + unit) : undefined;
  }
  if (tens >= 0) return BigInt((tens + 2) * 10);
  const teen = TEENS.indexOf(first);
  if (teen >= 0) return BigInt(teen + 10);
  if (/^(?:0|[1-9]\d?)$/u.test(first)) return BigInt(first);
  const digit = digitOf(first, false);
  return digit === undefined ? undefined : BigInt(digit);
}

/** A whole number, zero or more, in words; undefined for everything that is not exactly one. */
export function wholeOf(words: readonly string[]): bigint | undefined {
  return spelled(words) ?? counted(words);
}

/** "one oh five": single digits around an "oh", which is said in no other kind of number. */
function spelled(words: readonly string[]): bigint | undefined {
  const inner = words.slice(1, -1);
  if (!inner.some((word) => word === 'oh' || word === 'o')) return undefined;
  const digits = words.map((word, i) => digitOf(word, i > 0 && i < words.length - 1));
  if (digits.includes(undefined) || digits[0] === '0') return undefined;
  return BigInt(digits.join(''));
}

function counted(words: readonly string[]): bigint | undefined {
  let rest = words;
  if (rest[0] === 'a' && (rest[1] === 'hundred' || scaleOf(rest[1]) !== undefined)) {
    rest = ['one', ...rest.slice(1)];
  }
  let total = 0n;
  for (const [name, scale] of SCALES) {
    const place = rest.indexOf(name);
    if (place < 0) continue;
    const many = group(rest.slice(0, place), total > 0n);
    if (many === undefined || many === 0n) return undefined;
    total += many * scale;
    rest = rest.slice(place + 1);
  }
  if (total === 0n) return belowThousand(rest) ?? manyHundreds(rest);
  if (rest.length === 0) return total;
  const last = group(rest, true);
  return last === undefined || last === 0n ? undefined : total + last;
}

/** What is said before one scale word; after a larger one "and" leads to tens and units only. */
function group(words: readonly string[], later: boolean): bigint | undefined {
  return later && words[0] === 'and' ? belowHundred(words.slice(1)) : belowThousand(words);
}

function belowThousand(words: readonly string[]): bigint | undefined {
  if (words.length === 1 && /^[1-9]\d{2}$/u.test(words[0] ?? '')) return BigInt(words[0] ?? '');
  if (!words.includes('hundred')) return belowHundred(words);
  return hundreds(words, (many) => many >= 1n && many <= 9n);
}

/** "twelve hundred": only where no larger scale is said. */
function manyHundreds(words: readonly string[]): bigint | undefined {
  return hundreds(words, (many) => many > 10n && many % 10n !== 0n);
}

function hundreds(words: readonly string[], fits: (many: bigint) => boolean): bigint | undefined {
  const place = words.indexOf('hundred');
  const many = belowHundred(words.slice(0, Math.max(0, place)));
  if (place < 0 || many === undefined || !fits(many)) return undefined;
  const tail = words.slice(place + 1);
  if (tail.length === 0) return many * 100n;
  const last = belowHundred(tail[0] === 'and' ? tail.slice(1) : tail);
  return last === undefined || last === 0n ? undefined : many * 100n + last;
}
