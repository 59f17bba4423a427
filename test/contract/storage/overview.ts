import { expect, test } from '@jest/globals';
import { runIdFrom } from '../../../lib/core/model/aggregate.ts';
import type { Proposal, RunState } from '../../../lib/core/model/run.ts';
import type { Block, Workflow } from '../../../lib/core/model/workflow.ts';
import { overviewOf } from '../../../lib/core/overview.ts';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { START_MS } from '../../support/harness.ts';
import { lockOf } from '../../support/plans.ts';
import { PROPOSAL, runOf, runWorld } from '../../support/runs.ts';
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

  test('runs are counted by state in the same way, apart from workflows', async () => {
    const { store, tenant, otherTenant, commit } = use();
    const states: RunState[] = ['created', 'failed', 'failed', 'awaiting_approval'];
    await commit(
      ...states.map((state, i) => {
        const run = runOf(tenant, { id: runIdFrom(String(i)), state });
        return create({ kind: 'run', tenant, id: run.id }, run);
      }),
    );
    const count = (state: RunState, most: number) => store.countRuns(tenant, state, most);
    expect(await count('failed', 10_000)).toBe(2);
    expect(await count('failed', 1)).toBe(1);
    expect(await count('awaiting_approval', 10)).toBe(1);
    expect(await count('completed', 10)).toBe(0);
    expect(await store.countRuns(otherTenant, 'failed', 10)).toBe(0);
    expect(await store.countWorkflows(tenant, 'CREATED', 10)).toBe(0);
  });

  test('an overview has runs by state, and what waits for a decision with the earliest end first', async () => {
    const bench = use();
    const { store, clock, tenant, commit } = bench;
    const { proposed, created } = runWorld(store, clock, tenant);
    const ends = (ms: number): Proposal => {
      const expires_at = new Date(START_MS + ms).toISOString();
      return { ...PROPOSAL, action: { ...PROPOSAL.action, expires_at } };
    };
    const block = {
      seq: 2,
      reason: 'deviation',
      at: new Date(START_MS).toISOString(),
      message: 'm',
    };
    await created('one');
    const run = await proposed('two');
    await proposed('three');
    await commit(
      createWorkflow(
        { tenant, id: 'w1', asset: 'A' },
        { state: 'BLOCKED', block: { ...block, proposal: ends(1_000) } as Block },
      ),
      createWorkflow({ tenant, id: 'w2', asset: 'B' }, { state: 'BLOCKED', block: block as Block }),
    );
    const one = await overviewOf(store, tenant, 2, clock.now());
    expect(one.runs).toMatchObject({ created: 1, gathering: 0, awaiting_approval: 2, failed: 0 });
    expect(one.undecided.more).toBe(true);
    expect(one.undecided.items.map(({ about }) => about)).toEqual(['A', 'checkout']);
    const all = await overviewOf(store, tenant, 9, clock.now());
    expect(all.undecided.more).toBe(false);
    expect(all.undecided.items).toHaveLength(3);
    expect(all.undecided.items).toContainEqual({
      kind: 'run',
      id: run.id,
      about: 'checkout',
      expires_at: run.proposal?.action.expires_at,
    });
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
    const runs = store.countRuns(tenant, 'created', limit === 101 ? 10_001 : limit);
    await expect(runs).rejects.toMatchObject(refused);
  });
}
