import { expect, test } from '@jest/globals';
import { commandLine } from '../../../lib/core/erase.ts';
import { Fault } from '../../../lib/core/fault.ts';
import { holdsAsset } from '../../../lib/core/model/workflow.ts';
import type { StorageBackend, Write } from '../../../lib/core/ports/storage.ts';
import { dayOf } from '../../../lib/core/instant.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { releaseLock } from '../../../lib/core/release-lock.ts';
import { principal, testRegistry } from '../../support/harness.ts';
import { lockKey, workflowKey, type Bench, type UseBench } from './bench.ts';
import { idIn, sweeping } from './sweeping.ts';

const ASSET = 'UNIT-1';

/** Drift and its repair, on a real store: found, repaired once, and not again. */
export function reconcileCases(use: UseBench): void {
  const { sweeperOn, sweep, ana, cara, workOn, read, eventsOf } = sweeping();
  const started = async (bench: Bench, asset = ASSET): Promise<string> => {
    const outcome = await workOn(bench)(ana(bench), {
      type: 'start_workflow',
      procedure: 'sample',
      asset,
    });
    return idIn(outcome);
  };
  const lockOn = async ({ store, tenant }: Bench, asset = ASSET) =>
    (await store.snapshot([lockKey(tenant, asset)]))[0];
  /** Changes an item as no command does, as a torn restore or a bug would. */
  const drift = async ({ commit }: Bench, ...writes: readonly Write[]): Promise<void> => {
    expect(await commit(...writes)).toEqual({ ok: true });
  };
  const freed = (bench: Bench, fence = 1): Write => ({
    op: 'update',
    key: lockKey(bench.tenant, ASSET),
    expect: { fence },
    set: { held: false },
    remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
  });
  const later = ({ clock }: Bench): void => {
    clock.advance(RECONCILE.checkMs);
  };

  test('healthy work is looked at, nothing is found, and its next look is an hour later', async () => {
    const bench = use();
    const id = await started(bench);
    const before = await read(bench, id);
    expect(await sweep(bench)).toEqual([]);
    expect(await read(bench, id)).toEqual(before);
    later(bench);
    expect(await sweep(bench)).toEqual([]);
    const due_at = bench.clock.now() + RECONCILE.checkMs;
    expect(await read(bench, id)).toEqual({ ...before, due_at });
  });

  test('R4: a lock that its workflow left behind at its end is released, once', async () => {
    const bench = use();
    const id = await started(bench);
    await drift(bench, {
      op: 'update',
      key: workflowKey(bench.tenant, id),
      expect: {},
      set: { state: 'COMPLETED', result: 'completed', ended_seq: 1 },
    });
    later(bench);
    expect(await sweep(bench, { dryRun: true })).toEqual([`R4 found ${id}`]);
    expect((await lockOn(bench))?.held).toBe(true);
    expect(await sweep(bench)).toContain(`R4 repaired ${id}`);
    expect(await lockOn(bench)).toMatchObject({ held: false, fence: 1 });
    const [, event] = await eventsOf(bench, id);
    expect(event).toMatchObject({
      type: 'orphan_lock_released',
      data: { asset: ASSET, rule: 'R4' },
      actor: { subject: 'system:reconciler', via: 'system' },
    });
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('work that a clock of days ahead put off is looked at within the hour, and its rows leave', async () => {
    const bench = use();
    const { store, tenant, clock } = bench;
    const id = await started(bench);
    const due_at = clock.now() + 9 * 86_400_000;
    await drift(
      bench,
      { op: 'update', key: workflowKey(tenant, id), expect: {}, set: { due_at } },
      {
        op: 'update',
        key: lockKey(tenant, ASSET),
        expect: {},
        set: { held: false },
        remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
      },
    );
    later(bench);
    expect(await sweep(bench)).toEqual([]);
    const minutes = Math.floor(clock.now() / 60_000);
    clock.advance(((RECONCILE.aheadMinute - (minutes % 60) + 60) % 60) * 60_000);
    expect(await sweep(bench)).toEqual([`R5 repaired ${id}`]);
    const [workflow] = await store.snapshot([workflowKey(tenant, id)]);
    expect(workflow?.due_at).toBeLessThanOrEqual(clock.now() + RECONCILE.checkMs);
  });

  test('R4: a start takes over a lock whose workflow is at its end, and says so', async () => {
    const bench = use();
    const first = await started(bench);
    await drift(bench, {
      op: 'update',
      key: workflowKey(bench.tenant, first),
      expect: {},
      set: { state: 'COMPLETED', result: 'completed', ended_seq: 1 },
    });
    const second = await started(bench);
    expect(await lockOn(bench)).toMatchObject({ held: true, workflow: second, fence: 2 });
    const [event] = await eventsOf(bench, second);
    expect(event?.data).toMatchObject({ rule: 'R4', taken_over_from: first });
  });

  test('R4: a start takes over a lock whose workflow is gone', async () => {
    const bench = use();
    const first = await started(bench);
    await drift(bench, { op: 'delete', key: workflowKey(bench.tenant, first), expect: {} });
    const second = await started(bench);
    expect(await lockOn(bench)).toMatchObject({ held: true, workflow: second, fence: 2 });
  });

  test('of 120 pieces of work three vanish while pages are walked: their assets are free to a start, and no other is touched', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const ids = new Map<string, string>();
    for (let n = 1; n <= 120; n++) ids.set(`UNIT-${n}`, await started(bench, `UNIT-${n}`));
    later(bench);
    const gone = ['UNIT-7', 'UNIT-70', 'UNIT-119'];
    let pages = 0;
    const vanishing: StorageBackend = {
      ...store,
      listDue: async (shard, at) => {
        const page = await store.listDue(shard, { ...at, limit: Math.min(at.limit, 5) });
        if (at.limit > 1 && pages++ === 0) {
          const keys = gone.map((asset) => workflowKey(tenant, ids.get(asset)));
          await drift(bench, ...keys.map((key): Write => ({ op: 'delete', key, expect: {} })));
        }
        return page;
      },
    };
    const before = bench.clock.now();
    expect(await sweep(bench, {}, sweeperOn(bench, vanishing))).toEqual([]);
    expect(pages).toBeGreaterThan(10);
    for (const [asset, id] of ids) {
      const [workflow, lock] = await store.snapshot([
        workflowKey(tenant, id),
        lockKey(tenant, asset),
      ]);
      expect(lock).toMatchObject({ held: true, workflow: id, fence: 1 });
      if (gone.includes(asset)) expect([asset, workflow]).toEqual([asset, undefined]);
      else expect(workflow).toMatchObject({ version: 1, due_at: before + RECONCILE.checkMs });
    }
    for (const asset of gone) {
      const next = await started(bench, asset);
      expect(await lockOn(bench, asset)).toMatchObject({ held: true, workflow: next, fence: 2 });
    }
    expect(await started(bench, 'UNIT-8')).toBe(ids.get('UNIT-8'));
  }, 120_000);

  test('R5: work that lost its lock gets it back under a new fence, once, and goes on', async () => {
    const bench = use();
    const id = await started(bench);
    await drift(bench, freed(bench));
    later(bench);
    expect(await sweep(bench, { dryRun: true })).toEqual([`R5 found ${id}`]);
    expect(await sweep(bench)).toEqual([`R5 repaired ${id}`]);
    expect(await lockOn(bench)).toMatchObject({ held: true, workflow: id, fence: 2 });
    expect(await read(bench, id)).toMatchObject({ state: 'CREATED', fence: 2 });
    later(bench);
    expect(await sweep(bench)).toEqual([]);
    const run = workOn(bench);
    const input = { kind: 'choice', option: 'auto' } as const;
    expect(
      await run(ana(bench), { type: 'record_step', workflow: id, step: 'mode', input }),
    ).toMatchObject({ code: 'OK' });
    expect(
      await run(ana(bench), { type: 'abandon_workflow', workflow: id, reason: 'over', tenure: 1 }),
    ).toMatchObject({ code: 'OK' });
    expect((await lockOn(bench))?.held).toBe(false);
  });

  test('R5: work that lost its lock is not ended, and the next sweep repairs it', async () => {
    const bench = use();
    const id = await started(bench);
    await drift(bench, freed(bench));
    const run = workOn(bench);
    const end = { type: 'abandon_workflow', workflow: id, reason: 'over', tenure: 1 } as const;
    expect(await run(ana(bench), end)).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
    });
    expect((await read(bench, id)).state).toBe('CREATED');
    expect(await sweep(bench)).toEqual([`R5 repaired ${id}`]);
    expect(await run(ana(bench), end)).toMatchObject({ code: 'OK', duplicate: false });
    expect((await lockOn(bench))?.held).toBe(false);
  });

  test('R5: work whose asset somebody else holds is blocked and told of, and the other one is not touched', async () => {
    const bench = use();
    const first = await started(bench);
    await drift(bench, freed(bench));
    const ben = principal({ tenant: bench.tenant, subject: 'dev:ben', name: 'Ben' });
    const second = idIn(
      await workOn(bench)(ben, { type: 'start_workflow', procedure: 'sample', asset: ASSET }),
    );
    const untouched = await read(bench, second);
    later(bench);
    expect(await sweep(bench)).toEqual([`R5 repaired ${first}`]);
    const blocked = await read(bench, first);
    expect(blocked).toMatchObject({ state: 'BLOCKED', block: { reason: 'asset_conflict' } });
    expect(holdsAsset(blocked)).toBe(false);
    const { due_at: _a, ...after } = await read(bench, second);
    const { due_at: _b, ...before } = untouched;
    expect(after).toEqual(before);
    expect(await lockOn(bench)).toMatchObject({ workflow: second, held: true });
    const rows = await bench.store.listOutbox(bench.tenant, first, 10);
    expect(rows).toMatchObject([{ payload: { kind: 'block', reason: 'asset_conflict' } }]);
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('work that lost its asset is not continued while somebody holds it, and takes it again afterwards', async () => {
    const bench = use();
    const first = await started(bench);
    await drift(bench, freed(bench));
    const second = await started(bench);
    later(bench);
    await sweep(bench);
    const { block } = await read(bench, first);
    const run = workOn(bench);
    const go = {
      type: 'resolve_block',
      workflow: first,
      block: block?.seq ?? 0,
      decision: 'continue',
      reason: 'it is needed',
    } as const;
    expect(await run(cara(bench), go)).toMatchObject({ code: 'ASSET_BUSY', holder: 'Ana' });
    expect(await run(cara(bench), { ...go, decision: 'retake' })).toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: [{ path: '/decision' }],
    });
    await run(ana(bench), { type: 'abandon_workflow', workflow: second, reason: 'x', tenure: 1 });
    expect(await run(cara(bench), go)).toMatchObject({
      code: 'OK',
      workflow: { state: 'RUNNING' },
    });
    const lock = await lockOn(bench);
    expect(lock).toMatchObject({ held: true, workflow: first, fence: 3 });
    expect((await read(bench, first)).fence).toBe(3);
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('R8: pointers that are missing, or were left with others, are rebuilt from the workflow, once', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const pointer = (subject: string) =>
      ({ kind: 'pointer', tenant, subject, workflow: id }) as const;
    await drift(bench, { op: 'delete', key: pointer('dev:ana'), expect: {} });
    expect(await store.listPointers(tenant, 'dev:ana', 10)).toEqual([]);
    later(bench);
    expect(await sweep(bench, { dryRun: true })).toEqual([`R8 found ${id}`]);
    expect(await sweep(bench)).toEqual([`R8 repaired ${id}`]);
    expect(await store.listPointers(tenant, 'dev:ana', 10)).toMatchObject([
      { workflow: id, asset: ASSET, procedure: 'sample' },
    ]);
    await drift(bench, {
      op: 'update',
      key: workflowKey(tenant, id),
      expect: {},
      set: { state: 'COMPLETED', result: 'completed', ended_seq: 1 },
    });
    later(bench);
    expect(await sweep(bench)).toEqual([`R4 repaired ${id}`, `R8 repaired ${id}`]);
    expect(await store.listPointers(tenant, 'dev:ana', 10)).toEqual([]);
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('R8: a broken trail is never rewritten; the work is frozen, and told of at each look until a person has looked', async () => {
    const bench = use();
    const { tenant } = bench;
    const id = await started(bench);
    const key = { kind: 'event', tenant, workflow: id, seq: 1 } as const;
    await drift(bench, { op: 'update', key, expect: {}, set: { hash: 'f'.repeat(64) } });
    const broken = (await bench.store.snapshot([key]))[0];
    later(bench);
    expect(await sweep(bench, { dryRun: true })).toEqual([`R8 found ${id}`]);
    expect((await read(bench, id)).frozen).toBeUndefined();
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
    expect((await bench.store.snapshot([key]))[0]).toEqual(broken);
    const input = { kind: 'choice', option: 'auto' } as const;
    const command = { type: 'record_step', workflow: id, step: 'mode', input } as const;
    expect(await workOn(bench)(ana(bench), command)).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: false,
      retryAfterMs: 1_000,
    });
    later(bench);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
  });

  test('the work of a procedure that this process lacks is not judged, and comes up again soon', async () => {
    const bench = use();
    const id = await started(bench);
    await drift(
      bench,
      {
        op: 'update',
        key: workflowKey(bench.tenant, id),
        expect: {},
        set: { procedure_version: 9 },
      },
      freed(bench),
    );
    later(bench);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
    expect((await read(bench, id)).due_at).toBe(bench.clock.now() + RECONCILE.laterMs);
    expect((await lockOn(bench))?.held).toBe(false);
  });

  test('after its end a workflow is looked at once more, and then no more', async () => {
    const bench = use();
    const id = await started(bench);
    await workOn(bench)(ana(bench), {
      type: 'abandon_workflow',
      workflow: id,
      reason: 'over',
      tenure: 1,
    });
    expect((await read(bench, id)).due_at).toBe(bench.clock.now() + RECONCILE.lastCheckMs);
    bench.clock.advance(RECONCILE.lastCheckMs);
    expect(await sweep(bench)).toEqual([]);
    expect(await read(bench, id)).not.toHaveProperty('due_at');
  });

  test('a sweep that nothing is due for takes no lease', async () => {
    const bench = use();
    const taken: string[] = [];
    const store: StorageBackend = {
      ...bench.store,
      listDue: () => Promise.resolve({ items: [] }),
      takeLease: (...args) => {
        taken.push('lease');
        return bench.store.takeLease(...args);
      },
    };
    const report = await sweeperOn(bench, store).sweep(0, { goOn: () => true });
    expect(report).toMatchObject({ end: 'idle', looked: 0 });
    expect(taken).toEqual([]);
  });

  test('of two sweepers one has the shard, and gives it back at its end', async () => {
    const bench = use();
    const { store, clock } = bench;
    await started(bench);
    later(bench);
    const until = clock.now() + 60_000;
    for (let shard = 0; shard < (await store.shards()); shard++) {
      const lease = await store.takeLease(shard, 'other', { now: clock.now(), until });
      expect(lease).toMatchObject({ shard, by: 'other' });
      expect(await store.takeLease(shard, 'third', { now: clock.now(), until })).toBeUndefined();
      if (lease === undefined) throw new Error('the lease is free');
      expect(await sweep(bench)).toEqual([]);
      const again = await store.takeLease(shard, 'other', { now: clock.now(), until });
      expect(again?.epoch).toBe(lease.epoch + 1);
      expect(await store.renewLease(lease, until)).toBeUndefined();
      expect(await store.releaseLease(lease)).toBe(false);
      if (again === undefined) throw new Error('it is the same holder');
      expect(await store.releaseLease(again)).toBe(true);
      const next = await store.takeLease(shard, 'third', { now: clock.now(), until });
      expect(next?.epoch).toBe(again.epoch + 1);
      if (next !== undefined) await store.releaseLease(next);
    }
  });

  test('a lease that a clock days ahead has left behind holds nobody up', async () => {
    const bench = use();
    const { store, clock } = bench;
    const day = 86_400_000;
    const ahead = { now: clock.now() + day, until: clock.now() + day + RECONCILE.leaseMs };
    const stale = await store.takeLease(0, 'ahead', ahead);
    const now = clock.now();
    const lease = await store.takeLease(0, 'other', { now, until: now + RECONCILE.leaseMs });
    if (stale === undefined || lease === undefined) throw new Error('the lease is free');
    expect(lease.epoch).toBe(stale.epoch + 1);
    expect(await store.renewLease(stale, ahead.until)).toBeUndefined();
    await store.releaseLease(lease);
  });

  test.each([
    ['R4', `R4 repaired`],
    ['R5', `R5 repaired`],
    ['R8', `R8 repaired`],
  ])(
    '%s: a sweeper that was overtaken in the middle of its repair changes nothing',
    async (rule) => {
      const bench = use();
      const { store, clock, tenant } = bench;
      const id = await started(bench);
      if (rule === 'R5') await drift(bench, freed(bench));
      else if (rule === 'R8') {
        const key = { kind: 'pointer', tenant, subject: 'dev:ana', workflow: id } as const;
        await drift(bench, { op: 'delete', key, expect: {} });
      } else {
        const set = { state: 'COMPLETED', result: 'completed', ended_seq: 1 };
        await drift(bench, { op: 'update', key: workflowKey(tenant, id), expect: {}, set });
      }
      later(bench);
      const before = await Promise.all([read(bench, id), lockOn(bench), eventsOf(bench, id)]);
      const paused: StorageBackend = {
        ...store,
        // It stands still right before its repair is sent, until its lease is over and taken.
        commit: async (transaction, deadlineMs) => {
          if (transaction.lease === undefined) return store.commit(transaction, deadlineMs);
          const now = clock.now() + RECONCILE.leaseMs + 1;
          const { shard } = transaction.lease;
          const other = await store.takeLease(shard, 'other', { now, until: now + 1 });
          expect(other?.epoch).toBe(transaction.lease.epoch + 1);
          const result = await store.commit(transaction, deadlineMs + RECONCILE.leaseMs);
          expect(result).toEqual({ ok: false, failed: [], leaseLost: true });
          return result;
        },
      };
      expect(await sweep(bench, { rules: [rule as 'R4'] }, sweeperOn(bench, paused))).toEqual([]);
      expect(await Promise.all([read(bench, id), lockOn(bench), eventsOf(bench, id)])).toEqual(
        before,
      );
      clock.advance(RECONCILE.leaseMs * 2);
      expect(await sweep(bench, { rules: [rule as 'R4'] })).toEqual([`${rule} repaired ${id}`]);
    },
  );

  test('a forced release blocks the holder, raises the fence, tells of it, and is undone by continue', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const release = () =>
      releaseLock(
        parts,
        { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
        { asset: 'unit-1', reason: 'fire' },
      );
    expect(await release()).toMatchObject({ code: 'RELEASED', workflow: id, name: 'Ana' });
    expect(await release()).toEqual({ code: 'FREE' });
    expect(await lockOn(bench)).toMatchObject({ held: false, fence: 2 });
    const blocked = await read(bench, id);
    expect(blocked).toMatchObject({ state: 'BLOCKED', block: { reason: 'lock_released' } });
    const [, event] = await eventsOf(bench, id);
    expect(event).toMatchObject({ type: 'lock_released', data: { reason: 'fire', fence: 1 } });
    expect(await store.listOutbox(tenant, id, 10)).toMatchObject([
      { payload: { kind: 'block', reason: 'lock_released' } },
    ]);
    // Somebody who knows nothing of it yet changes nothing.
    const run = workOn(bench);
    const input = { kind: 'choice', option: 'auto' } as const;
    expect(
      await run(ana(bench), { type: 'record_step', workflow: id, step: 'mode', input }),
    ).toMatchObject({ code: 'WORKFLOW_BLOCKED' });
    later(bench);
    expect(await sweep(bench)).toEqual([]);
    const seq = blocked.block?.seq ?? 0;
    const go = { type: 'resolve_block', workflow: id, block: seq, reason: 'over' } as const;
    const continued = { ...go, decision: 'continue' } as const;
    expect(await run(cara(bench), continued)).toMatchObject({
      code: 'OK',
      workflow: { state: 'RUNNING' },
    });
    expect(await run(cara(bench), continued)).toMatchObject({ code: 'OK', duplicate: true });
    expect(await lockOn(bench)).toMatchObject({ held: true, workflow: id, fence: 3 });
  });

  test('work that lost its asset is ended without touching the lock of whoever has it now', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const command = { asset: ASSET, reason: 'fire' };
    await releaseLock(
      parts,
      { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
      command,
    );
    const second = await started(bench);
    const held = await lockOn(bench);
    const { block } = await read(bench, id);
    const seq = block?.seq ?? 0;
    const end = { type: 'resolve_block', workflow: id, block: seq, reason: 'over' } as const;
    expect(await workOn(bench)(cara(bench), { ...end, decision: 'abandon' })).toMatchObject({
      code: 'OK',
      workflow: { state: 'COMPLETED', result: 'abandoned' },
    });
    expect(await lockOn(bench)).toEqual(held);
    expect(held).toMatchObject({ workflow: second });
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('a block by a deviation stands again once the asset is back', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const run = workOn(bench);
    const input = { kind: 'confirm', confirmed: false } as const;
    const no = { type: 'record_step', workflow: id, step: 'ready', input } as const;
    const asked = await run(ana(bench), no);
    if (asked.code !== 'NEEDS_CONFIRMATION') throw new Error(asked.code);
    await run(ana(bench), { ...no, confirmation: asked.state ?? '' });
    const { block } = await read(bench, id);
    expect(block).toMatchObject({ reason: 'deviation', step: 'ready' });
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const command = { asset: ASSET, reason: 'fire' };
    await releaseLock(
      parts,
      { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
      command,
    );
    const lost = (await read(bench, id)).block;
    expect(lost).toMatchObject({ reason: 'lock_released', earlier: block });
    const go = {
      type: 'resolve_block',
      workflow: id,
      reason: 'over',
      decision: 'continue',
    } as const;
    expect(await run(cara(bench), { ...go, block: lost?.seq ?? 0 })).toMatchObject({
      code: 'OK',
      workflow: { state: 'BLOCKED' },
    });
    const back = await read(bench, id);
    expect(back.block).toEqual(block);
    expect(await lockOn(bench)).toMatchObject({ held: true, workflow: id });
    expect(await run(cara(bench), { ...go, block: block?.seq ?? 0 })).toMatchObject({
      code: 'OK',
      workflow: { state: 'RUNNING' },
    });
  });

  test('an event that cannot be read does not end a sweep; its work is frozen', async () => {
    const bench = use();
    const { tenant } = bench;
    const id = await started(bench);
    const key = { kind: 'event', tenant, workflow: id, seq: 1 } as const;
    await drift(bench, { op: 'update', key, expect: {}, set: { text: 'no JSON' } });
    later(bench);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
    expect((await read(bench, id)).frozen).toBeDefined();
    later(bench);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
  });

  test('a repair that meets an event beyond the head freezes the work instead of trying for ever', async () => {
    const bench = use();
    const { tenant, store, clock } = bench;
    const id = await started(bench);
    const [event] = await store.snapshot([{ kind: 'event', tenant, workflow: id, seq: 1 }]);
    if (event === undefined) throw new Error('a start has an event');
    const key = { kind: 'event', tenant, workflow: id, seq: 2 } as const;
    await drift(bench, freed(bench), { op: 'create', key, item: { ...event, seq: 2 } });
    later(bench);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
    expect(await read(bench, id)).toMatchObject({
      frozen: { what: 'the trail does not verify: link at 2' },
      due_at: clock.now() + RECONCILE.checkMs,
    });
    expect((await lockOn(bench))?.held).toBe(false);
  });

  test('a look that fails by an error of the program holds up no other; it is told, and the error at the end', async () => {
    const bench = use();
    const { store, clock } = bench;
    const id = await started(bench);
    const other = await started(bench, 'UNIT-2');
    later(bench);
    let reads = 0;
    const failing: StorageBackend = {
      ...store,
      listEvents: (tenant, workflow, page) => {
        if (workflow !== id) return store.listEvents(tenant, workflow, page);
        reads += 1;
        return Promise.reject(new TypeError('a bug'));
      },
    };
    const errors: unknown[] = [];
    const by = sweeperOn(bench, failing);
    for (let shard = 0; shard < (await store.shards()); shard++) {
      await by.sweep(shard, { goOn: () => true }).catch((error: unknown) => errors.push(error));
    }
    expect(errors).toEqual([new TypeError('a bug')]);
    expect(reads).toBe(1);
    expect((await read(bench, id)).due_at).toBe(clock.now() + RECONCILE.laterMs);
    expect((await read(bench, other)).due_at).toBe(clock.now() + RECONCILE.checkMs);
    const { items } = await store.listFindings(bench.tenant, dayOf(clock.now()), { limit: 9 });
    expect(items.flatMap(({ findings }) => findings)).toEqual([
      {
        rule: 'R8',
        workflow: id,
        what: 'a look at it failed in a way that is not known',
        repaired: false,
      },
    ]);
  });

  test('a repair that is refused again and again is told and tried later, not first in every sweep', async () => {
    const bench = use();
    const { store, clock } = bench;
    const id = await started(bench);
    await drift(bench, freed(bench));
    later(bench);
    const refusing: StorageBackend = {
      ...store,
      commit: (transaction, deadlineMs) =>
        transaction.lease === undefined
          ? store.commit(transaction, deadlineMs)
          : Promise.resolve({ ok: false, failed: [], contended: true }),
    };
    expect(await sweep(bench, {}, sweeperOn(bench, refusing))).toEqual([`R5 found ${id}`]);
    expect((await read(bench, id)).due_at).toBe(clock.now() + RECONCILE.laterMs);
  });

  test.each([
    ['retryable', 'ITEM_DAMAGED'],
    ['terminal', 'PLAN_REFUSED'],
  ] as const)(
    'a notification with a %s fault %s holds up no other one and no repair, and is told at the end',
    async (kind, code) => {
      const bench = use();
      const { store, clock } = bench;
      const id = await started(bench);
      await drift(bench, freed(bench));
      const other = await started(bench, 'UNIT-2');
      const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
      const release = { asset: 'UNIT-2', reason: 'fire' };
      await releaseLock(
        parts,
        { principal: commandLine(bench.tenant), deadlineMs: clock.now() + 9_000 },
        release,
      );
      const third = await started(bench, 'UNIT-3');
      await releaseLock(
        parts,
        { principal: commandLine(bench.tenant), deadlineMs: clock.now() + 9_000 },
        { ...release, asset: 'UNIT-3' },
      );
      later(bench);
      const damaged: StorageBackend = {
        ...store,
        laneHead: (tenant, workflow, lane) =>
          workflow === other
            ? Promise.reject(new Fault(kind, code, 'planted'))
            : store.laneHead(tenant, workflow, lane),
      };
      const sweeper = sweeperOn(bench, damaged);
      let told = 0;
      for (let shard = 0; shard < (await store.shards()); shard++) {
        await sweeper.sweep(shard, { goOn: () => true }).catch((error: unknown) => {
          expect(error).toMatchObject({ code });
          told += 1;
        });
      }
      expect(told).toBe(1);
      expect(await store.listOutbox(bench.tenant, third, 10)).toEqual([]);
      expect(await store.listOutbox(bench.tenant, other, 10)).toHaveLength(1);
      expect((await lockOn(bench))?.workflow).toBe(id);
    },
  );

  test('a forced release takes a lock from its work under whatever fence it has', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    await drift(bench, {
      op: 'update',
      key: lockKey(tenant, ASSET),
      expect: {},
      set: { fence: 7 },
    });
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const command = { asset: ASSET, reason: 'fire' };
    expect(
      await releaseLock(
        parts,
        { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
        command,
      ),
    ).toMatchObject({ code: 'RELEASED', workflow: id });
    expect(await lockOn(bench)).toMatchObject({ held: false, fence: 8 });
    later(bench);
    expect(await sweep(bench)).toEqual([]);
  });

  test('the asset of frozen work can be released by force', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const frozen = { at: new Date(clock.now()).toISOString(), what: 'planted' };
    await drift(bench, {
      op: 'update',
      key: workflowKey(tenant, id),
      expect: {},
      set: { frozen, version: 2 },
    });
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const command = { asset: ASSET, reason: 'fire' };
    expect(
      await releaseLock(
        parts,
        { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
        command,
      ),
    ).toMatchObject({ code: 'RELEASED' });
    await started(bench);
    expect(await read(bench, id)).toMatchObject({ state: 'BLOCKED', frozen });
  });
}
