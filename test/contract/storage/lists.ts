import { expect, test } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import { InputError } from '../../../lib/core/input-error.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type { Page } from '../../../lib/core/ports/storage.ts';
import { makeService, principal } from '../../support/harness.ts';
import { startTransaction } from '../../support/plans.ts';
import { createWorkflow, workflowKey, type Bench, type UseBench } from './bench.ts';

type GetPage = (after: string | undefined) => Promise<Page<Workflow>>;

/** Follows a list to its end; answers the ids page by page. */
async function pages(get: GetPage): Promise<string[][]> {
  const found: string[][] = [];
  let after: string | undefined;
  do {
    const page = await get(after);
    found.push(page.items.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  return found;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

/** Lists, pages and cursors. */
export function listCases(use: UseBench): void {
  const inState =
    ({ store, tenant }: Bench, limit: number, state: Workflow['state'] = 'CREATED'): GetPage =>
    (after) =>
      store.listWorkflows(tenant, state, { limit, ...(after !== undefined && { after }) });

  const filled = async (bench: Bench, count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, (_, i) => `w${String(i).padStart(2, '0')}`);
    const { tenant } = bench;
    await bench.commit(...ids.map((id) => createWorkflow({ tenant, id })));
    return ids;
  };

  test('workflows are listed page by page, each exactly once', async () => {
    const bench = use();
    const ids = await filled(bench, 7);
    expect(await pages(inState(bench, 3))).toEqual([ids.slice(0, 3), ids.slice(3, 6), ['w06']]);
  });

  test('exactly as many workflows as fit leave an empty page at most', async () => {
    const bench = use();
    const ids = await filled(bench, 20);
    const [first, ...rest] = await pages(inState(bench, 20));
    expect(first).toEqual(ids);
    expect(rest.flat()).toEqual([]);
    expect(rest.length).toBeLessThanOrEqual(1);
  });

  test('an empty list has one empty page', async () => {
    expect(await inState(use(), 5)(undefined)).toEqual({ items: [] });
  });

  test('workflows are listed oldest first, and of one time by id', async () => {
    const bench = use();
    const { tenant } = bench;
    const at = (second: number) => ({ created_at: `2026-03-01T09:00:0${second}.000Z` });
    await bench.commit(
      createWorkflow({ tenant, id: 'd' }, at(1)),
      createWorkflow({ tenant, id: 'a' }, at(3)),
      createWorkflow({ tenant, id: 'c' }, at(2)),
      createWorkflow({ tenant, id: 'b' }, at(2)),
    );
    expect(await pages(inState(bench, 1))).toEqual([['d'], ['b'], ['c'], ['a']]);
  });

  test('a workflow is listed in the state it is in, as its record says', async () => {
    const bench = use();
    await filled(bench, 3);
    const set = { state: 'BLOCKED', version: 2 };
    await bench.commit({ op: 'update', key: workflowKey(bench.tenant, 'w01'), expect: {}, set });
    expect((await pages(inState(bench, 10))).flat()).toEqual(['w00', 'w02']);
    const blocked = await inState(bench, 10, 'BLOCKED')(undefined);
    expect(blocked.items.map(({ id, version }) => ({ id, version }))).toEqual([
      { id: 'w01', version: 2 },
    ]);
  });

  test('a workflow that leaves the state between two pages moves no other', async () => {
    const bench = use();
    await filled(bench, 6);
    const first = await inState(bench, 2)(undefined);
    const set = { state: 'COMPLETED' };
    await bench.commit({ op: 'update', key: workflowKey(bench.tenant, 'w01'), expect: {}, set });
    const second = await inState(bench, 2)(first.next);
    expect(second.items.map(({ id }) => id)).toEqual(['w02', 'w03']);
  });

  test('a scan of trails finds those with a record and those whose record is gone', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const ids = await filled(bench, 3);
    const orphan = { format: 1, tenant, workflow: 'orphan', seq: 1, text: '{}', hash: 'h' };
    const key = { kind: 'event', tenant, workflow: 'orphan', seq: 1 } as const;
    await store.commit({ writes: [{ op: 'create', key, item: orphan }] }, clock.now() + 10_000);
    const mine: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.scanTrails({ limit: 2, ...(after !== undefined && { after }) });
      mine.push(...page.items.filter((one) => one.tenant === tenant).map((one) => one.workflow));
      after = page.next;
    } while (after !== undefined);
    expect(mine.toSorted()).toEqual([...ids, 'orphan'].toSorted());
  });

  test('a scan finds every workflow of every tenant exactly once', async () => {
    const bench = use();
    const { store, clock, tenant, otherTenant } = bench;
    const ids = await filled(bench, 7);
    await store.commit(startTransaction({ tenant: otherTenant }), clock.now() + 10_000);
    const found = await pages((after) =>
      store.scanWorkflows({ limit: 3, ...(after !== undefined && { after }) }),
    );
    // A shared store may hold workflows of other tests.
    expect(found.flat().filter((id) => ids.includes(id)).length).toBeGreaterThanOrEqual(7);
    let after: string | undefined;
    const mine: string[] = [];
    do {
      const page = await store.scanWorkflows({ limit: 4, ...(after !== undefined && { after }) });
      const owned = page.items.filter((item) => [tenant, otherTenant].includes(item.tenant));
      mine.push(...owned.map((item) => `${item.tenant} ${item.id}`));
      after = page.next;
    } while (after !== undefined);
    const all = [...ids.map((id) => `${tenant} ${id}`), `${otherTenant} w1`];
    expect(mine.toSorted()).toEqual(all.toSorted());
  });

  test.each([
    ['text of another kind', '0'],
    ['an escape', '%21'],
    ['nothing', ''],
    ['a list of something else', base64('["x"]')],
    ['null', base64('null')],
    ['a number', base64('7')],
    ['an object', base64('{"pk":"T#a"}')],
    ['text that is not JSON', base64('not json')],
    ['one megabyte', 'A'.repeat(1_048_576)],
    ['half of a character pair', '\ud800'],
  ])('a cursor that is %s is refused', async (_what, cursor) => {
    const bench = use();
    await filled(bench, 2);
    const refused = { name: 'InputError', faults: [{ path: '/cursor' }] };
    await expect(inState(bench, 1)(cursor)).rejects.toMatchObject(refused);
    const scan = bench.store.scanWorkflows({ limit: 1, after: cursor });
    await expect(scan).rejects.toMatchObject(refused);
    await expect(scan).rejects.toBeInstanceOf(InputError);
  });

  test('a cursor of another list is refused', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    await filled(bench, 3);
    const { next = '' } = await inState(bench, 1)(undefined);
    const scanned = await store.scanWorkflows({ limit: 1 });
    const refused = { name: 'InputError' };
    expect(next).not.toBe('');
    const at = { limit: 1, after: next };
    await expect(store.listWorkflows(otherTenant, 'CREATED', at)).rejects.toMatchObject(refused);
    await expect(store.listWorkflows(tenant, 'BLOCKED', at)).rejects.toMatchObject(refused);
    await expect(store.scanWorkflows(at)).rejects.toMatchObject(refused);
    await expect(inState(bench, 1)(scanned.next)).rejects.toMatchObject(refused);
  });

  test.each(['!', 'A', '=', ' ', '\n'])('a cursor with a stray %j is refused', async (stray) => {
    const bench = use();
    await filled(bench, 3);
    const { next = '' } = await inState(bench, 1)(undefined);
    const refused = { name: 'InputError' };
    await expect(inState(bench, 1)(`${next}${stray}`)).rejects.toMatchObject(refused);
    await expect(inState(bench, 1)(`${stray}${next}`)).rejects.toMatchObject(refused);
    await expect(inState(bench, 1)(next.slice(0, -1))).rejects.toMatchObject(refused);
  });

  test.each([0, -1, 1.5, 101, Number.NaN])('a page of %d rows is refused', async (limit) => {
    const { store, tenant } = use();
    const refused = { name: 'InputError', faults: [{ path: '/limit' }] };
    const lists = [
      store.listWorkflows(tenant, 'CREATED', { limit }),
      store.scanWorkflows({ limit }),
      store.listEvents(tenant, 'w1', { after: 0, limit }),
      store.listVault(tenant, 'w1', { after: 0, limit }),
      store.listOutbox(tenant, 'w1', limit),
      store.listPointers(tenant, 'dev:ana', limit),
    ];
    for (const list of lists) await expect(list).rejects.toMatchObject(refused);
  });

  test('pointers are listed oldest first, and at most as many as asked for', async () => {
    const { commit, store, tenant } = use();
    const since = ['09:00:03', '09:00:01', '09:00:02', '09:00:02'];
    const pointers = since.map((time, i) => ({
      format: 1,
      tenant,
      subject: 'dev:ana',
      workflow: `w${i}`,
      asset: 'A-1',
      procedure: 'short',
      since: `2026-03-01T${time}.000Z`,
    }));
    await commit(
      ...pointers.map((item) => {
        const { subject, workflow } = item;
        return { op: 'create', key: { kind: 'pointer', tenant, subject, workflow }, item } as const;
      }),
    );
    const list = async (limit: number) =>
      (await store.listPointers(tenant, 'dev:ana', limit)).map(({ workflow }) => workflow);
    expect(await list(10)).toEqual(['w1', 'w2', 'w3', 'w0']);
    expect(await list(2)).toEqual(['w1', 'w2']);
  });

  test('assets are listed in order of their bytes, held or free, and at most as many as asked for', async () => {
    const { commit, store, tenant, otherTenant } = use();
    const names = ['B-1', 'a-1', 'A-10', 'A-2', 'Ä-1', '\u{1F527}', '\uFF21'];
    const rowOf = (owner: string, asset: string, held: boolean) => {
      const item = { format: 1, tenant: owner, asset, fence: 1, held };
      return { op: 'create', key: { kind: 'lock', tenant: owner, asset }, item } as const;
    };
    await commit(...names.map((asset, i) => rowOf(tenant, asset, i % 2 === 0)));
    await commit(rowOf(otherTenant, 'A-3', true));
    const order = ['A-10', 'A-2', 'B-1', 'a-1', 'Ä-1', '\uFF21', '\u{1F527}'];
    expect(await store.listAssets(tenant, 1_000)).toEqual(order);
    expect(await store.listAssets(tenant, 2)).toEqual(['A-10', 'A-2']);
    expect(await store.listAssets(otherTenant, 1)).toEqual(['A-3']);
  });

  test('an asset is listed once its first workflow has ended, and no asset is listed before', async () => {
    const { store, clock, tenant } = use();
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    expect(await store.listAssets(tenant, 10)).toEqual([]);
    const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'a-1' };
    const { workflow } = (await ok(who, start)).receipt;
    await ok(who, { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' });
    expect(await store.listAssets(tenant, 10)).toEqual(['A-1']);
  });

  test('a refused start is answered with near assets of its tenant, and starts nothing', async () => {
    const { store, clock, tenant, otherTenant } = use();
    const { ok, execute } = makeService(store, { clock });
    const who = principal({ tenant });
    const start = (asset: string): Command => ({
      type: 'start_workflow',
      procedure: 'sample',
      asset,
    });
    await ok(who, start('WARD-41'));
    await ok(principal({ tenant: otherTenant }), start('WARD-40'));
    expect(await execute(who, start('ward forty'))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      suggestions: ['WARD-41'],
    });
    expect(await store.listAssets(tenant, 10)).toEqual(['WARD-41']);
  });

  test.each([0, -1, 1.5, 1_001, Number.NaN])('a list of %d assets is refused', async (limit) => {
    const { store, tenant } = use();
    const refused = { name: 'InputError', faults: [{ path: '/limit' }] };
    await expect(store.listAssets(tenant, limit)).rejects.toMatchObject(refused);
  });

  test('outbox rows are listed by lane and then by number, not by text', async () => {
    const { commit, store, tenant } = use();
    const places = [
      ['b', 2],
      ['a', 10],
      ['a', 9],
      ['b', 1],
    ] as const;
    await commit(
      ...places.map(([lane, seq]) => {
        const rest = { id: `${lane}${seq}`, payload: {}, rev: 0, attempts: 0, due_at: 0 };
        const item = { format: 1, tenant, workflow: 'w1', lane, seq, ...rest };
        const key = { kind: 'outbox', tenant, workflow: 'w1', lane, seq } as const;
        return { op: 'create', key, item } as const;
      }),
    );
    const list = async (limit: number) =>
      (await store.listOutbox(tenant, 'w1', limit)).map(({ id }) => id);
    expect(await list(10)).toEqual(['a9', 'a10', 'b1', 'b2']);
    expect(await list(3)).toEqual(['a9', 'a10', 'b1']);
  });

  test('fifty events of one moment are walked in order in pages of seven', async () => {
    const { store, clock, tenant } = use();
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const ids: string[] = [];
    for (const asset of ['UNIT-1', 'UNIT-2']) {
      const start: Command = { type: 'start_workflow', procedure: 'sample', asset };
      ids.push((await ok(who, start)).receipt.workflow);
    }
    for (let seq = 2; seq <= 50; seq++) {
      for (const workflow of ids) {
        const value = seq / 4;
        const step = { workflow, step: 'outlet', input: { kind: 'reading', value } } as const;
        if (seq === 2) await ok(who, { type: 'record_step', ...step });
        else await ok(who, { type: 'correct_step', ...step, replaces: seq - 1 });
      }
    }
    for (const workflow of ids) {
      const seen: number[] = [];
      let after = 0;
      for (;;) {
        const page = await store.listEvents(tenant, workflow, { after, limit: 7 });
        seen.push(...page.map(({ seq }) => seq));
        expect(page.every((event) => event.workflow === workflow)).toBe(true);
        expect(new Set(page.map((event) => eventBody(event).at)).size).toBeLessThanOrEqual(1);
        if (page.length === 0) break;
        after = page.at(-1)?.seq ?? 0;
      }
      expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    }
  });
}
