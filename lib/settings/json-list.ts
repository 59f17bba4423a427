/** Settings that are JSON arrays of objects, with fields that no two entries may share. */
import * as z from 'zod';

/** A JSON array of at most `most` entries in which each of the `unique` fields differs. */
export function jsonList<
  Entry extends z.ZodType<Readonly<Record<Unique, unknown>>>,
  Unique extends string,
>(entry: Entry, most: number, unique: readonly Unique[]) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        // The parser's own message quotes the text, so it is not passed on.
        context.addIssue({ code: 'custom', message: 'expected JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(entry).max(most))
    .superRefine((entries, context) => {
      for (const field of unique) refuseRepeats(entries, field, context);
    });
}

function refuseRepeats<Unique extends string>(
  entries: readonly Readonly<Record<Unique, unknown>>[],
  field: Unique,
  context: z.RefinementCtx,
): void {
  const seen = new Set<unknown>();
  for (const [index, entry] of entries.entries()) {
    if (seen.has(entry[field])) {
      const message = `expected another ${field} than an earlier entry has`;
      context.addIssue({ code: 'custom', path: [index, field], message });
    }
    seen.add(entry[field]);
  }
}
