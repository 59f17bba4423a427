// Bugs that are planted around the product, each with the invariant that it breaks.
import type { Transaction, Write } from '../../../lib/core/ports/storage.ts';
import type { Plant } from '../world/world.ts';

const without = (drop: (write: Write) => boolean): Plant => ({
  transaction: (transaction: Transaction): Transaction => {
    const writes = transaction.writes.filter((write) => !drop(write));
    return writes.length === 0 ? transaction : { ...transaction, writes };
  },
});

/** Each bug by what it is. */
export const BUGS: readonly (readonly [string, string, Plant])[] = [
  [
    'a state that ends without giving its lock back',
    'I1',
    without(({ op, key }) => op === 'update' && key.kind === 'lock'),
  ],
  [
    'a lock that is released without the state',
    'I1',
    without(
      (write) =>
        write.op === 'update' &&
        write.key.kind === 'workflow' &&
        write.set['state'] === 'COMPLETED',
    ),
  ],
  ['a command whose ledger row is not written', 'I2', without(({ key }) => key.kind === 'ledger')],
  ['a row that leaves although its sink refused it', 'I3', { believesSink: true }],
  [
    'an event that is not written with its state',
    'I4',
    without(({ op, key }) => op === 'create' && key.kind === 'event' && key.seq % 2 === 0),
  ],
];
