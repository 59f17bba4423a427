// The ways in which the name of an asset can be meant: its words, and its numbers as digits.
// "unit seven", "Unit 07" and "UNIT-07" have one form in common. Nothing is chosen here.
import { foldName } from './names.ts';
import { readSpokenNumber } from './spoken-number.ts';
import { belowHundred, digitOf, scaleOf } from './spoken-whole.ts';

/** One way to read a name. `guessed`: neighbouring numbers were put together into one. */
export interface Form {
  readonly tokens: readonly string[];
  readonly guessed: boolean;
}

/** Words that sound like a number. */
const HOMOPHONES: ReadonlyMap<string, string> = new Map([
  ['for', 'four'],
  ['fore', 'four'],
  ['to', 'two'],
  ['too', 'two'],
  ['ate', 'eight'],
  ['won', 'one'],
]);
/** Names with more runs of numbers than this are read in one way only. */
const MOST_FORMS = 8;

/** Every form of a name, as it is written and with the words in it that sound like numbers. */
export function formsOf(name: string): readonly Form[] {
  const tokens: readonly string[] = foldName(name).match(/\p{L}+|\d+/gu) ?? [];
  const heard = tokens.map((token) => HOMOPHONES.get(token) ?? token);
  const forms = [tokens, heard].flatMap(readings);
  return forms.filter(
    (form, i) => forms.findIndex((other) => textOf(other) === textOf(form)) === i,
  );
}

/** A form as one text. */
export function textOf({ tokens }: Form): string {
  return tokens.join(' ');
}

/** The forms of tokens: every run of number words is read as one number, or piece by piece. */
function readings(tokens: readonly string[]): readonly Form[] {
  let forms: readonly Form[] = [{ tokens: [], guessed: false }];
  for (let i = 0; i < tokens.length;) {
    const run = runAt(tokens, i);
    const ways = run.length === 0 ? [{ text: tokens[i] ?? '', guessed: false }] : numbersIn(run);
    const used = forms.length * ways.length > MOST_FORMS ? ways.slice(0, 1) : ways;
    forms = forms.flatMap((form) =>
      used.map(({ text, guessed }) => ({
        tokens: [...form.tokens, text],
        guessed: form.guessed || guessed,
      })),
    );
    i += Math.max(1, run.length);
  }
  return forms;
}

/** The longest run of number words from a place on; "and" and "oh" only belong to others. */
function runAt(tokens: readonly string[], from: number): readonly string[] {
  const isNumber = (token: string): boolean =>
    belowHundred([token]) !== undefined ||
    /^\d+$/u.test(token) ||
    token === 'hundred' ||
    scaleOf(token) !== undefined;
  let end = from;
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (isNumber(token)) end = i + 1;
    else if (digitOf(token, true) === undefined && !(token === 'and' && i > from)) break;
  }
  return tokens.slice(from, end);
}

function numbersIn(
  run: readonly string[],
): readonly { readonly text: string; readonly guessed: boolean }[] {
  const whole = readSpokenNumber(run.join(' '))?.value;
  const pieces = piecesOf(run);
  // Identifiers are read digit by digit; other pieces side by side are a guess.
  const guessed = !pieces.every((piece) => piece.length === 1);
  const joined = stripped(pieces.join(''));
  const ways = [
    ...(whole === undefined ? [] : [{ text: String(whole), guessed: false }]),
    ...(joined === '' ? [] : [{ text: joined, guessed: guessed && pieces.length > 1 }]),
  ];
  const texts = ways.map(({ text }) => text);
  return ways.length === 0
    ? [{ text: run.join(' '), guessed: true }]
    : ways.filter(({ text }, i) => texts.indexOf(text) === i);
}

/** "seven eighty eight" in pieces: 7 and 88. Empty where a word has no digits of its own. */
function piecesOf(run: readonly string[]): readonly string[] {
  const pieces: string[] = [];
  for (let i = 0; i < run.length;) {
    const one = run[i] ?? '';
    const pair = run.length > i + 1 ? belowHundred(run.slice(i, i + 2)) : undefined;
    const single = /^\d+$/u.test(one) ? one : (digitOf(one, true) ?? belowHundred([one]));
    if (pair === undefined && single === undefined) return [];
    pieces.push(String(pair ?? single));
    i += pair === undefined ? 1 : 2;
  }
  return pieces;
}

function stripped(digits: string): string {
  return digits.replace(/^0+(?=\d)/u, '');
}
