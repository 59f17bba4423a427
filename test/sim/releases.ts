// A later release, as far as an earlier one can tell: it adds an attribute to whatever it writes, and may
// write the format that follows.
import { FORMAT } from '../../lib/core/model/workflow.ts';
import type { Write } from '../../lib/core/ports/storage.ts';
import type { Attributes } from '../exhaustive/items.ts';

/** What a process knows of formats. */
export interface Release {
  readonly name: 'this' | 'next';
  readonly reads: number;
  readonly writes: number;
}

export const THIS: Release = { name: 'this', reads: FORMAT, writes: FORMAT };
/** The next release: it reads what follows, and only the one after it may write it. */
export const NEXT: Release = { name: 'next', reads: FORMAT + 1, writes: FORMAT };
/** A release that was rolled out too early, beside processes that do not read what it writes. */
export const TOO_EARLY: Release = { name: 'next', reads: FORMAT + 1, writes: FORMAT + 1 };

/** The attribute that only the next release knows. */
const ADDED = 'added_by_the_next_release';

/** A write as a release sends it. */
export function sentBy({ name, writes: format }: Release, write: Write): Write {
  if (name === 'this') return write;
  const added = { [ADDED]: true, format };
  if (write.op === 'create') return { ...write, item: { ...write.item, ...added } };
  if (write.op === 'update') return { ...write, set: { ...write.set, ...added } };
  return write;
}

/** A write of a release that keeps of an item only what it knows itself: a fault, to be planted. */
export function forgetful(write: Write): Write {
  if (write.op !== 'update' || ADDED in write.set) return write;
  return { ...write, remove: [...(write.remove ?? []), ADDED] };
}

/** What is wrong with a change that a release made of an item. */
export function wrongChange(
  { reads }: Release,
  { key, op }: Write,
  was: Attributes | undefined,
  is: Attributes | undefined,
): string | undefined {
  if (was === undefined || op === 'check' || op === 'absent') return undefined;
  if (Number(was['format']) > reads) return `an older release wrote a ${key.kind} it cannot read`;
  // A ledger row that is over and a pointer are made anew, from what is stored elsewhere.
  const anew = op === 'create';
  const lost = !anew && is !== undefined && was[ADDED] !== undefined && is[ADDED] === undefined;
  return lost ? `an older release lost what a newer one wrote in a ${key.kind}` : undefined;
}
