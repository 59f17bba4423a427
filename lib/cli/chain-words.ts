// What verification found, in words.
import type { TrailFault } from '../core/audit.ts';

const WORDS: { readonly [W in TrailFault['what']]: string } = {
  missing: 'is missing',
  hash: 'does not match its hash',
  link: 'does not follow the event before it',
  content: 'belongs elsewhere',
  beyond_head: 'lies beyond the head',
  head: 'does not match the head',
  unreadable: 'cannot be read',
  no_record: 'has no record of its workflow that can be read',
  value_changed: 'does not match the sensitive value that is kept for it',
  value_missing: 'has lost its sensitive value, and no event says that it was erased',
  value_not_erased: 'has a sensitive value that was erased and is still there',
  value_unnamed: 'has a sensitive value that no event commits to',
  value_unreadable: 'has a sensitive value that cannot be read',
};

/** What is wrong with a trail, for people. */
export function chainText({ seq, what, acknowledged }: TrailFault): string {
  const seen = acknowledged === undefined ? '' : ` (looked at by a person, event ${acknowledged})`;
  return `event ${seq} ${WORDS[what]}${seen}`;
}
