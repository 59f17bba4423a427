import { expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import { compilePlan } from '../../../lib/core/plan.ts';
import type { ItemKey } from '../../../lib/core/ports/storage.ts';
import { makeService, principal } from '../../support/harness.ts';
import { ledgerOf, startPlan, startTransaction } from '../../support/plans.ts';
import { createWorkflow, faultOf, workflowKey, type UseBench } from './bench.ts';

/** Nothing of one tenant is readable or writable through another (I8). */
export function tenancyCases(use: UseBench): void {
  test('no kind of item is found under the same names of another tenant', async () => {
    const { store, clock, tenant, otherTenant } = use();
    const ledger = ledgerOf(tenant, 'k1', 1);
    const vault = [{ format: 1, tenant, workflow: 'w1', seq: 1, key: 'k', value: 'v' }];
    const row = { id: 'o', payload: {}, rev: 0, attempts: 0, due_at: 0 };
    const outbox = [{ format: 1, tenant, workflow: 'w1', lane: 'l', seq: 1, ...row }];
    const transaction = startTransaction({ tenant }, { ledger, vault, outbox });
    await store.commit(transaction, clock.now() + 10_000);
    const keys: ItemKey[] = transaction.writes.map(({ key }) => ({ ...key, tenant: otherTenant }));
    expect(await store.snapshot(keys)).toEqual(keys.map(() => undefined));
    expect(await store.listEvents(otherTenant, 'w1', { after: 0, limit: 10 })).toEqual([]);
    expect(await store.listOutbox(otherTenant, 'w1', 10)).toEqual([]);
    expect(await store.listPointers(otherTenant, 'dev:ana', 10)).toEqual([]);
    expect(await store.listTenantOutbox(otherTenant, 10)).toEqual([]);
    expect(await store.listLocks(otherTenant, { limit: 10 })).toEqual({ items: [] });
    expect(await store.countWorkflows(otherTenant, 'CREATED', 10)).toBe(0);
    expect(await store.listAssets(otherTenant, 10)).toEqual([]);
    expect(await store.listWorkflows(otherTenant, 'CREATED', { limit: 10 })).toEqual({ items: [] });
  });

  test('the same names of two tenants are two sets of items', async () => {
    const { store, clock, tenant, otherTenant } = use();
    const deadline = clock.now() + 10_000;
    expect(await store.commit(startTransaction({ tenant }), deadline)).toEqual({ ok: true });
    const second = startTransaction({ tenant: otherTenant });
    expect(await store.commit(second, deadline)).toEqual({ ok: true });
    const [mine] = await store.snapshot([workflowKey(tenant)]);
    expect(mine?.tenant).toBe(tenant);
  });

  test('a transaction over two tenants is refused', async () => {
    const { store, commit, tenant, otherTenant } = use();
    const fault = await faultOf(
      commit(createWorkflow({ tenant }), createWorkflow({ tenant: otherTenant })),
    );
    expect(fault).toMatchObject({ kind: 'terminal', code: 'PLAN_REFUSED' });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('an item of one tenant under the key of another is refused', async () => {
    const { commit, tenant, otherTenant } = use();
    const write = { ...createWorkflow({ tenant }), key: workflowKey(otherTenant) };
    expect((await faultOf(commit(write))).code).toBe('PLAN_REFUSED');
  });

  test('a guard on an item of another tenant is refused', () => {
    const { tenant, otherTenant } = use();
    const guards = [{ key: workflowKey(otherTenant), expect: {} }];
    expect(() => compilePlan(startPlan({ tenant }, { guards }))).toThrow('items of two tenants');
  });

  test('people are found within their tenant only', async () => {
    const { store, tenant, otherTenant } = use();
    await store.noteProfile({ tenant, subject: 'dev:ana', name: 'Ana' });
    expect(await store.findProfiles(otherTenant, 'Ana', 5)).toEqual([]);
    expect(await store.findProfiles(otherTenant, 'dev:ana', 5)).toEqual([]);
  });

  test.each(['record_step', 'complete_workflow', 'abandon_workflow', 'resolve_block'] as const)(
    '%s on a workflow of another tenant finds nothing, also in a process that knows it',
    async (type) => {
      const { store, clock, tenant, otherTenant } = use();
      const { ok, execute } = makeService(store, { clock });
      const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'A-1' };
      const { workflow } = (await ok(principal({ tenant }), start)).receipt;
      const scopes = ['procedures:run', 'procedures:supervise'];
      const foreign = principal({ tenant: otherTenant, scopes });
      const command = {
        type,
        workflow,
        step: 'done',
        input: { kind: 'confirm', confirmed: true },
        tenure: 1,
        reason: 'none',
        block: 1,
        decision: 'continue',
      } as Command;
      expect(await execute(foreign, command)).toMatchObject({ code: 'NOT_FOUND' });
      const [item] = await store.snapshot([workflowKey(tenant, workflow)]);
      expect(item?.version).toBe(1);
    },
  );

  test('a workflow id that continues the name of a tenant finds nothing of it', async () => {
    const { store, clock, tenant } = use();
    const { ok, execute } = makeService(store, { clock });
    const inner = principal({ tenant: `${tenant}\nb` });
    const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'A-1' };
    const { workflow } = (await ok(inner, start)).receipt;
    const outcome = await execute(principal({ tenant }), {
      type: 'abandon_workflow',
      workflow: `b\n${workflow}`,
      tenure: 1,
      reason: 'none',
    });
    expect(outcome).toMatchObject({ code: 'NOT_FOUND' });
    const [item] = await store.snapshot([workflowKey(inner.tenant, workflow)]);
    expect(item?.state).toBe('CREATED');
  });
}
