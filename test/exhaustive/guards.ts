// The guards of a transaction by name, and the same transaction without one of them.
import type { Transaction, Write } from '../../lib/core/ports/storage.ts';

/** The names of all guards of a transaction. */
export function guardsOf({ writes, lease }: Transaction): readonly string[] {
  const named = writes.flatMap((write) => nameOf(write) ?? []);
  return lease === undefined ? named : [...named, 'lease'];
}

/** What stands for a place in a chain: every change that is business appends an event there. */
const NEXT_EVENT = 'event is not there yet';

/** Guards in whose place others stand as well; they are taken away together with those. */
export const COVERED: { readonly [guard: string]: readonly string[] } = {
  'workflow is not there yet': [NEXT_EVENT],
  // A run begins with an event and with the row that starts its work.
  'run is not there yet': [NEXT_EVENT, 'outbox is not there yet'],
  'update workflow at its head_hash, head_seq, version': [NEXT_EVENT],
  'update run at its head_hash, head_seq, version': [NEXT_EVENT],
};

/** The transaction without the guards of some names. */
export function without(...guards: readonly string[]): (transaction: Transaction) => Transaction {
  const gone = new Set(guards);
  return ({ writes, lease }) => ({
    writes: writes.flatMap((write) => (gone.has(nameOf(write) ?? '') ? bare(write) : [write])),
    ...(lease !== undefined && !gone.has('lease') && { lease }),
  });
}

function nameOf(write: Write): string | undefined {
  const { kind } = write.key;
  if (write.op === 'create') return write.replace === true ? undefined : `${kind} is not there yet`;
  if (write.op === 'absent') return `${kind} is absent`;
  const names = Object.keys(write.expect).toSorted();
  return names.length === 0 ? undefined : `${write.op} ${kind} at its ${names.join(', ')}`;
}

function bare(write: Write): readonly Write[] {
  if (write.op === 'create') return [{ ...write, replace: true }];
  if (write.op === 'update' || write.op === 'delete') return [{ ...write, expect: {} }];
  return [];
}
