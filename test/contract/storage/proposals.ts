import { expect, test } from '@jest/globals';
import { verifyRecord } from '../../../lib/core/audit.ts';
import type { Command, DecideProposal } from '../../../lib/core/model/commands.ts';
import type { Proposal } from '../../../lib/core/model/run.ts';
import { createQueries } from '../../../lib/core/queries.ts';
import { releaseLock } from '../../../lib/core/release-lock.ts';
import { testRegistry } from '../../support/harness.ts';
import { beforeFirstCommit } from '../../support/store-hooks.ts';
import { deciders, guardedWork } from '../../support/guarded-work.ts';
import { lockKey, type Bench, type UseBench } from './bench.ts';
import { idIn, sweeping } from './sweeping.ts';

const MINUTE = 60_000;

/** Decisions on what blocks propose, on a real store. See `guardedProcedure`. */
export function proposalCases(use: UseBench): void {
  const { sweep, ana, cara, workOn, read, eventsOf } = sweeping();
  const world = (bench: Bench) => {
    const { dora, eli } = deciders(bench.tenant);
    const work = workOn(bench);
    const blocked = async (): Promise<{ readonly id: string; readonly proposal: Proposal }> => {
      const id = await guardedWork(work, ana(bench)).blocked();
      const { proposal } = (await read(bench, id)).block ?? {};
      if (proposal === undefined) throw new Error('nothing is proposed');
      return { id, proposal };
    };
    const decision = (
      { id, proposal }: Awaited<ReturnType<typeof blocked>>,
      approved: boolean,
      more: Partial<DecideProposal> = {},
    ): Command => ({
      type: 'decide_approval',
      workflow: id,
      approved,
      action_hash: proposal.action_hash,
      ...more,
    });
    const told = async (id: string) =>
      (await bench.store.listOutbox(bench.tenant, id, 100)).map(({ payload }) => payload);
    return { dora, eli, work, blocked, decision, told };
  };
  const resolution = (
    id: string,
    block: number,
    what: 'continue' | 'retake' | 'abandon',
  ): Command => ({
    type: 'resolve_block',
    workflow: id,
    block,
    decision: what,
    reason: 'x',
  });

  test('an approval lets the work go on, with its event, its receipt and its notification', async () => {
    const bench = use();
    const { dora, work, blocked, decision, told } = world(bench);
    const one = await blocked();
    const before = await read(bench, one.id);
    const outcome = await work(dora, decision(one, true, { key: 'k' }));
    expect(outcome).toMatchObject({
      code: 'OK',
      duplicate: false,
      receipt: {
        command: 'decide_approval',
        result: 'approved',
        action_hash: one.proposal.action_hash,
      },
    });
    const after = await read(bench, one.id);
    expect(after).toMatchObject({ state: 'RUNNING', version: before.version + 1 });
    expect(after).not.toHaveProperty('block');
    expect((await eventsOf(bench, one.id)).at(-1)).toMatchObject({
      type: 'action_approved',
      seq: after.head_seq,
      actor: { subject: 'dev:dora', via: 'rest' },
    });
    expect((await told(one.id)).at(-1)).toMatchObject({
      kind: 'approval_decided',
      audiences: ['approver'],
      decision: 'approved',
      head_seq: after.head_seq,
      head_hash: after.head_hash,
    });
    expect((await verifyRecord(bench.store, after)).faults).toEqual([]);
    const [lock] = await bench.store.snapshot([lockKey(bench.tenant, 'VESSEL-1')]);
    expect(lock).toMatchObject({ held: true, workflow: one.id, fence: after.fence });
  });

  test('the same decision again is its receipt, with its key, without one and under another', async () => {
    const bench = use();
    const { dora, eli, work, blocked, decision } = world(bench);
    for (const approved of [true, false]) {
      const one = await blocked();
      const first = await work(dora, decision(one, approved, { key: `k ${approved}` }));
      if (first.code !== 'OK') throw new Error(JSON.stringify(first));
      const { version } = await read(bench, one.id);
      for (const more of [{ key: `k ${approved}` }, {}, { key: `other ${approved}` }]) {
        expect(await work(dora, decision(one, approved, more))).toMatchObject({
          code: 'OK',
          duplicate: true,
          receipt: first.receipt,
        });
      }
      expect(await work(dora, decision(one, !approved, { key: `k ${approved}` }))).toMatchObject({
        code: 'IDEMPOTENCY_CONFLICT',
        fields: ['approved'],
      });
      expect(await work(eli, decision(one, !approved))).toMatchObject({
        code: 'ALREADY_DECIDED',
        decision: approved ? 'approved' : 'denied',
        by: 'dev:dora',
        name: 'Dora',
        at: first.receipt.at,
        action_hash: one.proposal.action_hash,
      });
      expect((await read(bench, one.id)).version).toBe(version);
      await guardedWork(work, ana(bench)).end(one.id, cara(bench), await read(bench, one.id));
    }
  });

  test('a denial keeps the block, the asset and who denied; a resolution ends it', async () => {
    const bench = use();
    const { dora, work, blocked, decision } = world(bench);
    const one = await blocked();
    await work(dora, decision(one, false));
    const denied = await read(bench, one.id);
    expect(denied).toMatchObject({
      state: 'BLOCKED',
      block: { denied: { subject: 'dev:dora', action_hash: one.proposal.action_hash } },
    });
    expect(denied.block).not.toHaveProperty('proposal');
    idIn(await work(cara(bench), resolution(one.id, denied.block?.seq ?? 0, 'continue')));
    const after = await read(bench, one.id);
    expect(after.state).toBe('RUNNING');
    expect((await verifyRecord(bench.store, after)).faults).toEqual([]);
  });

  test.each(['continue', 'retake', 'abandon'] as const)(
    'a resolution that comes first (%s) withdraws it, also from a decision that saw it',
    async (what) => {
      const bench = use();
      const { dora, blocked, decision, work } = world(bench);
      const one = await blocked();
      const { block } = await read(bench, one.id);
      const resolved = async (): Promise<void> => {
        idIn(await work(cara(bench), resolution(one.id, block?.seq ?? 0, what)));
      };
      const late = workOn({ ...bench, store: beforeFirstCommit(bench.store, resolved) });
      expect(await late(dora, decision(one, true))).toMatchObject({
        code: 'STALE_PROPOSAL',
        given: one.proposal.action_hash,
      });
      expect((await eventsOf(bench, one.id)).at(-1)).toMatchObject({
        type: 'block_resolved',
        data: { withdrawn: one.proposal.action_hash },
      });
    },
  );

  test('a forced release withdraws it in its transaction, also from a decision that saw it', async () => {
    const bench = use();
    const { dora, blocked, decision, work } = world(bench);
    const one = await blocked();
    const { store, clock } = bench;
    const released = async (): Promise<void> => {
      const parts = { store, registry: testRegistry(), clock, sinks: ['log'] };
      const asked = { principal: dora, deadlineMs: clock.now() + 10_000 };
      const done = await releaseLock(parts, asked, { asset: 'VESSEL-1', reason: 'fire' });
      expect(done.code).toBe('RELEASED');
    };
    const late = workOn({ ...bench, store: beforeFirstCommit(store, released) });
    expect(await late(dora, decision(one, true))).toMatchObject({ code: 'STALE_PROPOSAL' });
    const lost = await read(bench, one.id);
    expect(lost).toMatchObject({
      block: { reason: 'lock_released', earlier: { seq: one.proposal.seq } },
    });
    expect(JSON.stringify(lost)).not.toContain(one.proposal.action_hash);
    expect((await eventsOf(bench, one.id)).at(-1)).toMatchObject({
      type: 'lock_released',
      data: { withdrawn: one.proposal.action_hash },
    });
    idIn(await work(cara(bench), resolution(one.id, lost.block?.seq ?? 0, 'continue')));
    expect(await work(dora, decision(one, true))).toMatchObject({ code: 'STALE_PROPOSAL' });
    expect((await read(bench, one.id)).state).toBe('BLOCKED');
  });

  test('what nobody decided on is taken out of its block by the next sweep after its last moment', async () => {
    const bench = use();
    const { dora, work, blocked, decision, told } = world(bench);
    const one = await blocked();
    bench.clock.advance(60 * MINUTE);
    expect(await sweep(bench)).toEqual([]);
    bench.clock.advance(1);
    expect(await sweep(bench, { rules: ['R7'], dryRun: true })).toEqual([`R7 found ${one.id}`]);
    expect(await work(dora, decision(one, true))).toMatchObject({ code: 'APPROVAL_EXPIRED' });
    expect(await sweep(bench)).toEqual([`R7 repaired ${one.id}`]);
    const after = await read(bench, one.id);
    expect(after.state).toBe('BLOCKED');
    expect(after.block).not.toHaveProperty('proposal');
    expect((await eventsOf(bench, one.id)).at(-1)).toMatchObject({
      type: 'approval_expired',
      actor: { subject: 'system:reconciler' },
      data: { rule: 'R7', action_hash: one.proposal.action_hash },
    });
    expect((await told(one.id)).at(-1)).toMatchObject({
      kind: 'approval_ended',
      audiences: ['approver'],
    });
    expect(await work(dora, decision(one, true))).toMatchObject({
      code: 'APPROVAL_EXPIRED',
      expires_at: one.proposal.action.expires_at,
    });
    expect(await sweep(bench)).toEqual([]);
    expect((await verifyRecord(bench.store, after)).faults).toEqual([]);
  });

  test('a sweep and an approval in the last moment: one of them happens', async () => {
    const bench = use();
    const { dora, blocked, decision } = world(bench);
    const one = await blocked();
    bench.clock.advance(60 * MINUTE);
    const swept = async (): Promise<void> => {
      bench.clock.advance(1);
      expect(await sweep(bench)).toEqual([`R7 repaired ${one.id}`]);
    };
    const late = workOn({ ...bench, store: beforeFirstCommit(bench.store, swept) });
    expect(await late(dora, decision(one, true))).toMatchObject({ code: 'APPROVAL_EXPIRED' });
    expect((await read(bench, one.id)).state).toBe('BLOCKED');
  });

  test('what is proposed is listed among what is blocked, in pages, until it is over', async () => {
    const bench = use();
    const { dora, work, decision } = world(bench);
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      ids.push(await guardedWork(work, ana(bench), `VESSEL-${n}`).blocked());
      // A block without a proposal beside each.
      await guardedWork(work, ana(bench), `UNIT-${n}`).denied('timed', 'ready');
      bench.clock.advance(1);
    }
    const queries = createQueries(bench.store, testRegistry());
    const listed = async (limit: number, who = dora) => {
      const met: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await queries.listProposals(who, { limit, ...(after && { after }) });
        if (page.code !== 'FOUND') throw new Error(page.code);
        expect(page.value.items.length).toBeLessThanOrEqual(limit);
        met.push(...page.value.items.map(({ workflow }) => workflow));
        after = page.value.next;
        if (after === undefined) return met;
      }
    };
    for (const limit of [1, 2, 3, 100]) expect(await listed(limit)).toEqual(ids);
    const [id = ''] = ids;
    const { proposal } = (await read(bench, id)).block ?? {};
    if (proposal === undefined) throw new Error('nothing is proposed');
    await work(dora, decision({ id, proposal }, false));
    expect(await listed(2)).toEqual(ids.slice(1));
    expect(await listed(2, deciders(bench.otherTenant).dora)).toEqual([]);
    bench.clock.advance(60 * MINUTE + 1);
    await sweep(bench);
    expect(await listed(2)).toEqual([]);
  });

  test('it is nothing in another tenant', async () => {
    const bench = use();
    const { work, blocked, decision } = world(bench);
    const one = await blocked();
    const { dora } = deciders(bench.otherTenant);
    expect(await work(dora, decision(one, true))).toMatchObject({ code: 'NOT_FOUND' });
    expect((await read(bench, one.id)).state).toBe('BLOCKED');
  });
}
