// Pages of lists, for every backend: limits, and cursors that are opaque to callers and bound to one
// list. Signing cursors is the surface's.
import { InputError } from './input-error.ts';
import { LIMITS } from './limits.ts';
import type { Page } from './ports/storage.ts';

/** Where a list goes on: the sort values of the last row that was given. */
export type Position = readonly [string, string];

/** No cursor of two keys of the longest kind is longer. */
const LONGEST = 16_384;

/** Writes the cursor of a list; `list` names the list with all its parameters. */
export function writeCursor(list: readonly string[], position: Position): string {
  return Buffer.from(JSON.stringify([list, position]), 'utf8').toString('base64url');
}

/** Reads a cursor of the same list. Throws `InputError` for anything else. */
export function readCursor(list: readonly string[], cursor: string): Position {
  const position = positionIn(cursor);
  // Comparing with the cursor as it would be written leaves no second form of any cursor.
  if (position !== undefined && writeCursor(list, position) === cursor) return position;
  throw foreignCursor();
}

/** The refusal of a cursor that another list gave, or none. */
export function foreignCursor(): InputError {
  return new InputError([{ path: '/cursor', message: 'expected a cursor that this list gave' }]);
}

function positionIn(cursor: string): Position | undefined {
  if (cursor.length > LONGEST) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  const position: unknown = Array.isArray(content) ? content[1] : undefined;
  if (!Array.isArray(position)) return undefined;
  const [first, second] = position as unknown[];
  if (typeof first !== 'string' || typeof second !== 'string') return undefined;
  return [first, second];
}

/** Checks how many rows are asked for. Throws `InputError` unless it is a whole number from 1 to `max`. */
export function checkLimit(limit: number, max: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return;
  throw new InputError([{ path: '/limit', message: `expected a whole number from 1 to ${max}` }]);
}

/** Every item of a list in its order; a page is asked for when the one before it is used up. */
export async function* everyItem<T>(
  list: (page: { readonly after?: string; readonly limit: number }) => Promise<Page<T>>,
): AsyncGenerator<T> {
  const limit = LIMITS.pageItems.max;
  for (let after: string | undefined; ;) {
    const page = await list({ limit, ...(after !== undefined && { after }) });
    yield* page.items;
    after = page.next;
    if (after === undefined) return;
  }
}
