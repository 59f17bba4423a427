import { expect, test } from '@jest/globals';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { lockOf } from '../../support/plans.ts';
import { create, createWorkflow, lockKey, type Bench, type UseBench } from './bench.ts';

/** What an overview of a store is made of: tenants, held locks, counts, outbox rows. */
export function overviewCases(use: UseBench): void {
  const lock = ({ tenant }: Bench, asset: string, since: string, held = true): Write => {
    const full = { ...lockOf({ tenant, asset }), since: `2026-03-01T09:00:${since}.000Z` };
    const { format, fence } = full;
    return create(lockKey(tenant, asset), held ? full : { format, tenant, asset, fence, held });
  };
  const lockPages = async ({ store, tenant }: Bench, limit: number): Promise<string[][]> => {
    const found: string[][] = [];
    let after: string | undefined;
    do {
      const page = await store.listLocks(tenant, { limit, ...(after !== undefined && { after }) });
      found.push(page.items.map(({ asset }) => asset));
      after = page.next;
    } while (after !== undefined);
    return found;
  };

  test('held locks are listed oldest first, and of one time by asset, each exactly once', async () => {
    const bench = use();
    await bench.commit(
      lock(bench, 'D', '01'),
      lock(bench, 'A', '03'),
      lock(bench, 'C', '02'),
      lock(bench, 'B', '02'),
      lock(bench, 'E', '04'),
    );
    expect(await lockPages(bench, 2)).toEqual([['D', 'B'], ['C', 'A'], ['E']]);
  });

  test('a lock that is free is not listed, and one that is released leaves the list', async () => {
    const bench = use();
    const { store, tenant } = bench;
    await bench.commit(lock(bench, 'A', '01', false), lock(bench, 'B', '02'));
    expect(await lockPages(bench, 10)).toEqual([['B']]);
    const [held] = (await store.listLocks(tenant, { limit: 1 })).items;
    expect(held).toEqual({ ...lockOf({ tenant, asset: 'B' }), since: '2026-03-01T09:00:02.000Z' });
    await bench.commit({
      op: 'update',
      key: lockKey(tenant, 'B'),
      expect: { held: true },
      set: { held: false },
      remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
    });
    expect(await store.listLocks(tenant, { limit: 1 })).toEqual({ items: [] });
  });

  test('a cursor of the locks of one tenant is refused elsewhere', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    await bench.commit(lock(bench, 'A', '01'), lock(bench, 'B', '02'));
    const { next = '' } = await store.listLocks(tenant, { limit: 1 });
    expect(next).not.toBe('');
    const refused = { name: 'InputError', faults: [{ path: '/cursor' }] };
    const at = { limit: 1, after: next };
    await expect(store.listLocks(otherTenant, at)).rejects.toMatchObject(refused);
    await expect(store.listTenants(at)).rejects.toMatchObject(refused);
    await expect(store.listLocks(tenant, { limit: 1, after: '!' })).rejects.toMatchObject(refused);
  });

  test('every tenant with a workflow is listed exactly once, whatever it has', async () => {
    const { store, clock, tenant, otherTenant, commit } = use();
    const ids = ['w1', 'w2', 'w3'];
    await commit(...ids.map((id) => createWorkflow({ tenant, id }, { state: 'COMPLETED' })));
    const writes = [createWorkflow({ tenant: otherTenant })];
    await store.commit({ writes }, clock.now() + 10_000);
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.listTenants({ limit: 1, ...(after !== undefined && { after }) });
      expect(page.items.length).toBeLessThanOrEqual(1);
      found.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    // A shared store may hold tenants of other tests.
    const mine = found.filter((name) => [tenant, otherTenant].includes(name));
    expect(mine.toSorted()).toEqual([tenant, otherTenant].toSorted());
  });

  test('workflows are counted by state, up to as many as asked for', async () => {
    const { store, tenant, commit } = use();
    const states: Workflow['state'][] = ['CREATED', 'BLOCKED', 'BLOCKED', 'BLOCKED', 'COMPLETED'];
    await commit(...states.map((state, i) => createWorkflow({ tenant, id: `w${i}` }, { state })));
    const count = (state: Workflow['state'], most: number) =>
      store.countWorkflows(tenant, state, most);
    expect(await count('BLOCKED', 10_000)).toBe(3);
    expect(await count('BLOCKED', 3)).toBe(3);
    expect(await count('BLOCKED', 2)).toBe(2);
    expect(await count('RUNNING', 1)).toBe(0);
  });

  test('outbox rows of a tenant are listed by due time, and at most as many as asked for', async () => {
    const { store, tenant, commit } = use();
    const places = [
      ['w1', 1, 3_000],
      ['w2', 1, 1_000],
      ['w1', 2, 2_000],
      ['w3', 1, 10_000],
    ] as const;
    await commit(
      ...places.map(([workflow, seq, due_at]): Write => {
        const key = { kind: 'outbox', tenant, workflow, lane: 'l', seq } as const;
        const rest = { id: `${workflow}${seq}`, payload: {}, rev: 0, attempts: 0, due_at };
        return create(key, { format: 1, tenant, workflow, lane: 'l', seq, ...rest });
      }),
    );
    const list = async (limit: number) =>
      (await store.listTenantOutbox(tenant, limit)).map(
        ({ workflow, seq }) => `${workflow} ${seq}`,
      );
    expect(await list(10)).toEqual(['w2 1', 'w1 2', 'w1 1', 'w3 1']);
    expect(await list(2)).toEqual(['w2 1', 'w1 2']);
  });

  test.each([0, -1, 1.5, 101, Number.NaN])('a page of %d rows is refused', async (limit) => {
    const { store, tenant } = use();
    const refused = { name: 'InputError', faults: [{ path: '/limit' }] };
    await expect(store.listLocks(tenant, { limit })).rejects.toMatchObject(refused);
    await expect(store.listTenants({ limit })).rejects.toMatchObject(refused);
    await expect(store.listTenantOutbox(tenant, limit)).rejects.toMatchObject(refused);
    const count = store.countWorkflows(tenant, 'CREATED', limit === 101 ? 10_001 : limit);
    await expect(count).rejects.toMatchObject(refused);
  });
}
