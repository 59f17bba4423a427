// The checker of histories finds each kind of history that cannot have happened, and no other.
import { describe, expect, test } from '@jest/globals';
import { asset, type Ask, type Told } from '../support/history/asset.ts';
import type { Operation } from '../support/history/history.ts';
import { Deliveries, doubled } from '../support/history/deliveries.ts';
import { faultsOf } from '../support/history/judge.ts';
import { linearizable } from '../support/history/linearizable.ts';

type Op = Operation<Ask, Told>;

/** A call that began and ended at these moments; no end is no answer. */
function op(
  client: string,
  what: Ask['do'],
  key: string,
  [invoked, returned]: readonly [number, number?],
  told?: string,
  more: Partial<Ask> = {},
): Op {
  const ask: Ask = {
    asset: 'U-1',
    do: what,
    key,
    ...(what !== 'start' && { workflow: 'w1' }),
    ...(what === 'record' && { step: 'ready', value: true }),
    ...more,
  };
  const at = { client, ask, invoked };
  if (returned === undefined || told === undefined) {
    return { ...at, returned: Number.POSITIVE_INFINITY, end: 'unknown' };
  }
  const [code = '', seq, again, workflow = 'w1'] = told.split(' ');
  if (code !== 'OK') return { ...at, returned, end: 'fail', told: { code } };
  const receipt = { duplicate: again === 'again', workflow, seq: Number(seq) };
  return { ...at, returned, end: 'ok', told: { code, ...receipt } };
}

const judged = (...operations: readonly Op[]): boolean =>
  linearizable(operations, asset).linearizable;

describe('a history that can have happened', () => {
  test.each<[string, readonly Op[]]>([
    [
      'one after the other',
      [op('ana', 'start', 'a', [0, 1], 'OK 1'), op('ana', 'record', 'b', [2, 3], 'OK 2')],
    ],
    [
      'two at once, of which the later one was first',
      [op('ana', 'start', 'a', [0, 3], 'ASSET_BUSY'), op('ben', 'start', 'a', [1, 2], 'OK 1')],
    ],
    [
      'a call without an answer that took effect after the next one was refused',
      [
        op('ana', 'start', 'a', [0]),
        op('ben', 'start', 'b', [1, 2], 'OK 1'),
        op('ben', 'end', 'c', [3, 4], 'OK 2'),
        op('ana', 'start', 'a', [5, 6], 'OK 1 again w2'),
      ],
    ],
    [
      'a repeat that overlaps the first delivery',
      [op('ana', 'start', 'a', [0, 3], 'OK 1 again'), op('ana', 'start', 'a', [1, 2], 'OK 1')],
    ],
    ['a call that was never answered and never happened', [op('ana', 'start', 'a', [0])]],
  ])('%s is accepted', (_, operations) => {
    expect(judged(...operations)).toBe(true);
  });
});

describe('a history that cannot have happened', () => {
  const started = op('ana', 'start', 'a', [0, 1], 'OK 1');
  test.each<[string, readonly Op[]]>([
    ['two who hold one asset', [started, op('ben', 'start', 'b', [2, 3], 'OK 1 first w2')]],
    ['a key with two receipts', [started, op('ana', 'start', 'a', [2, 3], 'OK 2 again')]],
    ['a second effect of one key', [started, op('ana', 'start', 'a', [2, 3], 'OK 1 first w2')]],
    ['a refusal after the effect', [started, op('ana', 'start', 'a', [2, 3], 'ASSET_BUSY')]],
    ['a refusal of what was free', [op('ana', 'start', 'a', [0, 1], 'ASSET_BUSY')]],
    ['a first answer called a repeat', [op('ana', 'start', 'a', [0, 1], 'OK 1 again')]],
    [
      'an effect before the call that it follows',
      [op('ana', 'record', 'b', [0, 1], 'OK 2'), op('ana', 'start', 'a', [2, 3], 'OK 1')],
    ],
    ['a sequence that was left out', [started, op('ana', 'record', 'b', [2, 3], 'OK 3')]],
    [
      'a change of what was recorded',
      [
        started,
        op('ana', 'record', 'b', [2, 3], 'OK 2'),
        op('ana', 'record', 'c', [4, 5], 'OK 3', { value: false }),
      ],
    ],
    ['somebody else who ends the work', [started, op('ben', 'end', 'c', [2, 3], 'OK 2')]],
  ])('%s is found', (_, operations) => {
    expect(judged(...operations)).toBe(false);
  });

  test('an effect that somebody was told of and no trail has is found', () => {
    expect(faultsOf([started], [{ workflow: 'w1', events: 0 }])).toEqual(['w1 has no event 1']);
  });

  test('an event that nobody asked for is found', () => {
    expect(faultsOf([started], [{ workflow: 'w1', events: 2 }])).toEqual([
      'w1 has 2 events, and 1 commands were sent',
    ]);
  });
});

describe('the history of a target', () => {
  test('holds where everything is told under one id, answered or not', async () => {
    const history = new Deliveries();
    await history.arrived('one', { of: 'w1 3', id: 'a' }, false);
    await history.arrived('two', { of: 'w1 3', id: 'a' }, true);
    await history.arrived('two', { of: 'w1 4', id: 'b' }, true);
    expect(doubled(history.operations)).toEqual([]);
  });

  test('does not hold where something is told under two', async () => {
    const history = new Deliveries();
    await history.arrived('one', { of: 'w1 3', id: 'a' }, true);
    await history.arrived('two', { of: 'w1 3', id: 'b' }, true);
    expect(doubled(history.operations)).toEqual(['w1 3']);
  });
});
