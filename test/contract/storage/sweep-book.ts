import { expect, test } from '@jest/globals';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { acknowledgeFaults } from '../../../lib/core/operations/acknowledge.ts';
import { overviewOf } from '../../../lib/core/overview.ts';
import { everyItem } from '../../../lib/core/pages.ts';
import type { Write } from '../../../lib/core/ports/storage.ts';
import type { SweepFindings } from '../../../lib/core/ports/sweeps.ts';
import { dayOf } from '../../../lib/core/instant.ts';
import { findingsOf, sweepDay, SweepTally } from '../../../lib/core/reconcile/notes.ts';
import type { Finding } from '../../../lib/core/reconcile/rules.ts';
import { createSweeper, type SweepOptions } from '../../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { makeService, principal, testRandom, testRegistry } from '../../support/harness.ts';
import { Fault } from '../../../lib/core/fault.ts';
import { faultOf, lockKey, workflowKey, type Bench, type UseBench } from './bench.ts';

const DAY_MS = 86_400_000;
const PLANTED = new Fault('retryable', 'BACKEND_UNAVAILABLE', 'planted');

/** What sweeps found, by day: kept for a while, and for whom it concerns. */
export function sweepBookCases(use: UseBench): void {
  let seed = 0;
  const sweep = async (
    { store, clock }: Bench,
    options: Partial<SweepOptions> = {},
  ): Promise<void> => {
    const random = testRandom(`book ${seed++}`);
    const dispatcher = createDispatcher({ store, clock, sinks: [], random });
    const parts = { store, clock, random, dispatcher, registry: testRegistry(), sinks: [] };
    for (let shard = 0; shard < (await store.shards()); shard++) {
      await createSweeper(parts).sweep(shard, { goOn: () => true, ...options });
    }
  };
  const started = async ({ store, clock, tenant }: Bench): Promise<string> => {
    const { service } = makeService(store, { clock, seed: `book work ${seed++}` });
    const command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' } as const;
    const outcome = await service.execute(principal({ tenant }), command, clock.now() + 9_000);
    if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
    return outcome.receipt.workflow;
  };
  const drift = async ({ commit }: Bench, ...writes: readonly Write[]): Promise<void> => {
    expect(await commit(...writes)).toEqual({ ok: true });
  };
  const lost = ({ tenant }: Bench): Write => ({
    op: 'update',
    key: lockKey(tenant, 'UNIT-1'),
    expect: {},
    set: { held: false },
    remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
  });
  const day = ({ clock }: Bench) => dayOf(clock.now());
  const kept = async ({ store, tenant, clock }: Bench, on?: string) => {
    const found: SweepFindings[] = [];
    const at = { day: on ?? dayOf(clock.now()), now: clock.now() };
    for await (const each of everyItem((page) => findingsOf(store, tenant, at, page))) {
      found.push(each);
    }
    return found;
  };
  const finding = (tenant: string, part: Partial<Finding> = {}): Finding => ({
    rule: 'R8',
    tenant,
    workflow: 'w1',
    what: 'drift',
    repaired: false,
    ...part,
  });
  const note = async (bench: Bench, findings: readonly Finding[], shard = 0): Promise<void> => {
    const tally = new SweepTally();
    for (const each of findings) tally.add(each);
    await bench.store.noteSweep(tally.note({ shard, end: 'done' }, bench.clock.now()));
  };

  test('many findings of one tenant hide none of another, and what was repaired hides nothing that was not', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    const tally = new SweepTally();
    const about = { rule: 'R6', what: 'overdue', repaired: true } as const;
    for (let n = 0; n < 150; n++) tally.add({ ...about, tenant: otherTenant, workflow: `w${n}` });
    const broken = { rule: 'R8', what: 'broken', repaired: false, workflow: 'w-broken' } as const;
    tally.add({ ...broken, tenant: otherTenant });
    tally.add({ ...broken, tenant });
    await store.noteSweep(tally.note({ shard: 0, end: 'done' }, bench.clock.now()));
    const findings = async (of: string) =>
      (await store.listFindings(of, day(bench), { limit: 9 })).items.flatMap((at) => at.findings);
    expect(await findings(tenant)).toEqual([broken]);
    const theirs = await findings(otherTenant);
    expect([theirs.length, theirs.at(-1)]).toEqual([100, broken]);
    expect(await store.countFindings(otherTenant, day(bench))).toEqual([
      { rule: 'R6', found: 150, repaired: 150 },
      { rule: 'R8', found: 1, repaired: 0 },
    ]);
  });

  test('a sweep puts down what each rule found and repaired; a dry run puts down nothing', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    await drift(bench, lost(bench));
    clock.advance(RECONCILE.checkMs);
    const before = await store.listSweeps(day(bench));
    await sweep(bench, { dryRun: true });
    expect(await store.listSweeps(day(bench))).toEqual(before);
    expect(await kept(bench)).toEqual([]);
    await sweep(bench);
    expect(await kept(bench)).toEqual([
      {
        at: expect.any(String),
        shard: expect.any(Number),
        findings: [{ rule: 'R5', workflow: id, what: expect.any(String), repaired: true }],
      },
    ]);
    const { shards, counts } = await sweepDay(store, tenant, day(bench), clock.now());
    expect(counts).toEqual([{ rule: 'R5', found: 1, repaired: 1 }]);
    const at = new Date(clock.now()).toISOString();
    expect(shards).toContainEqual(expect.objectContaining({ last_at: at, last_end: 'done' }));
  });

  test('a repair without an aggregate is a finding', async () => {
    const bench = use();
    const { clock, tenant } = bench;
    const id = await started(bench);
    const other = { ...lockKey(tenant, 'UNIT-1') };
    await drift(bench, {
      op: 'update',
      key: other,
      expect: {},
      set: { workflow: 'gone' },
    });
    clock.advance(RECONCILE.checkMs);
    await sweep(bench);
    const found = (await kept(bench)).flatMap(({ findings }) => findings);
    expect(found).toContainEqual({
      rule: 'R4',
      workflow: id,
      what: 'the lock of UNIT-1 names a workflow that is gone',
      repaired: true,
    });
  });

  test('frozen work is a finding of each look until a person has looked, and stands in the overview', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const set = { text: '{}' };
    const key = { kind: 'event', tenant, workflow: id, seq: 1 } as const;
    await drift(bench, { op: 'update', key, expect: {}, set });
    for (let n = 1; n <= 2; n++) {
      clock.advance(RECONCILE.checkMs);
      await sweep(bench);
      expect((await kept(bench)).length).toBe(n);
    }
    const overview = await overviewOf(store, tenant, 10, clock.now());
    expect(overview.findings).toEqual({
      items: [
        {
          rule: 'R8',
          workflow: id,
          what: 'the trail does not verify: hash at 1',
          repaired: false,
        },
      ],
      more: false,
    });
    // Other work of the same store may have been swept later on this day.
    expect(overview.sweptAt?.localeCompare(new Date(clock.now()).toISOString())).not.toBe(-1);
    expect(overview.sweptAt).toBeDefined();
    clock.advance(1);
    const asked = { principal: principal({ tenant }), deadlineMs: clock.now() + 9_000 };
    const command = { workflow: id, reason: 'seen' };
    const look = await acknowledgeFaults(bench, asked, command);
    const seen = look.code === 'FROZEN' ? look.seen : '';
    const done = await acknowledgeFaults(bench, asked, { ...command, seen });
    expect(done).toMatchObject({ code: 'ACKNOWLEDGED' });
    expect((await overviewOf(store, tenant, 10, clock.now())).findings.items).toEqual([]);
    await drift(bench, { op: 'delete', key: workflowKey(tenant, id), expect: {} });
  });

  test('counts add up over sweeps and shards, and findings come in the order of time', async () => {
    const bench = use();
    const { store, tenant } = bench;
    await note(bench, [finding(tenant), finding(tenant, { rule: 'R5', repaired: true })], 1);
    bench.clock.advance(1);
    await note(bench, [finding(tenant, { workflow: 'w2' })], 0);
    bench.clock.advance(1);
    await note(bench, [finding(tenant, { workflow: 'w3', repaired: true })], 1);
    expect(await store.countFindings(tenant, day(bench))).toEqual([
      { rule: 'R5', found: 1, repaired: 1 },
      { rule: 'R8', found: 3, repaired: 1 },
    ]);
    expect((await kept(bench)).map(({ findings }) => findings.at(0)?.workflow)).toEqual([
      'w1',
      'w2',
      'w3',
    ]);
  });

  test('a tenant is told of its own findings only', async () => {
    const bench = use();
    const { store, clock, tenant, otherTenant } = bench;
    await note(bench, [finding(tenant), finding(otherTenant, { workflow: 'theirs' })]);
    expect(JSON.stringify(await kept(bench))).not.toContain('theirs');
    expect((await sweepDay(store, tenant, day(bench), clock.now())).counts).toEqual([
      { rule: 'R8', found: 1, repaired: 0 },
    ]);
    const [own] = (await kept(bench)).flatMap(({ findings }) => findings);
    expect(own).toEqual({ rule: 'R8', workflow: 'w1', what: 'drift', repaired: false });
  });

  test('pages go on where they ended, and a cursor of another day or tenant is refused', async () => {
    const bench = use();
    const { store, clock, tenant, otherTenant } = bench;
    for (let n = 0; n < 5; n++) {
      clock.advance(1);
      await note(bench, [finding(tenant, { workflow: `w${n}` })]);
    }
    const on = day(bench);
    const first = await store.listFindings(tenant, on, { limit: 2 });
    expect(first.items).toHaveLength(2);
    const after = first.next ?? '';
    const second = await store.listFindings(tenant, on, { limit: 2, after });
    expect(second.items.flatMap(({ findings }) => findings[0]?.workflow)).toEqual(['w2', 'w3']);
    const last = await store.listFindings(tenant, on, { limit: 2, after: second.next ?? '' });
    expect([last.items.length, last.next]).toEqual([1, undefined]);
    for (const [of, at] of [
      [otherTenant, on],
      [tenant, dayOf(clock.now() - DAY_MS)],
    ] as const) {
      await expect(store.listFindings(of, at, { limit: 2, after })).rejects.toThrow('/cursor');
    }
    await expect(store.listFindings(tenant, on, { limit: 0 })).rejects.toThrow('/limit');
  });

  test('a day is told for thirty days, and no longer', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    await note(bench, [finding(tenant)]);
    const on = day(bench);
    clock.advance(30 * DAY_MS);
    expect(await kept(bench, on)).toHaveLength(1);
    clock.advance(DAY_MS);
    expect(await kept(bench, on)).toEqual([]);
    expect(await sweepDay(store, tenant, on, clock.now())).toEqual({
      day: on,
      shards: [],
      counts: [],
    });
  });

  test('a sweep whose note cannot be written fails, and its repairs stand', async () => {
    const bench = use();
    const { clock, store, tenant } = bench;
    const id = await started(bench);
    await drift(bench, lost(bench));
    clock.advance(RECONCILE.checkMs);
    const deaf = {
      ...bench,
      store: { ...store, noteSweep: () => Promise.reject(PLANTED) },
    };
    expect(await faultOf(sweep(deaf))).toBe(PLANTED);
    const [lock] = await store.snapshot([lockKey(tenant, 'UNIT-1')]);
    expect(lock).toMatchObject({ held: true, workflow: id });
  });
}
