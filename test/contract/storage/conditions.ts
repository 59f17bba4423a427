import { expect, test } from '@jest/globals';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { workflowOf } from '../../support/plans.ts';
import { createWorkflow, workflowKey, type UseBench } from './bench.ts';

type Update = Extract<Write, { op: 'update' }>;

const slot = (seq: number) =>
  ({ seq, basis: 0, status: 'done', by: 'dev:ana', at: '2026-03-01T09:00:00.000Z' }) as const;

/** Every operation with every condition it can have. */
export function conditionCases(use: UseBench): void {
  const update = (tenant: string, part: Partial<Update>): Write => ({
    op: 'update',
    key: workflowKey(tenant),
    expect: {},
    set: { version: 2 },
    ...part,
  });

  test('creates an item whose key is free, and gives it back', async () => {
    const { store, commit, tenant } = use();
    expect(await commit(createWorkflow({ tenant }))).toEqual({ ok: true });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([workflowOf({ tenant }).workflow]);
  });

  test('refuses to create an item that exists, and hands it over unchanged', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { version: 7 }));
    const result = await commit(createWorkflow({ tenant }, { version: 8 }));
    const item = { ...workflowOf({ tenant }).workflow, version: 7 };
    expect(result).toEqual({ ok: false, failed: [{ key: workflowKey(tenant), item }] });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([item]);
  });

  test('updates an item that is as expected', async () => {
    const { store, commit, tenant } = use();
    const { workflow } = workflowOf({ tenant });
    await commit(createWorkflow({ tenant }));
    const { version, head_seq, head_hash } = workflow;
    expect(await commit(update(tenant, { expect: { version, head_seq, head_hash } }))).toEqual({
      ok: true,
    });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([{ ...workflow, version: 2 }]);
  });

  test.each([
    ['another version', { version: 2 }],
    ['another head', { version: 1, head_seq: 2 }],
    ['another head hash', { version: 1, head_seq: 1, head_hash: 'f'.repeat(64) }],
    ['an attribute that is absent', { result: 'completed' }],
    ['an absent attribute to be null', { result: null }],
    ['a number as text', { version: '1' }],
    ['a map with another member', { holder: { subject: 'dev:ana', name: 'Bea' } }],
  ])('refuses an update that expects %s, and hands the item over', async (_what, expected) => {
    const { store, commit, tenant } = use();
    const { workflow } = workflowOf({ tenant });
    await commit(createWorkflow({ tenant }));
    expect(await commit(update(tenant, { expect: expected, set: { version: 9 } }))).toEqual({
      ok: false,
      failed: [{ key: workflowKey(tenant), item: workflow }],
    });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([workflow]);
  });

  test('compares maps by content, whatever the order of their members', async () => {
    const { commit, tenant } = use();
    await commit(createWorkflow({ tenant }));
    const holder = { name: 'Ana', subject: 'dev:ana' };
    expect(await commit(update(tenant, { expect: { holder } }))).toEqual({ ok: true });
  });

  test.each([
    ['that expects something', { version: 1 }],
    ['that expects nothing', {}],
  ])('refuses an update %s of an item that is missing, and creates none', async (_what, wanted) => {
    const { store, commit, tenant } = use();
    expect(await commit(update(tenant, { expect: wanted }))).toEqual({
      ok: false,
      failed: [{ key: workflowKey(tenant) }],
    });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('keeps attributes that it does not know through an update', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { later: { a: [1, null, 'x'] } }));
    await commit(update(tenant, {}));
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item).toMatchObject({ version: 2, later: { a: [1, null, 'x'] } });
  });

  test('replaces one slot and keeps the others', async () => {
    const { store, commit, tenant } = use();
    const steps = { one: slot(2), two: slot(3) };
    await commit(createWorkflow({ tenant }, { steps }));
    const put_in = { steps: { two: slot(4), three: slot(5) } };
    await commit(update(tenant, { put_in }));
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item?.steps).toEqual({ one: slot(2), two: slot(4), three: slot(5) });
    expect(item?.version).toBe(2);
  });

  test('replaces a member as a whole, not member by member', async () => {
    const { store, commit, tenant } = use();
    const steps = { one: { ...slot(2), value: 42 } };
    await commit(createWorkflow({ tenant }, { steps }));
    await commit(update(tenant, { put_in: { steps: { one: slot(3) } } }));
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item?.steps).toEqual({ one: slot(3) });
  });

  test('removes named attributes, also ones that are absent', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { result: 'completed' }));
    await commit(update(tenant, { remove: ['result', 'block'] }));
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item).toEqual({ ...workflowOf({ tenant }).workflow, version: 2 });
  });

  test.each([
    ['deletes an item that is as expected', { version: 1 }, true],
    ['deletes an item of which nothing is expected', {}, true],
    ['refuses to delete an item that is not as expected', { version: 2 }, false],
  ])('%s', async (_what, wanted, ok) => {
    const { store, commit, tenant } = use();
    const { workflow } = workflowOf({ tenant });
    await commit(createWorkflow({ tenant }));
    const key = workflowKey(tenant);
    const result = await commit({ op: 'delete', key, expect: wanted });
    expect(result).toEqual(ok ? { ok } : { ok, failed: [{ key, item: workflow }] });
    expect(await store.snapshot([key])).toEqual([ok ? undefined : workflow]);
  });

  test('deletes a missing item only where nothing is expected of it', async () => {
    const { commit, tenant } = use();
    const key = workflowKey(tenant);
    expect(await commit({ op: 'delete', key, expect: {} })).toEqual({ ok: true });
    expect(await commit({ op: 'delete', key, expect: { version: 1 } })).toEqual({
      ok: false,
      failed: [{ key }],
    });
  });

  test('creates an item again after it was deleted', async () => {
    const { store, commit, tenant } = use();
    const key = workflowKey(tenant);
    await commit(createWorkflow({ tenant }, { later: 1 }));
    await commit({ op: 'delete', key, expect: {} });
    expect(await commit(createWorkflow({ tenant }))).toEqual({ ok: true });
    expect(await store.snapshot([key])).toEqual([workflowOf({ tenant }).workflow]);
  });

  test.each([
    ['holds for an item as expected', { version: 1 }, true],
    ['holds for an item of which nothing is expected', {}, true],
    ['fails for an item that is not as expected', { version: 3 }, false],
  ])('a check %s, and writes nothing', async (_what, wanted, ok) => {
    const { store, commit, tenant } = use();
    const { workflow } = workflowOf({ tenant });
    await commit(createWorkflow({ tenant }));
    const key = workflowKey(tenant);
    const result = await commit({ op: 'check', key, expect: wanted });
    expect(result).toEqual(ok ? { ok } : { ok, failed: [{ key, item: workflow }] });
    expect(await store.snapshot([key])).toEqual([workflow]);
  });

  test('a check fails for a missing item, even where nothing is expected of it', async () => {
    const { commit, tenant } = use();
    const key = workflowKey(tenant);
    expect(await commit({ op: 'check', key, expect: {} })).toEqual({
      ok: false,
      failed: [{ key }],
    });
  });
}
