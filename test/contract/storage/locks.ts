import { expect, test } from '@jest/globals';
import type { Lock } from '../../../lib/core/model/workflow.ts';
import { applyChange, compilePlan, type LockPlan } from '../../../lib/core/plan.ts';
import { endPlan, lockOf, startPlan, workflowOf } from '../../support/plans.ts';
import { lockKey, type Bench, type UseBench } from './bench.ts';

/** Locks with their fences, by compiled plans. */
export function lockCases(use: UseBench): void {
  /** Commits another workflow's start that holds only this change of the lock. */
  const withLock = async ({ store, clock, tenant }: Bench, id: string, lock: LockPlan) => {
    const plan = startPlan({ tenant, id }, { locks: [lock] });
    return store.commit(compilePlan(plan), clock.now() + 10_000);
  };

  const started = async (bench: Bench): Promise<Lock> => {
    const { tenant } = bench;
    await withLock(bench, 'w1', { op: 'take', lock: lockOf({ tenant }), freeAt: undefined });
    return lockOf({ tenant });
  };

  const ended = async ({ store, clock, tenant }: Bench) => {
    const { workflow } = workflowOf({ tenant });
    await store.commit(compilePlan(endPlan(workflow)), clock.now() + 10_000);
  };

  const next = (tenant: string, fence: number): Lock => ({
    ...lockOf({ tenant, id: 'w2', subject: 'dev:bea' }),
    fence,
  });

  test('a lock is taken once, and the second taker is handed the holder', async () => {
    const bench = use();
    const held = await started(bench);
    const lock = next(bench.tenant, 1);
    const result = await withLock(bench, 'w2', { op: 'take', lock, freeAt: undefined });
    expect(result).toEqual({ ok: false, failed: [{ key: lockKey(bench.tenant), item: held }] });
  });

  test('a released lock keeps its fence and names nobody', async () => {
    const bench = use();
    await started(bench);
    await ended(bench);
    expect(await bench.store.snapshot([lockKey(bench.tenant)])).toEqual([
      { format: 1, tenant: bench.tenant, asset: 'A-1', fence: 1, held: false },
    ]);
  });

  test('a released lock is taken again with the next fence', async () => {
    const bench = use();
    await started(bench);
    await ended(bench);
    const lock = next(bench.tenant, 2);
    const result = await withLock(bench, 'w2', { op: 'take', lock, freeAt: 1 });
    expect(result).toEqual({ ok: true });
    expect(await bench.store.snapshot([lockKey(bench.tenant)])).toEqual([lock]);
  });

  test.each<readonly [string, (tenant: string) => LockPlan]>([
    ['a take', (tenant) => ({ op: 'take', lock: next(tenant, 2), freeAt: 1 })],
    ['a release', () => ({ op: 'release', asset: 'A-1', workflow: 'w2', fence: 1 })],
    [
      'a hand-over',
      () => ({
        op: 'hand_over',
        asset: 'A-1',
        workflow: 'w2',
        fence: 1,
        subject: 'dev:bea',
        name: 'Bea',
      }),
    ],
  ])('%s that relies on an old fence changes nothing', async (_what, plan) => {
    const bench = use();
    await started(bench);
    await ended(bench);
    const taken = next(bench.tenant, 2);
    await withLock(bench, 'w2', { op: 'take', lock: taken, freeAt: 1 });
    const result = await withLock(bench, 'w3', plan(bench.tenant));
    expect(result).toEqual({ ok: false, failed: [{ key: lockKey(bench.tenant), item: taken }] });
    expect(await bench.store.snapshot([lockKey(bench.tenant)])).toEqual([taken]);
  });

  test('what a lock remembers survives being taken, handed over and released without values', async () => {
    const bench = use();
    const { tenant, store } = bench;
    await started(bench);
    const last = { procedure: 'short', version: 1, at: 'then', values: { done: true } };
    const release = { op: 'release', asset: 'A-1', workflow: 'w1', fence: 1 } as const;
    const free = { format: 1, tenant, asset: 'A-1', fence: 1, held: false, last };
    await withLock(bench, 'w3', { ...release, last });
    expect(await store.snapshot([lockKey(tenant)])).toEqual([free]);
    const lock = next(tenant, 2);
    await withLock(bench, 'w2', { op: 'take', lock, freeAt: 1 });
    expect(await store.snapshot([lockKey(tenant)])).toEqual([{ ...lock, last }]);
    const to = { subject: 'dev:cy', name: 'Cy' };
    const given = { op: 'hand_over', asset: 'A-1', workflow: 'w2', fence: 2, ...to } as const;
    await withLock(bench, 'w4', given);
    expect(await store.snapshot([lockKey(tenant)])).toEqual([{ ...lock, ...to, last }]);
    await withLock(bench, 'w5', { ...release, workflow: 'w2', fence: 2 });
    expect(await store.snapshot([lockKey(tenant)])).toEqual([{ ...free, fence: 2 }]);
  });

  test('a release by a workflow that does not hold the lock changes nothing', async () => {
    const bench = use();
    const held = await started(bench);
    const release = { op: 'release', asset: 'A-1', workflow: 'w2', fence: 1 } as const;
    const result = await withLock(bench, 'w2', release);
    expect(result).toEqual({ ok: false, failed: [{ key: lockKey(bench.tenant), item: held }] });
  });

  test('a hand-over changes the holder and keeps workflow and fence', async () => {
    const bench = use();
    const held = await started(bench);
    const to = { subject: 'dev:bea', name: 'Bea' };
    const plan = { op: 'hand_over', asset: 'A-1', workflow: 'w1', fence: 1, ...to } as const;
    expect(await withLock(bench, 'w2', plan)).toEqual({ ok: true });
    expect(await bench.store.snapshot([lockKey(bench.tenant)])).toEqual([{ ...held, ...to }]);
  });

  test('an end does not fail for a pointer that is missing', async () => {
    const bench = use();
    const { tenant, store, clock } = bench;
    const { workflow } = workflowOf({ tenant });
    const start = compilePlan(startPlan({ tenant }, { pointers: [] }));
    await store.commit(start, clock.now() + 10_000);
    const plan = endPlan(workflow);
    expect(await store.commit(compilePlan(plan), clock.now() + 10_000)).toEqual({ ok: true });
    const change = plan.aggregate.op === 'update' ? plan.aggregate.change : { set: {} };
    const [now] = await store.snapshot([{ kind: 'workflow', tenant, id: 'w1' }]);
    expect(now).toEqual(applyChange(workflow, change));
  });

  test('a start does not fail for a pointer that was left behind, and writes it anew', async () => {
    const bench = use();
    const { tenant, store, clock } = bench;
    const plan = compilePlan(startPlan({ tenant }));
    const pointer = plan.writes.find(({ key }) => key.kind === 'pointer');
    if (pointer?.op !== 'create') throw new Error('a start writes a pointer');
    const stale = { ...pointer.item, since: '2020-01-01T00:00:00.000Z' };
    const { replace: _replace, ...create } = { ...pointer, item: stale };
    await store.commit({ writes: [create] }, clock.now() + 10_000);
    expect(await store.commit(plan, clock.now() + 10_000)).toEqual({ ok: true });
    expect(await store.snapshot([pointer.key])).toEqual([pointer.item]);
  });
}
