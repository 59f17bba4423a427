import { expect, test } from '@jest/globals';
import { rowKey } from '../../../lib/core/dispatch/row.ts';
import type { OutboxRow } from '../../../lib/core/model/workflow.ts';
import type { DueItem, Write } from '../../../lib/core/ports/storage.ts';
import { lockOf, outboxOf } from '../../support/plans.ts';
import {
  create,
  createWorkflow,
  faultOf,
  workflowKey,
  type Bench,
  type UseBench,
} from './bench.ts';

/** The outbox as a table: heads of lanes, what is due, what is parked, and single-row bookkeeping. */
export function outboxCases(use: UseBench): void {
  const put = async ({ commit }: Bench, ...rows: readonly OutboxRow[]): Promise<void> => {
    await commit(...rows.map((row) => create(rowKey(row), row)));
  };
  const keep = ({ store, clock }: Bench, write: Write) => store.keep(write, clock.now() + 10_000);
  const read = async ({ store }: Bench, row: OutboxRow) => (await store.snapshot([rowKey(row)]))[0];

  /** What is due for the tenant of the test, over all shards and pages. */
  const due = async ({ store, tenant }: Bench, until: number, limit = 100) => {
    const found: DueItem[] = [];
    for (let shard = 0; shard < (await store.shards()); shard++) {
      let after: string | undefined;
      do {
        const at = { until, limit, ...(after !== undefined && { after }) };
        const page = await store.listDue(shard, at);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items.filter(({ key }) => key.tenant === tenant));
        after = page.next;
      } while (after !== undefined);
    }
    return found
      .map(({ key, due_at }) =>
        key.kind === 'outbox'
          ? `${due_at} ${key.workflow} ${key.lane} ${key.seq}`
          : `${due_at} ${key.id}`,
      )
      .toSorted();
  };

  test('the head of a lane is its first row that is not parked', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const names = { tenant };
    await put(
      bench,
      outboxOf(names, { seq: 2, parked_at: '2026-03-01T09:00:00.000Z' }),
      outboxOf(names, { seq: 10 }),
      outboxOf(names, { seq: 9 }),
      outboxOf(names, { seq: 1, lane: 'notify:other' }),
      outboxOf({ tenant, id: 'w2' }, { seq: 1 }),
    );
    expect((await store.laneHead(tenant, 'w1', 'notify:log'))?.seq).toBe(9);
    expect((await store.laneHead(tenant, 'w1', 'notify:other'))?.seq).toBe(1);
    expect(await store.laneHead(tenant, 'w1', 'notify')).toBeUndefined();
    expect(await store.laneHead(tenant, 'w3', 'notify:log')).toBeUndefined();
    expect(await store.laneHead(bench.otherTenant, 'w1', 'notify:log')).toBeUndefined();
  });

  test('a lane of parked rows alone has no head', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const parked_at = '2026-03-01T09:00:00.000Z';
    await put(
      bench,
      ...Array.from({ length: 30 }, (_, i) => outboxOf({ tenant }, { seq: i + 1, parked_at })),
    );
    expect(await store.laneHead(tenant, 'w1', 'notify:log')).toBeUndefined();
  });

  test('due rows are found up to the time asked for, each exactly once, whatever the page', async () => {
    const bench = use();
    const { tenant } = bench;
    const rows = Array.from({ length: 23 }, (_, i) =>
      outboxOf({ tenant, id: `w${i % 7}` }, { seq: i + 1, due_at: 1_000 + (i % 5) }),
    );
    await put(bench, ...rows);
    const expected = (until: number) =>
      rows
        .filter(({ due_at }) => due_at <= until)
        .map(({ due_at, workflow, lane, seq }) => `${due_at} ${workflow} ${lane} ${seq}`)
        .toSorted();
    for (const limit of [1, 4, 100]) {
      expect(await due(bench, 1_004, limit)).toEqual(expected(1_004));
    }
    expect(await due(bench, 1_002)).toEqual(expected(1_002));
    expect(await due(bench, 999)).toEqual([]);
  });

  test('due rows are found from a time on, up to the end of all time', async () => {
    const bench = use();
    const { store, tenant } = bench;
    await put(
      bench,
      outboxOf({ tenant, id: 'w1' }, { due_at: 1_000 }),
      outboxOf({ tenant, id: 'w2' }, { due_at: 2_000 }),
      outboxOf({ tenant, id: 'w3' }, { due_at: 253_402_300_799_999 }),
    );
    const found: string[] = [];
    for (let shard = 0; shard < (await store.shards()); shard++) {
      for (let after: string | undefined, more = true; more;) {
        const window = { from: 2_000, until: 253_402_300_799_999, limit: 1 };
        const page = await store.listDue(shard, {
          ...window,
          ...(after !== undefined && { after }),
        });
        for (const { key } of page.items) {
          if (key.tenant === tenant && key.kind === 'outbox') found.push(key.workflow);
        }
        after = page.next;
        more = after !== undefined;
      }
    }
    expect(found.toSorted()).toEqual(['w2', 'w3']);
  });

  test('a row is due when its time says so after every change, and no more once it is parked or gone', async () => {
    const bench = use();
    const row = outboxOf({ tenant: bench.tenant }, { due_at: 1_000 });
    const key = rowKey(row);
    const line = (at: number) => [`${at} w1 notify:log 1`];
    await put(bench, row);
    const change = (rev: number, set: object, remove: string[] = []) =>
      keep(bench, { op: 'update', key, expect: { rev }, set: { ...set, rev: rev + 1 }, remove });
    await change(0, { due_at: 5_000 });
    expect(await due(bench, 4_999)).toEqual([]);
    expect(await due(bench, 5_000)).toEqual(line(5_000));
    await change(1, { claim: { by: 'd1', until: 9_000 }, attempts: 1 });
    expect(await due(bench, 5_000)).toEqual(line(5_000));
    await change(2, { parked_at: '2026-03-01T09:00:00.000Z', error: 'refused' }, ['claim']);
    expect(await due(bench, 9_999)).toEqual([]);
    await change(3, { due_at: 7_000, attempts: 0 }, ['parked_at', 'error']);
    expect(await due(bench, 9_999)).toEqual(line(7_000));
    const { claim: _none, ...rest } = { ...row, claim: undefined };
    expect(await read(bench, row)).toEqual({ ...rest, due_at: 7_000, rev: 4 });
    await keep(bench, { op: 'delete', key, expect: { rev: 4 } });
    expect(await due(bench, 9_999)).toEqual([]);
  });

  test('parked rows are listed oldest first, each exactly once, and leave the list when sent again', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    const at = (second: string) => `2026-03-01T09:00:${second}.000Z`;
    const parked = ['03', '01', '02', '02'].map((second, i) =>
      outboxOf({ tenant, id: `w${i}` }, { parked_at: at(second) }),
    );
    await put(bench, ...parked, outboxOf({ tenant, id: 'w9' }));
    const pages = async (limit: number) => {
      const found: string[][] = [];
      let after: string | undefined;
      do {
        const page = await store.listParked(tenant, {
          limit,
          ...(after !== undefined && { after }),
        });
        found.push(page.items.map(({ workflow }) => workflow));
        after = page.next;
      } while (after !== undefined);
      return found.flat();
    };
    const listed = await pages(2);
    expect([listed[0], listed.slice(1, 3).toSorted(), listed[3]]).toEqual([
      'w1',
      ['w2', 'w3'],
      'w0',
    ]);
    expect(listed).toHaveLength(4);
    expect(await store.listParked(otherTenant, { limit: 10 })).toEqual({ items: [] });
    expect((await store.listTenantOutbox(tenant, 10)).map(({ workflow }) => workflow)).toEqual([
      'w9',
    ]);
    const [first] = parked;
    if (first === undefined) throw new Error('there are parked rows');
    await keep(bench, {
      op: 'update',
      key: rowKey(first),
      expect: { rev: 0 },
      set: { rev: 1 },
      remove: ['parked_at'],
    });
    expect(await pages(10)).not.toContain('w0');
  });

  test('a cursor of one list of the outbox is refused by the others', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    const parked_at = '2026-03-01T09:00:00.000Z';
    await put(
      bench,
      outboxOf({ tenant, id: 'w1' }, { parked_at }),
      outboxOf({ tenant, id: 'w2' }, { parked_at }),
    );
    const { next = '' } = await store.listParked(tenant, { limit: 1 });
    expect(next).not.toBe('');
    const refused = { name: 'InputError', faults: [{ path: '/cursor' }] };
    const list = { limit: 1, after: next };
    await expect(store.listParked(otherTenant, list)).rejects.toMatchObject(refused);
    await expect(store.listDue(0, { ...list, until: 1 })).rejects.toMatchObject(refused);
    await expect(store.listParked(tenant, { limit: 1, after: '!' })).rejects.toMatchObject(refused);
  });

  test.each([0, 101])('a page of %d rows is refused', async (limit) => {
    const { store, tenant } = use();
    const refused = { name: 'InputError', faults: [{ path: '/limit' }] };
    await expect(store.listDue(0, { until: 1, limit })).rejects.toMatchObject(refused);
    await expect(store.listParked(tenant, { limit })).rejects.toMatchObject(refused);
  });

  test('bookkeeping that expects an older revision changes nothing and is told the row as it is', async () => {
    const bench = use();
    const row = outboxOf({ tenant: bench.tenant });
    const key = rowKey(row);
    await put(bench, row);
    const claim = (by: string) =>
      keep(bench, {
        op: 'update',
        key,
        expect: { rev: 0 },
        set: { rev: 1, attempts: 1, claim: { by, until: 1 } },
      });
    expect(await claim('d1')).toEqual({ ok: true });
    const claimed = { ...row, rev: 1, attempts: 1, claim: { by: 'd1', until: 1 } };
    expect(await claim('d2')).toEqual({ ok: false, failed: [{ key, item: claimed }] });
    expect(await keep(bench, { op: 'delete', key, expect: { rev: 0 } })).toMatchObject({
      ok: false,
    });
    expect(await read(bench, row)).toEqual(claimed);
    expect(await keep(bench, { op: 'delete', key, expect: { rev: 1 } })).toEqual({ ok: true });
    expect(await read(bench, row)).toBeUndefined();
    expect(await claim('d3')).toEqual({ ok: false, failed: [{ key }] });
    expect(await read(bench, row)).toBeUndefined();
  });

  test('of 20 claims at once on one row, one holds', async () => {
    const bench = use();
    const row = outboxOf({ tenant: bench.tenant });
    await put(bench, row);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        keep(bench, {
          op: 'update',
          key: rowKey(row),
          expect: { rev: 0 },
          set: { rev: 1, attempts: 1, claim: { by: `d${i}`, until: 1 } },
        }),
      ),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('nothing but outbox rows is kept without a transaction', async () => {
    const bench = use();
    const { tenant } = bench;
    const row = outboxOf({ tenant });
    const refused: readonly Write[] = [
      createWorkflow({ tenant }),
      { op: 'update', key: workflowKey(tenant), expect: {}, set: { state: 'COMPLETED' } },
      { op: 'delete', key: { kind: 'event', tenant, workflow: 'w1', seq: 1 }, expect: {} },
      {
        op: 'update',
        key: { kind: 'lock', tenant, asset: 'A-1' },
        expect: { fence: lockOf({ tenant }).fence },
        set: { held: false },
      },
      create(rowKey(row), row),
      { op: 'check', key: rowKey(row), expect: {} },
    ];
    for (const write of refused) {
      expect(await faultOf(keep(bench, write))).toMatchObject({ code: 'PLAN_REFUSED' });
    }
  });

  test('bookkeeping is not begun after its deadline', async () => {
    const bench = use();
    const row = outboxOf({ tenant: bench.tenant });
    await put(bench, row);
    const late = bench.store.keep(
      { op: 'delete', key: rowKey(row), expect: { rev: 0 } },
      bench.clock.now(),
    );
    expect(await faultOf(late)).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await read(bench, row)).toEqual(row);
  });
}
