// Small words: numbers, lists, clean fragments, and the bound on what is said at once.
// Knows nothing of workflows. What comes from a caller or a token passes through `clean`.
import { cutAtChars } from '../../core/cut.ts';
import { LIMITS } from '../../core/limits.ts';

// Loading what it formats by takes longer than most modules, so the first number that is said does.
let digits: Intl.NumberFormat | undefined;

/** A number as it is said: digits, and "minus" in place of a sign that speech engines drop. */
export function spokenNumber(value: number): string {
  digits ??= new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 9 });
  const text = digits.format(Math.abs(value));
  return value < 0 && text !== '0' ? `minus ${text}` : text;
}

/**
 * A fragment without what must not be spoken: control and direction characters, markdown, links.
 * At most `maxChars` characters.
 */
export function clean(text: string, maxChars = 120): string {
  const plain = text
    .normalize('NFC')
    .replace(/\b(?:[a-z][a-z0-9+.-]*:\/\/|www\.)\S*/giu, ' ')
    .replace(/[\p{C}*_#`~|<>{}[\]()\\^"]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return cutAtChars(plain, maxChars).trim();
}

/** A clean fragment that goes on in a sentence: no full stop at its end. */
export function phrase(text: string, maxChars = 120): string {
  return clean(text, maxChars).replace(/[\s.!?;:,]+$/u, '');
}

/** "a", "a and b", "a, b and 3 more": at most five are said. `total` counts those not given. */
export function listed(
  items: readonly string[],
  last: 'and' | 'or' = 'and',
  total = items.length,
): string {
  const shown = items.slice(0, LIMITS.spokenChoices.max);
  const left = Math.max(total, items.length) - shown.length;
  const parts = left > 0 ? [...shown, `${left} more`] : shown;
  const end = parts.at(-1) ?? '';
  return parts.length < 2 ? end : `${parts.slice(0, -1).join(', ')} ${last} ${end}`;
}

/** "1 step", "2 steps". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How long something lasts, never more than it does: "25 minutes", "3 hours", "2 days". */
export function spokenSpan(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day');
}

/** A sentence, or several ways to say it, the longest first: the first that fits is said. */
export type Sentence = string | readonly string[] | undefined;

/** Joins sentences, each with a capital and an end, and leaves out what passes the word limit. */
export function say(...sentences: readonly Sentence[]): string {
  const said: string[] = [];
  let words = 0;
  for (const sentence of sentences) {
    if (sentence === undefined || sentence === '') continue;
    const room = LIMITS.spokenWords.max - words;
    const ways = typeof sentence === 'string' ? [sentence] : sentence;
    const parts = (ways.find((way) => way.split(' ').length <= room) ?? ways.at(-1) ?? '').split(
      ' ',
    );
    if (parts.length > room && said.length > 0) break;
    said.push(finished(parts.slice(0, room).join(' ')));
    words += parts.length;
  }
  return said.join(' ');
}

function finished(sentence: string): string {
  const first = [...sentence][0] ?? '';
  const capital = first.toLocaleUpperCase('en-US') + sentence.slice(first.length);
  return /[.?!]$/u.test(capital) ? capital : `${capital.replace(/[\s;:,]+$/u, '')}.`;
}
