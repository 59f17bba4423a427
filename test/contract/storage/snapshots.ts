import { expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import { makeService, principal } from '../../support/harness.ts';
import { createWorkflow, lockKey, workflowKey, type UseBench } from './bench.ts';

/** Several items are read as of one moment. */
export function snapshotCases(use: UseBench): void {
  test('items come in the order of their keys, missing ones as undefined', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant, id: 'w1' }), createWorkflow({ tenant, id: 'w2' }));
    const [two, none, lock, one] = await store.snapshot([
      workflowKey(tenant, 'w2'),
      workflowKey(tenant, 'w3'),
      lockKey(tenant),
      workflowKey(tenant, 'w1'),
    ]);
    expect([two?.id, none, lock, one?.id]).toEqual(['w2', undefined, undefined, 'w1']);
  });

  test('a write is seen by the very next read, also of another process', async () => {
    const { store, commit, reopen, tenant } = use();
    const other = await reopen();
    for (let n = 1; n <= 20; n++) {
      await commit(createWorkflow({ tenant, id: `w${n}` }));
      const key = workflowKey(tenant, `w${n}`);
      expect((await store.snapshot([key]))[0]?.id).toBe(`w${n}`);
      expect((await other.snapshot([key]))[0]?.id).toBe(`w${n}`);
    }
  });

  test('a reader never sees workflow and lock disagree while a writer commits', async () => {
    const { store, clock, reopen, tenant } = use();
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const reader = await reopen();
    let writing = true;
    const write = async () => {
      for (let n = 0; n < 40; n++) {
        const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'A-1' };
        const { workflow } = (await ok(who, start)).receipt;
        await ok(who, { type: 'abandon_workflow', workflow, tenure: 1, reason: 'next' });
      }
      writing = false;
    };
    const read = async (): Promise<number> => {
      let agreed = 0;
      while (writing) {
        const [lock] = await reader.snapshot([lockKey(tenant)]);
        const id = lock?.workflow;
        if (id === undefined) continue;
        const [now, workflow] = await reader.snapshot([lockKey(tenant), workflowKey(tenant, id)]);
        const holds = now?.held === true && now.workflow === id;
        expect(holds).toBe(workflow?.state === 'CREATED');
        if (holds) expect(workflow?.fence).toBe(now.fence);
        agreed += 1;
      }
      return agreed;
    };
    const [agreed] = await Promise.all([read(), write()]);
    expect(agreed).toBeGreaterThan(0);
  });

  test('a reader sees whole transactions of other processes', async () => {
    const { store, runWriters, tenant } = use();
    const assets = Array.from({ length: 30 }, (_, i) => `A-${i}`);
    let writing = true;
    const writers = runWriters([{ tenant, name: 'one', mode: 'work', assets }]).finally(() => {
      writing = false;
    });
    while (writing) {
      const { items } = await store.listWorkflows(tenant, 'COMPLETED', { limit: 100 });
      for (const { id, asset } of items.slice(-3)) {
        const keys = [lockKey(tenant, asset), workflowKey(tenant, id)] as const;
        const [lock, workflow] = await store.snapshot(keys);
        expect([lock?.held, workflow?.head_seq]).toEqual([false, 3]);
        const events = await store.listEvents(tenant, id, { after: 0, limit: 10 });
        expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const [report] = await writers;
    expect(report?.lines).toHaveLength(90);
  });
}
