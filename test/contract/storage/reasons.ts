import { expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import { makeService, principal, type TestService } from '../../support/harness.ts';
import { beforeFirstCommit } from '../../support/store-hooks.ts';
import type { Bench, UseBench } from './bench.ts';

const start = (key: string, procedure = 'sample'): Command => ({
  type: 'start_workflow',
  procedure,
  asset: 'UNIT-1',
  key,
});
const confirm = { kind: 'confirm', confirmed: true } as const;
const bar = (value: number) => ({ kind: 'reading', value }) as const;

/** Of several conditions that fail at once, which one is the answer: ledger, lock, version. */
export function reasonCases(use: UseBench): void {
  /** Two services of one store: `late` decides first and commits after `early` has done its work. */
  const race = ({ store, clock }: Bench, work: (early: TestService) => Promise<unknown>) => {
    const early = makeService(store, { clock, seed: 'early' });
    const slow = beforeFirstCommit(store, () => work(early));
    return { early, late: makeService(slow, { clock, seed: 'late' }) };
  };

  test('the same start under the same key is a replay, although the asset is taken too', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    const receipts: unknown[] = [];
    const { late } = race(bench, async (early) => {
      receipts.push((await early.ok(ana, start('k1'))).receipt);
    });
    const outcome = await late.ok(ana, start('k1'));
    expect(outcome.duplicate).toBe(true);
    expect([outcome.receipt]).toEqual(receipts);
  });

  test('another start under the same key is a conflict, although the asset is taken too', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    const { late } = race(bench, (early) => early.ok(ana, start('k1', 'short')));
    expect(await late.execute(ana, start('k1'))).toEqual({
      code: 'IDEMPOTENCY_CONFLICT',
      operation: 'start_workflow',
      fields: ['procedure'],
    });
  });

  test('a start that loses the asset names the holder', async () => {
    const bench = use();
    const { tenant } = bench;
    const bea = principal({ tenant, subject: 'dev:bea', name: 'Bea' });
    const { late } = race(bench, (early) => early.ok(bea, start('k1')));
    expect(await late.execute(principal({ tenant }), start('k1'))).toEqual({
      code: 'ASSET_BUSY',
      asset: 'UNIT-1',
      holder: 'Bea',
      mine: false,
      procedure: 'Sample procedure',
      since: '2026-03-01T09:00:00.000Z',
    });
  });

  test('a step under a key that was used meanwhile is a replay, although the version moved', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    let workflow = '';
    const step = (): Command => ({
      type: 'record_step',
      workflow,
      step: 'ready',
      input: confirm,
      key: 'k2',
    });
    const { early, late } = race(bench, (other) => other.ok(ana, step()));
    workflow = (await early.ok(ana, start('k1'))).receipt.workflow;
    const outcome = await late.ok(ana, step());
    expect(outcome).toMatchObject({
      duplicate: true,
      receipt: { seq: 2 },
      workflow: { version: 2 },
    });
  });

  test('a step with another value under that key is a conflict, although the version moved', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    let workflow = '';
    const step = (value: number): Command => ({
      type: 'record_step',
      workflow,
      step: 'outlet',
      input: bar(value),
      key: 'k2',
    });
    const { early, late } = race(bench, (other) => other.ok(ana, step(5)));
    workflow = (await early.ok(ana, start('k1'))).receipt.workflow;
    expect(await late.execute(ana, step(6))).toEqual({
      code: 'IDEMPOTENCY_CONFLICT',
      operation: 'record_step',
      fields: ['reading'],
    });
  });

  test('two steps decided on one version both take effect, one after the other', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    let workflow = '';
    const { early, late } = race(bench, (other) =>
      other.ok(ana, { type: 'record_step', workflow, step: 'outlet', input: bar(5) }),
    );
    workflow = (await early.ok(ana, start('k1'))).receipt.workflow;
    const outcome = await late.ok(ana, {
      type: 'record_step',
      workflow,
      step: 'mode',
      input: { kind: 'choice', option: 'auto' },
    });
    expect(outcome).toMatchObject({
      duplicate: false,
      receipt: { seq: 3 },
      workflow: { version: 3, done: 2 },
    });
  });

  test('an end that was made meanwhile is the same end, although lock and version moved', async () => {
    const bench = use();
    const ana = principal({ tenant: bench.tenant });
    let workflow = '';
    const end = (): Command => ({
      type: 'abandon_workflow',
      workflow,
      tenure: 1,
      reason: 'no time',
    });
    const { early, late } = race(bench, (other) => other.ok(ana, end()));
    workflow = (await early.ok(ana, start('k1'))).receipt.workflow;
    const outcome = await late.ok(ana, end());
    expect(outcome).toMatchObject({
      duplicate: true,
      receipt: { seq: 2, result: 'abandoned' },
      workflow: { state: 'COMPLETED', version: 2 },
    });
  });
}
