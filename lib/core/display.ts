// Text of others as people may see it: nothing in it moves a cursor, turns a line around, hides, or
// pushes the rest out of sight. The one place for terminals, answers, tools and pages; what is compared,
// hashed and stored is always the real text.
import { pointer, type Json } from './json.ts';
import { LIMITS } from './limits.ts';

/** A text to look at, and what was done to it. */
export interface Displayed {
  /** One line; it ends with how much is left out, where something is. */
  readonly text: string;
  /** Characters that stand as an escape. */
  readonly escaped: number;
  /** Characters that are left out. */
  readonly hidden: number;
}

/** One field of a value, by its JSON pointer. */
export interface DisplayedField extends Displayed {
  readonly path: string;
}

/** Controls, formats, surrogates, unassigned, ignorable, other spaces and what looks like one. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/u;
const MARK = /\p{M}/u;

/** Blanks in a row that are shown as they are; more push what follows out of sight. */
const BLANKS = 3;
/** Marks on one letter that are shown as they are; more cover the lines around. */
const MARKS = 2;
/** The same within lines, whose ends, blanks and backslashes are ours. */
const UNSAFE_IN_LINES = new RegExp(`(?!\\n)(?:${UNSAFE.source})|(?<=\\p{M}{${MARKS}})\\p{M}`, 'gu');

const NAMED: { readonly [character: string]: string } = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
};

/**
 * A text with whatever is not plainly visible as an escape: `\n`, `\u{202E}`, `\s{300}` for as many
 * blanks, `\\` for a backslash, so that no escape can be forged. At most `max` characters of the text
 * are shown; what is left out is counted at the end.
 */
export function display(text: string, max: number = LIMITS.displayedChars.max): Displayed {
  const characters = [...text];
  const shown: string[] = [];
  let escaped = 0;
  let marks = 0;
  const end = Math.min(max, characters.length);
  for (let i = 0; i < end;) {
    const character = characters[i] ?? '';
    const run = character === ' ' ? blanksFrom(characters, i, end) : 1;
    marks = MARK.test(character) ? marks + 1 : 0;
    if (run > BLANKS) {
      shown.push(`\\s{${run}}`);
      escaped += run;
    } else if (character === '\\' || UNSAFE.test(character) || marks > MARKS) {
      shown.push(escapeOf(character));
      escaped++;
    } else shown.push(character.repeat(run));
    i += run;
  }
  const hidden = characters.length - end;
  if (hidden > 0) shown.push(`… [${hidden} more ${hidden === 1 ? 'character' : 'characters'}]`);
  return { text: shown.join(''), escaped, hidden };
}

/** Lines that hold displayed texts beside our own: as they are, with an escape for what is still unsafe. */
export function displayLines(lines: string): string {
  return lines.replace(UNSAFE_IN_LINES, escapeOf);
}

/** JSON text with the same characters as escapes of JSON: what it says stays the same to the last one. */
export function visibleJson(json: string): string {
  return json.replace(UNSAFE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, i) => {
      const unit = character.charCodeAt(i).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}

function blanksFrom(characters: readonly string[], start: number, end: number): number {
  let i = start;
  while (i < end && characters[i] === ' ') i++;
  return i - start;
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return NAMED[character] ?? `\\u{${code.toString(16).toUpperCase().padStart(4, '0')}}`;
}

/**
 * Every field of a value with its displayed text, in the value's order: texts as they are, everything
 * else as JSON. At most as many as the limits table says; the last one then says how many are missing.
 */
export function displayFields(
  value: Json,
  max: number = LIMITS.displayedChars.max,
): readonly DisplayedField[] {
  const fields = [...leaves(value, '')];
  const { max: most } = LIMITS.displayedFields;
  const kept = fields.length > most ? fields.slice(0, most - 1) : fields;
  const left = fields.length - kept.length;
  const shown = kept.map(([path, leaf]) => ({
    path: display(path).text,
    ...display(typeof leaf === 'string' ? leaf : JSON.stringify(leaf), max),
  }));
  if (left === 0) return shown;
  return [...shown, { path: '', text: `… [${left} more fields]`, escaped: 0, hidden: left }];
}

function* leaves(value: Json, path: string): Generator<readonly [path: string, leaf: Json]> {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (inner.length === 0) yield [path, value];
  for (const [name, member] of inner) yield* leaves(member, pointer(path, name));
}
