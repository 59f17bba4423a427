import { expect, test } from '@jest/globals';
import { verifyRecord } from '../../../lib/core/audit.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import { makeService, principal } from '../../support/harness.ts';
import { lockKey, workflowKey, type UseBench } from './bench.ts';

const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'PUMP-7' };

/** Many at once, in one process and in several. */
export function raceCases(use: UseBench): void {
  test('of twenty people who start at once one gets the asset, and nineteen its name', async () => {
    const { store, clock, tenant } = use();
    const { execute } = makeService(store, { clock });
    const people = Array.from({ length: 20 }, (_, i) =>
      principal({ tenant, subject: `dev:p${i}`, name: `P${i}` }),
    );
    const outcomes = await Promise.all(people.map((who) => execute(who, start)));
    const winners = outcomes.filter(({ code }) => code === 'OK');
    const losers = outcomes.filter(({ code }) => code === 'ASSET_BUSY');
    expect([winners.length, losers.length]).toEqual([1, 19]);
    const [lock] = await store.snapshot([lockKey(tenant, 'PUMP-7')]);
    expect(new Set(losers.map((loser) => 'holder' in loser && loser.holder))).toEqual(
      new Set([lock?.name]),
    );
    expect(lock).toMatchObject({ fence: 1, held: true });
  });

  test('of twenty identical starts at once one takes effect, and all get its receipt', async () => {
    const { store, clock, tenant } = use();
    const { ok } = makeService(store, { clock });
    const command = { ...start, key: 'k1' };
    const who = principal({ tenant });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => ok(who, command)));
    expect(outcomes.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(new Set(outcomes.map(({ receipt }) => receipt.workflow)).size).toBe(1);
  });

  test('of twenty values for one step at once one is recorded, and the version says so', async () => {
    const { store, clock, tenant } = use();
    const { ok, execute } = makeService(store, { clock });
    const who = principal({ tenant });
    const sample: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const { workflow } = (await ok(who, sample)).receipt;
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        execute(who, {
          type: 'record_step',
          workflow,
          step: 'outlet',
          input: { kind: 'reading', value: i / 2 },
          key: `k${i}`,
        }),
      ),
    );
    const codes = outcomes.map(({ code }) => code).toSorted();
    expect(codes).toEqual([...Array.from({ length: 19 }, () => 'NEEDS_CONFIRMATION'), 'OK']);
    const [item] = await store.snapshot([workflowKey(tenant, workflow)]);
    expect(item?.version).toBe(2);
  });

  test('two processes that race for the same assets have one winner for each', async () => {
    const { store, runWriters, tenant } = use();
    const assets = Array.from({ length: 40 }, (_, i) => `PUMP-${i}`);
    const task = { tenant, mode: 'race', assets } as const;
    const reports = await runWriters([
      { ...task, name: 'one' },
      { ...task, name: 'two' },
    ]);
    expect(reports.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual([
      { exitCode: 0, stderr: '' },
      { exitCode: 0, stderr: '' },
    ]);
    const lines = reports.flatMap((report) => report.lines);
    for (const asset of assets) {
      const codes = lines.filter((line) => line.asset === asset).map(({ code }) => code);
      expect(codes.toSorted()).toEqual(['ASSET_BUSY', 'OK']);
    }
    const locks = await store.snapshot(assets.map((asset) => lockKey(tenant, asset)));
    expect(locks.filter((lock) => lock?.held === true && lock.fence === 1)).toHaveLength(40);
  });

  test('two processes that work side by side lose nothing and double nothing', async () => {
    const { store, runWriters, tenant } = use();
    const assets = (name: string) => Array.from({ length: 25 }, (_, i) => `${name}-${i}`);
    const reports = await runWriters(
      ['one', 'two'].map((name) => ({ tenant, name, mode: 'work', assets: assets(name) })),
    );
    const lines = reports.flatMap((report) => report.lines);
    expect(
      lines.filter(({ code, duplicate }) => code === 'OK' && duplicate === false),
    ).toHaveLength(150);
    const workflows = [...new Set(lines.map(({ workflow }) => workflow))];
    expect(workflows).toHaveLength(50);
    for (const id of workflows) {
      const [item] = await store.snapshot([workflowKey(tenant, id)]);
      expect(item).toMatchObject({ state: 'COMPLETED', version: 3, head_seq: 3 });
      if (item !== undefined) expect((await verifyRecord(store, item)).faults).toEqual([]);
    }
  });
}
