import { expect, test } from '@jest/globals';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { createWorkflow, faultOf, workflowKey, type UseBench } from './bench.ts';

const update = (tenant: string, part: object): Write => ({
  op: 'update',
  key: workflowKey(tenant, 'w2'),
  expect: {},
  set: {},
  ...part,
});

const ring: Record<string, unknown> = {};
ring['ring'] = ring;

/** Transactions that no backend takes, whoever made them; nothing of them is written. */
export function refusalCases(use: UseBench): void {
  test.each<readonly [string, (tenant: string) => readonly Write[]]>([
    [
      'two creates of one item',
      (tenant) => [createWorkflow({ tenant, id: 'w3' }), createWorkflow({ tenant, id: 'w3' })],
    ],
    [
      'a check and an update of one item',
      (tenant) => [
        { op: 'check', key: workflowKey(tenant, 'w2'), expect: {} },
        update(tenant, { set: { version: 2 } }),
      ],
    ],
    [
      'two checks of one item',
      (tenant) => [
        { op: 'check', key: workflowKey(tenant, 'w2'), expect: {} },
        { op: 'check', key: workflowKey(tenant, 'w2'), expect: { version: 1 } },
      ],
    ],
    [
      'a set and a remove of one attribute',
      (tenant) => [update(tenant, { set: { result: 'completed' }, remove: ['result'] })],
    ],
    [
      'a set and a member of one attribute',
      (tenant) => [update(tenant, { set: { steps: {} }, put_in: { steps: { one: 1 } } })],
    ],
    ['two removes of one attribute', (tenant) => [update(tenant, { remove: ['block', 'block'] })]],
    ['a change of the tenant', (tenant) => [update(tenant, { set: { tenant: 'other' } })]],
    ['a removal of the id', (tenant) => [update(tenant, { remove: ['id'] })]],
    [
      'a member of an attribute that is not a map',
      (tenant) => [update(tenant, { put_in: { version: { a: 1 } } })],
    ],
    [
      'a member of an attribute that is absent',
      (tenant) => [update(tenant, { put_in: { none: { a: 1 } } })],
    ],
    [
      'a key with half of a character pair',
      (tenant) => [{ ...createWorkflow({ tenant }), key: workflowKey(tenant, '\ud800') }],
    ],
    [
      'text with half of a character pair',
      (tenant) => [update(tenant, { set: { asset: 'a\udfff' } })],
    ],
    ['a number that is not finite', (tenant) => [update(tenant, { set: { n: Number.NaN } })]],
    ['an infinite number', (tenant) => [update(tenant, { set: { n: Number.POSITIVE_INFINITY } })]],
    [
      'an integer that is not exact',
      (tenant) => [update(tenant, { set: { n: 9_007_199_254_740_992 } })],
    ],
    ['a number above all', (tenant) => [update(tenant, { set: { n: 1e126 } })]],
    [
      'a number too close to zero',
      (tenant) => [update(tenant, { set: { n: [{ deep: 1e-131 }] } })],
    ],
    ['a date', (tenant) => [update(tenant, { set: { n: new Date(0) } })]],
    [
      'a list with a hole',
      (tenant) => [update(tenant, { set: { n: Array.from({ length: 2 }).fill(undefined) } })],
    ],
    ['a value that contains itself', (tenant) => [update(tenant, { set: { ring } })]],
  ])('%s', async (_what, writes) => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant, id: 'w2' }));
    const before = await store.snapshot([workflowKey(tenant, 'w2')]);
    const fault = await faultOf(commit(createWorkflow({ tenant, id: 'w1' }), ...writes(tenant)));
    expect(fault).toMatchObject({ kind: 'terminal', code: 'PLAN_REFUSED' });
    expect(await store.snapshot([workflowKey(tenant, 'w1')])).toEqual([undefined]);
    expect(await store.snapshot([workflowKey(tenant, 'w2')])).toEqual(before);
  });
}
