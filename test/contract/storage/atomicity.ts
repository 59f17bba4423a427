import { expect, test } from '@jest/globals';
import { LIMITS } from '../../../lib/core/limits.ts';
import type { ItemKey, Write } from '../../../lib/core/ports/storage.ts';
import { ledgerOf, startPlan, startTransaction, workflowOf } from '../../support/plans.ts';
import { create, createWorkflow, ledgerKey, workflowKey, type UseBench } from './bench.ts';

const IDS = ['w1', 'w2', 'w3', 'w4', 'w5'];

/** All of it or none, and every reason at once. */
export function atomicityCases(use: UseBench): void {
  test.each([0, 1, 2, 3, 4])(
    'writes nothing of the others when condition %i of five fails',
    async (failing) => {
      const { store, commit, tenant } = use();
      await commit(createWorkflow({ tenant, id: IDS[failing] as string }, { version: 5 }));
      const before = await store.snapshot(IDS.map((id) => workflowKey(tenant, id)));
      const result = await commit(...IDS.map((id) => createWorkflow({ tenant, id })));
      const key = workflowKey(tenant, IDS[failing]);
      expect(result).toEqual({ ok: false, failed: [{ key, item: before[failing] }] });
      expect(await store.snapshot(IDS.map((id) => workflowKey(tenant, id)))).toEqual(before);
    },
  );

  test.each([0, 1, 2, 3])(
    'undoes nothing and does nothing of four operations when %i fails',
    async (failing) => {
      const { store, commit, tenant } = use();
      await commit(...['w2', 'w3', 'w4'].map((id) => createWorkflow({ tenant, id })));
      const wrong = { version: 99 };
      const wanted = (i: number) => (i === failing ? wrong : { version: 1 });
      const writes: Write[] = [
        createWorkflow({ tenant, id: failing === 0 ? 'w2' : 'w1' }),
        { op: 'update', key: workflowKey(tenant, 'w3'), expect: wanted(1), set: { version: 2 } },
        { op: 'delete', key: workflowKey(tenant, 'w4'), expect: wanted(2) },
        { op: 'check', key: workflowKey(tenant, failing === 0 ? 'w5' : 'w2'), expect: wanted(3) },
      ];
      const result = await commit(...writes);
      expect(result.ok).toBe(false);
      const left = await store.snapshot(IDS.map((id) => workflowKey(tenant, id)));
      expect(left.map((item) => item?.version)).toEqual([undefined, 1, 1, 1, undefined]);
    },
  );

  test('reports every condition that fails with its item, in the order of the writes', async () => {
    const { commit, tenant } = use();
    await commit(createWorkflow({ tenant, id: 'w2' }), createWorkflow({ tenant, id: 'w4' }));
    const item = (id: string) => workflowOf({ tenant, id }).workflow;
    const result = await commit(
      createWorkflow({ tenant, id: 'w1' }),
      createWorkflow({ tenant, id: 'w2' }),
      { op: 'update', key: workflowKey(tenant, 'w3'), expect: { version: 1 }, set: {} },
      { op: 'check', key: workflowKey(tenant, 'w4'), expect: { version: 2 } },
      { op: 'delete', key: workflowKey(tenant, 'w5'), expect: { version: 1 } },
    );
    expect(result).toEqual({
      ok: false,
      failed: [
        { key: workflowKey(tenant, 'w2'), item: item('w2') },
        { key: workflowKey(tenant, 'w3') },
        { key: workflowKey(tenant, 'w4'), item: item('w4') },
        { key: workflowKey(tenant, 'w5') },
      ],
    });
  });

  test('reports ledger, lock, event and workflow of one plan at once', async () => {
    const { store, clock, tenant } = use();
    const ledger = ledgerOf(tenant, 'k1', Math.floor(clock.now() / 1000) + 60);
    const deadline = clock.now() + 10_000;
    const transaction = startTransaction({ tenant }, { ledger });
    expect(await store.commit(transaction, deadline)).toEqual({ ok: true });
    const again = await store.commit(transaction, deadline);
    const kinds = again.ok ? [] : again.failed.map(({ key }) => key.kind);
    expect(kinds.toSorted()).toEqual(['event', 'ledger', 'lock', 'workflow']);
  });

  test('commits every kind of item of one plan together', async () => {
    const { store, clock, tenant } = use();
    const format = 1;
    const workflow = 'w1';
    const ledger = ledgerOf(tenant, 'k1', Math.floor(clock.now() / 1000) + 60);
    const vault = { format, tenant, workflow, seq: 1, key: 'a'.repeat(64), value: 'secret' };
    const outbox = {
      format,
      tenant,
      workflow,
      lane: 'notify:log',
      seq: 1,
      id: 'o1',
      payload: { kind: 'block' },
      rev: 0,
      attempts: 0,
      due_at: clock.now() + 30_000,
    };
    const part = { ledger, vault: [vault], outbox: [outbox] };
    const transaction = startTransaction({ tenant }, part);
    expect(await store.commit(transaction, clock.now() + 10_000)).toEqual({ ok: true });
    const { events } = startPlan({ tenant });
    const keys: ItemKey[] = transaction.writes.map(({ key }) => key);
    const found = await store.snapshot(keys);
    const items = transaction.writes.map((write) => write.op === 'create' && write.item);
    expect(found).toEqual(items);
    expect(found).toContainEqual(events[0]);
    expect(found).toHaveLength(7);
  });

  test('commits one hundred items at once, or none of them', async () => {
    const { store, commit, tenant } = use();
    const keys = Array.from({ length: LIMITS.transactionItems.max }, (_, i) => `k${i}`);
    const rows = keys.map((key) => create(ledgerKey(tenant, key), ledgerOf(tenant, key, 1)));
    await commit(create(ledgerKey(tenant, 'k99'), ledgerOf(tenant, 'k99', 2)));
    expect((await commit(...rows)).ok).toBe(false);
    expect(await store.snapshot([ledgerKey(tenant, 'k0')])).toEqual([undefined]);
    await commit({ op: 'delete', key: ledgerKey(tenant, 'k99'), expect: {} });
    expect(await commit(...rows)).toEqual({ ok: true });
    const found = await store.snapshot(keys.map((key) => ledgerKey(tenant, key)));
    expect(found.filter((row) => row?.expires_at === 1)).toHaveLength(100);
  });
}
