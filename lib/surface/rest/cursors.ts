// Cursors of REST lists: opaque, signed, and bound to the tenant, the list and its query. Whatever was not
// given by this very list is refused before anything is read.
import { sameDigest } from '../../core/canonical.ts';
import { shortMac } from '../../core/secrets.ts';

/** What a cursor belongs to. */
export interface CursorScope {
  /** The secret of the tenant for cursors. */
  readonly secret: string;
  /** The list with its query, without the cursor. */
  readonly list: readonly string[];
}

/** No cursor of ours is longer. */
const LONGEST = 8_192;

/** Signs where a list goes on. */
export function signCursor({ secret, list }: CursorScope, position: string): string {
  return `${Buffer.from(position, 'utf8').toString('base64url')}.${mac(secret, list, position)}`;
}

/** Reads a cursor of the same list; undefined for anything else. */
export function openCursor(scope: CursorScope, cursor: string): string | undefined {
  if (cursor.length > LONGEST) return undefined;
  const [encoded = '', signature = '', ...more] = cursor.split('.');
  const position = Buffer.from(encoded, 'base64url').toString('utf8');
  const expected = mac(scope.secret, scope.list, position);
  if (more.length > 0 || !sameDigest(signature, expected)) return undefined;
  // One position has one form.
  return signCursor(scope, position) === cursor ? position : undefined;
}

const mac = (secret: string, list: readonly string[], position: string): string =>
  shortMac(secret, JSON.stringify([list, position]));
