// Text for a terminal: aligned, and at most 100 columns. What is unsafe to show is the business of the
// display function alone.
import { displayLines } from '../core/display.ts';

/** The widest line. */
export const COLUMNS = 100;

/** A text in one line; displayed text stays as it is. */
const oneLine = (text: string): string => displayLines(text.replace(/\s+/gu, ' ').trim());

/** A text in a column of so many characters. */
export function cell(text: string, width: number): string {
  const shown = cut(oneLine(text), width);
  return shown + ' '.repeat(width - [...shown].length);
}

/**
 * Rows as lines with aligned columns. `give` is the column that is cut where a line would be too long;
 * the last one where left out.
 */
export function aligned(
  rows: readonly (readonly string[])[],
  { indent = 2, give }: { readonly indent?: number; readonly give?: number } = {},
): readonly string[] {
  const cells = rows.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((text, i) => (widths[i] = Math.max(widths[i] ?? 0, [...text].length)));
  }
  const total = indent + widths.reduce((sum, width) => sum + width + 2, -2);
  if (give !== undefined && total > COLUMNS) {
    widths[give] = Math.max(8, (widths[give] ?? 0) - (total - COLUMNS));
  }
  return cells.map((row) => {
    const padded = row.map((text, i) => cell(text, Math.min(widths[i] ?? 0, COLUMNS)));
    return `${' '.repeat(indent)}${cut(padded.join('  ').trimEnd(), COLUMNS - indent)}`;
  });
}

/** Names with what is to be said of each, whole, over as many lines as it takes. */
export function facts(rows: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.flatMap(([name, text]) => {
    const [first = '', ...more] = wrapped(text, width);
    return [`${name.padEnd(width)}${first.trimStart()}`, ...more];
  });
}

function cut(line: string, max: number): string {
  const characters = [...line];
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join('')}…`;
}

/** A sentence in lines of at most 100 columns, every character of it. */
export function wrapped(text: string, indent = 0): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of oneLine(text).split(' ')) {
    for (const part of parts(word, COLUMNS - indent)) {
      if (line !== '' && line.length + 1 + part.length > COLUMNS - indent) {
        lines.push(line);
        line = '';
      }
      line = line === '' ? part : `${line} ${part}`;
    }
  }
  return [...lines, line].map((each) => `${' '.repeat(indent)}${each}`);
}

/** A text in parts of at most so many characters. */
export function parts(text: string, width: number): readonly string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / width);
  return Array.from({ length: count }, (_, i) =>
    characters.slice(i * width, (i + 1) * width).join(''),
  );
}

/** "1 step", "2 steps". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How long something has lasted, in its two largest units: `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function lasted(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** A time as it is shown: UTC, to the second. */
export function shownTime(at: string | number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '?';
  return date.toISOString().slice(0, 19).replace('T', ' ');
}
