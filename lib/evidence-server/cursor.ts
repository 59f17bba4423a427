// Pages of one question over files that may change between them. A cursor names the place and what it is
// a place in; it gives access to nothing, so it is not signed.
import { sha256Hex } from '../core/canonical.ts';
import { CallFault } from './faults.ts';

/** Where a page begins. `question` is whatever decides the order of all pages. */
export function placeOf(cursor: string | undefined, question: readonly string[]): number {
  if (cursor === undefined) return 0;
  const [, place, of] = /^(\d{1,6})\.([0-9a-f]{16})$/.exec(cursor) ?? [];
  if (place === undefined || of !== markOf(question)) {
    throw new CallFault(
      'cursor: expected the next_cursor of the same question; start again without one, the files may have changed',
    );
  }
  return Number(place);
}

/** The cursor of the page that begins at a place. */
export function cursorAt(place: number, question: readonly string[]): string {
  return `${place}.${markOf(question)}`;
}

function markOf(question: readonly string[]): string {
  return sha256Hex(JSON.stringify(question)).slice(0, 16);
}
