import { expect, test } from '@jest/globals';
import { makeService, principal } from '../../support/harness.ts';
import { startTransaction } from '../../support/plans.ts';
import { noting } from '../../support/store-hooks.ts';
import { faultOf, workflowKey, type UseBench } from './bench.ts';

const start = { type: 'start_workflow', procedure: 'short', asset: 'A-1' } as const;

/** Nothing is sent after a deadline; and the store says whether it can be used. */
export function deadlineCases(use: UseBench): void {
  test.each([
    ['is now', 0],
    ['was a millisecond ago', -1],
    ['was long ago', -1_000_000],
  ])('a commit whose deadline %s writes nothing', async (_what, offset) => {
    const { store, clock, tenant } = use();
    const commit = store.commit(startTransaction({ tenant }), clock.now() + offset);
    expect(await faultOf(commit)).toMatchObject({ kind: 'retryable', code: 'DEADLINE_EXCEEDED' });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('a commit whose deadline is a millisecond away is made', async () => {
    const { store, clock, tenant } = use();
    const commit = store.commit(startTransaction({ tenant }), clock.now() + 1);
    expect(await commit).toEqual({ ok: true });
  });

  test('a command whose deadline has passed sends nothing to the store', async () => {
    const { store, clock, tenant } = use();
    const { store: noted, calls } = noting(store);
    const { service } = makeService(noted, { clock });
    const outcome = await service.execute(principal({ tenant }), start, clock.now());
    expect(outcome).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1_000,
    });
    expect(calls).toEqual([]);
  });

  test('a deadline that passes after the decision keeps the commit from being sent', async () => {
    const { store, clock, tenant } = use();
    const late = {
      ...store,
      snapshot: ((keys) => {
        clock.advance(10_000);
        return store.snapshot(keys);
      }) as typeof store.snapshot,
    };
    const { execute } = makeService(late, { clock });
    const who = principal({ tenant });
    expect(await execute(who, start)).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    expect(await store.listPointers(tenant, 'dev:ana', 5)).toEqual([]);
  });

  test('a store that can be used passes its check', async () => {
    const { store } = use();
    await expect(store.check()).resolves.toBeUndefined();
  });

  test('a store that was closed answers every call with a fault', async () => {
    const { reopen, clock, tenant } = use();
    const store = await reopen();
    await store.close();
    const unavailable = { code: 'BACKEND_UNAVAILABLE' };
    expect(await faultOf(store.check())).toMatchObject(unavailable);
    expect(await faultOf(store.snapshot([workflowKey(tenant)]))).toMatchObject(unavailable);
    const commit = store.commit(startTransaction({ tenant }), clock.now() + 10_000);
    expect(await faultOf(commit)).toMatchObject(unavailable);
    await expect(store.close()).resolves.toBeUndefined();
  });
}
