import { expect, test } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Command, StepInput } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { makeService, principal } from '../../support/harness.ts';
import { lockKey, workflowKey, type Bench, type UseBench } from './bench.ts';

/** What records leave in the store, and what other processes make of it. */
export function recordCases(use: UseBench): void {
  test('values of a workflow stay on the lock, and the next start tells them without another read', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const { ok, who, workflow } = await started(bench);
    const say = async (step: string, input: StepInput) =>
      ok(who, { type: 'record_step', workflow, step, input });
    await say('ready', { kind: 'confirm', confirmed: true });
    await say('inlet', { kind: 'reading', value: 30, unit: 'psi' });
    await say('mode', { kind: 'choice', option: 'auto' });
    await say('remark', { kind: 'text', text: 'loud' });
    await say('code', { kind: 'text', text: 'four two' });
    const end = { type: 'abandon_workflow', workflow, tenure: 1, reason: 'shift ends' } as const;
    await ok(who, end);
    const at = new Date(clock.now()).toISOString();
    const values = { ready: true, inlet: 2.07, mode: 'auto' };
    const last = { procedure: 'sample', version: 1, at, values };
    expect(await store.snapshot([lockKey(tenant, 'UNIT-1')])).toEqual([
      { format: 1, tenant, asset: 'UNIT-1', fence: 1, held: false, last },
    ]);
    let reads = 0;
    const counting = {
      ...store,
      snapshot: ((keys) => {
        reads += keys.length;
        return store.snapshot(keys);
      }) as StorageBackend['snapshot'],
    };
    const next = makeService(counting, { clock, seed: 'next' });
    const start: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const again = await next.ok(who, start);
    expect(reads).toBe(1);
    expect(again.workflow.next).toMatchObject({ step: 'ready', last: { value: true, at } });
    const [lock, state] = await store.snapshot([
      lockKey(tenant, 'UNIT-1'),
      workflowKey(tenant, again.receipt.workflow),
    ]);
    expect(lock).toMatchObject({ held: true, fence: 2, last });
    expect(state?.previous).toEqual({ at, values });
  });

  test('another procedure on the asset tells nothing of it', async () => {
    const bench = use();
    const { ok, who, workflow } = await started(bench);
    const input = { kind: 'confirm', confirmed: true } as const;
    await ok(who, { type: 'record_step', workflow, step: 'ready', input });
    await ok(who, { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' });
    const other = await ok(who, { type: 'start_workflow', procedure: 'short', asset: 'UNIT-1' });
    const key = workflowKey(bench.tenant, other.receipt.workflow);
    const [state] = await bench.store.snapshot([key]);
    expect(state).not.toHaveProperty('previous');
  });

  const started = async ({ store, clock, tenant }: Bench) => {
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const start: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const { workflow } = (await ok(who, start)).receipt;
    return { ok, who, workflow };
  };

  test('a skipped step is kept with its reason, and a repeat elsewhere is the same skip', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const { ok, who, workflow } = await started(bench);
    const input = { kind: 'skip', reason: 'nothing to say' } as const;
    const skip: Command = { type: 'record_step', workflow, step: 'remark', input, key: 'k' };
    const first = await ok(who, skip);
    expect(first.receipt).toMatchObject({ result: 'skipped', seq: 2 });
    const [item] = await store.snapshot([workflowKey(tenant, workflow)]);
    expect(item?.steps['remark']).toMatchObject({ status: 'skipped', seq: 2 });
    expect(JSON.stringify(item)).not.toContain('nothing to say');
    const [event] = await store.listEvents(tenant, workflow, { after: 1, limit: 1 });
    expect(event && eventBody(event)).toMatchObject({
      type: 'step_skipped',
      data: { step: 'remark', reason: 'nothing to say' },
    });
    const other = makeService(await bench.reopen(), { clock, seed: 'other' });
    const { key: _key, ...keyless } = skip;
    for (const repeat of [skip, keyless]) {
      const again = await other.ok(who, repeat);
      expect([again.duplicate, again.receipt]).toEqual([true, first.receipt]);
    }
  });

  test('a late repeat of a skip by its key is the skip, although the step is recorded since', async () => {
    const bench = use();
    const { ok, who, workflow } = await started(bench);
    const about = { workflow, step: 'code' } as const;
    const skip: Command = {
      type: 'record_step',
      ...about,
      input: { kind: 'skip', reason: 'none' },
      key: 'k',
    };
    const first = await ok(who, skip);
    const input = { kind: 'text', text: 'four two' } as const;
    await ok(who, { type: 'correct_step', ...about, input, replaces: 2 });
    const again = await ok(who, skip);
    expect([again.duplicate, again.receipt]).toEqual([true, first.receipt]);
    const [item] = await bench.store.snapshot([workflowKey(bench.tenant, workflow)]);
    expect(item?.steps['code']).toMatchObject({ status: 'done', seq: 3, basis: 2 });
  });
}
