import { expect, test } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import { makeService, principal } from '../../support/harness.ts';
import { workflowKey, type Bench, type UseBench } from './bench.ts';

/** What records leave in the store, and what other processes make of it. */
export function recordCases(use: UseBench): void {
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
