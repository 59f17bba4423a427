import { describe, expect, it } from '@jest/globals';
import { checkSnapshot, checkTransaction } from '../../lib/core/check-transaction.ts';
import { Fault } from '../../lib/core/fault.ts';
import { itemBytes, storedBytes } from '../../lib/core/keys.ts';
import type { ItemKey, Write } from '../../lib/core/ports/storage.ts';
import { lockOf } from '../support/plans.ts';

const tenant = 'acme';
const keyOf = (asset: string): ItemKey => ({ kind: 'lock', tenant, asset });
const create = (asset: string, more: object = {}): Write => ({
  op: 'create',
  key: keyOf(asset),
  item: { ...lockOf({ tenant, asset }), ...more },
});
const update = (asset: string, change: object): Write => ({
  op: 'update',
  key: keyOf(asset),
  expect: {},
  set: {},
  ...change,
});
const check = (asset: string): Write => ({ op: 'check', key: keyOf(asset), expect: { fence: 1 } });
const several = <T>(n: number, make: (asset: string) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(`A-${i}`));

const answer = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [error.kind, error.code, error.message];
  }
};
const refused = (what: string) => ['terminal', 'PLAN_REFUSED', `plan refused: ${what}`];

/** A text that makes what it is built into exactly as long as wanted. */
const filling = (wanted: number, bytesWith: (fill: string) => number): string =>
  'x'.repeat(wanted - bytesWith(''));
const createdBytes = (asset: string) => (fill: string) =>
  storedBytes(keyOf(asset), { ...lockOf({ tenant, asset }), fill });
const changedBytes = (asset: string) => (fill: string) =>
  itemBytes(update(asset, { set: { fill } }));

describe('a transaction', () => {
  it('has one item at least and a hundred at most', () => {
    expect(answer(() => checkTransaction([]))).toEqual(refused('0 items in one transaction'));
    expect(answer(() => checkTransaction(several(100, check)))).toBe(0);
    expect(answer(() => checkTransaction(several(101, check)))).toEqual(
      refused('101 items in one transaction'),
    );
  });

  it('is answered with the bytes of what it creates, changes apart', () => {
    const [one, two] = [create('A-1'), create('A-2')];
    const bytes = createdBytes('A-1')('') - 'fill'.length - 1;
    expect(checkTransaction([one])).toBe(bytes);
    expect(checkTransaction([one, two, update('A-3', { set: { fence: 2 } })])).toBe(2 * bytes);
  });

  it('has items of at most 409,600 bytes, created or changed', () => {
    const created = filling(409_600, createdBytes('A-1'));
    expect(answer(() => checkTransaction([create('A-1', { fill: created })]))).toBe(409_600);
    expect(answer(() => checkTransaction([create('A-1', { fill: `${created}x` })]))).toEqual(
      refused('a lock of 409601 bytes'),
    );
    const changed = filling(409_600, changedBytes('A-1'));
    expect(answer(() => checkTransaction([update('A-1', { set: { fill: changed } })]))).toBe(0);
    expect(
      answer(() => checkTransaction([update('A-1', { set: { fill: `${changed}x` } })])),
    ).toEqual(refused('a lock of 409601 bytes'));
  });

  it('has at most 4,194,304 bytes in all, created and changed together', () => {
    const created = several(5, (asset) =>
      create(asset, { fill: filling(400_000, createdBytes(asset)) }),
    );
    const changed = (last: string): Write[] => [
      ...['B-0', 'B-1', 'B-2', 'B-3', 'B-4'].map((asset) =>
        update(asset, { set: { fill: filling(400_000, changedBytes(asset)) } }),
      ),
      update('B-5', { set: { fill: last } }),
    ];
    const rest = filling(194_304, changedBytes('B-5'));
    expect(answer(() => checkTransaction([...created, ...changed(rest)]))).toBe(2_000_000);
    expect(answer(() => checkTransaction([...created, ...changed(`${rest}x`)]))).toEqual(
      refused('a transaction of 4194305 bytes'),
    );
  });

  const deep = (levels: number): unknown => (levels === 0 ? 0 : { a: deep(levels - 1) });
  const other: Write = { ...create('A-2'), key: { kind: 'lock', tenant: 'other', asset: 'A-2' } };
  it.each([
    ['two writes of one item', [create('A-1'), check('A-1')], 'the plan names one lock twice'],
    ['items of two tenants', [create('A-1'), other], 'items of two tenants'],
    ['a key that is too long', [check('x'.repeat(2_048))], 'a lock key of 2057 bytes'],
    ['a key that is no text', [check('\uD800')], 'a lock key with half of a character pair'],
    [
      'an item that is no JSON',
      [create('A-1', { at: new Date(0) })],
      'a lock with only plain objects and arrays have a JSON form',
    ],
    [
      'a change that is no JSON',
      [update('A-1', { set: { fence: Number.NaN } })],
      'a lock with the number is not finite',
    ],
    [
      'a number that would be kept as zero',
      [create('A-1', { last: [0, null, 'text', { n: 0.99e-130 }] })],
      'a lock with a number too small to be kept',
    ],
    [
      'a negative number that would be kept as zero',
      [update('A-1', { set: { n: -0.99e-130 } })],
      'a lock with a number too small to be kept',
    ],
    [
      'an item under another key',
      [{ ...create('A-1'), key: keyOf('A-2') }],
      'a lock under a key that is not its own',
    ],
    [
      'a change of an attribute of the key',
      [update('A-1', { set: { fence: 2, asset: 'A-2' } })],
      'a change of the key attribute lock.asset',
    ],
    [
      'a member put into an attribute of the key',
      [update('A-1', { put_in: { tenant: { a: 1 } } })],
      'a change of the key attribute lock.tenant',
    ],
    [
      'the removal of an attribute of the key',
      [update('A-1', { remove: ['asset'] })],
      'a change of the key attribute lock.asset',
    ],
    [
      'setting and removing one attribute',
      [update('A-1', { set: { name: 'Ana' }, remove: ['name'] })],
      'two changes of one attribute of a lock',
    ],
    [
      'setting an attribute and putting into it',
      [update('A-1', { set: { last: {} }, put_in: { last: { a: 1 } } })],
      'two changes of one attribute of a lock',
    ],
  ] as [string, Write[], string][])('with %s is refused', (_name, writes, what) => {
    expect(answer(() => checkTransaction(writes))).toEqual(refused(what));
  });

  it.each([
    ['the smallest number', [create('A-1', { n: 1e-130, m: -1e-130, zero: 0, none: null })]],
    ['an item as deep as JSON may be', [create('A-1', { a: deep(31) })]],
    [
      'a key attribute’s name inside an attribute',
      [update('A-1', { put_in: { a: { asset: 1 } } })],
    ],
    ['changes of several attributes', [update('A-1', { set: { a: 1 }, remove: ['b'] })]],
    ['a deletion', [{ op: 'delete', key: keyOf('A-1'), expect: { fence: 1 } }]],
  ] as [string, Write[]][])('with %s is taken', (_name, writes) => {
    expect(answer(() => checkTransaction(writes))).toEqual(expect.any(Number));
  });

  it('passes on an error that says nothing about the content', () => {
    const broken = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new RangeError('not about JSON');
      },
    });
    expect(() => checkTransaction([update('A-1', { set: broken })])).toThrow(RangeError);
  });
});

describe('a snapshot', () => {
  it('reads a hundred items at most, none twice', () => {
    expect(answer(() => checkSnapshot(several(100, keyOf)))).toBeUndefined();
    expect(answer(() => checkSnapshot(several(101, keyOf)))).toEqual(
      refused('101 items in one snapshot'),
    );
    expect(answer(() => checkSnapshot([keyOf('A-1'), keyOf('A-1')]))).toEqual(
      refused('the plan names one lock twice'),
    );
  });
});
