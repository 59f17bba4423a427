import type { ChainFault } from '../core/events.ts';

const WORDS: { readonly [W in ChainFault['what']]: string } = {
  missing: 'is missing',
  hash: 'does not match its hash',
  link: 'does not follow the event before it',
  content: 'belongs elsewhere',
  beyond_head: 'lies beyond the head',
  head: 'does not match the head',
  unreadable: 'cannot be read',
  no_record: 'has no record of its workflow that can be read',
};

/** What is wrong with a chain, for people. */
export function chainText({ seq, what }: ChainFault): string {
  return `event ${seq} ${WORDS[what]}`;
}
