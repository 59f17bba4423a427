// Texts as moments, and their days. Every stored time is UTC with milliseconds; what may be read differently on another
// machine is no time.
const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/u;

/**
 * The moment that a text names, in epoch milliseconds; undefined for one without a zone, of another form
 * than RFC 3339 with `T`, or of a day that there is not. What is finer than milliseconds is cut.
 */
export function instantMs(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const ms = Date.parse(text.replace(/(\.\d{3})\d+/u, '$1'));
  if (Number.isNaN(ms)) return undefined;
  // A day beyond the end of its month must not become one of the next.
  const day = Number(text.slice(8, 10));
  const month = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0));
  return day <= month.getUTCDate() ? ms : undefined;
}

/** The day of a time in epoch milliseconds, in UTC, as `2026-03-01`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
