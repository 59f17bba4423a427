import { expect, test } from '@jest/globals';
import { storedBytes } from '../../../lib/core/keys.ts';
import type { OutboxRow, Slot, VaultRow, Workflow } from '../../../lib/core/model/workflow.ts';
import { compilePlan } from '../../../lib/core/plan.ts';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { ledgerOf, startPlan, workflowOf } from '../../support/plans.ts';
import { create, createWorkflow, faultOf, ledgerKey, workflowKey, type UseBench } from './bench.ts';

const ITEM_BYTES = 409_600;
const TRANSACTION_BYTES = 4_194_304;
const STATE_BYTES = 32_768;
const REFUSED = { kind: 'terminal', code: 'PLAN_REFUSED' };

const vaultKey = (tenant: string, seq: number) =>
  ({ kind: 'vault', tenant, workflow: 'w1', seq }) as const;

/** A vault row of exactly so many bytes in its table. */
function vaultRow(tenant: string, seq: number, bytes: number, fill = 'x'): Write {
  const key = vaultKey(tenant, seq);
  const row = (value: string): VaultRow => ({ format: 1, ...key, key: 'k', value });
  const { kind: _kind, ...empty } = row('') as VaultRow & { kind: unknown };
  const left = bytes - storedBytes(key, empty);
  const each = Buffer.byteLength(fill, 'utf8');
  const value = fill.repeat(Math.floor(left / each)) + 'x'.repeat(left % each);
  return create(key, { ...empty, value });
}

/** Every limit of the table that concerns storage, at the limit and one past it. */
export function limitCases(use: UseBench): void {
  test.each([
    ['one-byte', 'x'],
    ['three-byte', '語'],
    ['four-byte', '🔧'],
  ])(
    'an item of 409,600 bytes of %s characters is kept, one more byte is not',
    async (_w, fill) => {
      const { store, commit, tenant } = use();
      const fits = vaultRow(tenant, 1, ITEM_BYTES, fill);
      expect(await commit(fits)).toEqual({ ok: true });
      const [row] = await store.snapshot([vaultKey(tenant, 1)]);
      expect(fits.op === 'create' && fits.item).toEqual(row);
      expect(await faultOf(commit(vaultRow(tenant, 2, ITEM_BYTES + 1, fill)))).toMatchObject(
        REFUSED,
      );
      expect(await store.snapshot([vaultKey(tenant, 2)])).toEqual([undefined]);
    },
  );

  test('an item beyond the limit keeps the other items of its transaction out too', async () => {
    const { store, commit, tenant } = use();
    const writes = [createWorkflow({ tenant }), vaultRow(tenant, 1, ITEM_BYTES + 1)];
    expect(await faultOf(commit(...writes))).toMatchObject(REFUSED);
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('an update that makes an item too large is refused, and nothing changes', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { filler: 'x'.repeat(300_000) }));
    const write = (bytes: number): Write => ({
      op: 'update',
      key: workflowKey(tenant),
      expect: {},
      set: { version: 2, more: 'x'.repeat(bytes) },
    });
    expect(await faultOf(commit(write(200_000)))).toMatchObject(REFUSED);
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item?.version).toBe(1);
    expect(await commit(write(50_000))).toEqual({ ok: true });
  });

  test('a transaction of 4,194,304 bytes is kept, one more byte is not', async () => {
    const { store, commit, tenant } = use();
    const share = Math.floor(TRANSACTION_BYTES / 11);
    const rows = (total: number, from: number) =>
      Array.from({ length: 11 }, (_, i) =>
        vaultRow(tenant, from + i, i === 0 ? total - 10 * share : share),
      );
    expect(await faultOf(commit(...rows(TRANSACTION_BYTES + 1, 101)))).toMatchObject(REFUSED);
    expect(await store.snapshot([vaultKey(tenant, 101)])).toEqual([undefined]);
    expect(await commit(...rows(TRANSACTION_BYTES, 201))).toEqual({ ok: true });
  });

  test('small updates of large items, which may count with all that the items hold, are made or refused together', async () => {
    const { store, commit, tenant } = use();
    const ids = Array.from({ length: 12 }, (_, i) => `w${i}`);
    const filler = 'x'.repeat(380_000);
    for (const id of ids) await commit(createWorkflow({ tenant, id }, { filler }));
    const updates = ids.map((id): Write => {
      const set = { version: 2 };
      return { op: 'update', key: workflowKey(tenant, id), expect: {}, set };
    });
    const refused = await commit(...updates).then(
      ({ ok }) => !ok,
      (fault: unknown) => fault,
    );
    if (refused !== false) expect(refused).toMatchObject(REFUSED);
    const versions = [];
    for (const id of ids) {
      const [item] = await store.snapshot([workflowKey(tenant, id)]);
      versions.push(item?.version);
    }
    expect(new Set(versions)).toEqual(new Set([refused === false ? 2 : 1]));
    expect(await commit(...updates.slice(0, 10))).toEqual({ ok: true });
  });

  test('a transaction of 100 items is kept, of 101 or none is not', async () => {
    const { store, commit, tenant } = use();
    const rows = (count: number) =>
      Array.from({ length: count }, (_, i) => {
        const key = `k${i}`;
        return create(ledgerKey(tenant, key), ledgerOf(tenant, key, 1));
      });
    expect(await faultOf(commit(...rows(101)))).toMatchObject(REFUSED);
    expect(await faultOf(commit())).toMatchObject(REFUSED);
    expect(await store.snapshot([ledgerKey(tenant, 'k0')])).toEqual([undefined]);
    expect(await commit(...rows(100))).toEqual({ ok: true });
  });

  test('a snapshot of 100 items is read, of 101 is refused, of none is empty', async () => {
    const { store, tenant } = use();
    const keys = (count: number) =>
      Array.from({ length: count }, (_, i) => workflowKey(tenant, `w${i}`));
    expect(await store.snapshot(keys(100))).toHaveLength(100);
    expect(await faultOf(store.snapshot(keys(101)))).toMatchObject(REFUSED);
    expect(await store.snapshot([])).toEqual([]);
  });

  test('a snapshot that names one item twice is refused', async () => {
    const { store, tenant } = use();
    const keys = [workflowKey(tenant), workflowKey(tenant)] as const;
    expect(await faultOf(store.snapshot(keys))).toMatchObject(REFUSED);
  });

  test('a partition key of 2,048 bytes is kept, one more byte is not', async () => {
    const { store, commit, tenant } = use();
    const room = 2_048 - Buffer.byteLength(`T#${tenant}#W#`, 'utf8');
    const fits = 'x'.repeat(room);
    expect(await commit(createWorkflow({ tenant, id: fits }))).toEqual({ ok: true });
    const [item] = await store.snapshot([workflowKey(tenant, fits)]);
    expect(item?.id).toHaveLength(room);
    const longer = createWorkflow({ tenant, id: `${fits}x` });
    expect(await faultOf(commit(longer))).toMatchObject(REFUSED);
    expect(await store.snapshot([workflowKey(tenant, `${fits}x`)])).toEqual([undefined]);
  });

  test('the bytes of a key are counted in its encoded form', async () => {
    const { commit, tenant } = use();
    const room = Math.floor((2_048 - Buffer.byteLength(`T#${tenant}#W#`, 'utf8')) / 3);
    const id = '#'.repeat(room);
    expect(await commit(createWorkflow({ tenant, id }))).toEqual({ ok: true });
    expect(await faultOf(commit(createWorkflow({ tenant, id: `${id}#` })))).toMatchObject(REFUSED);
  });

  test('a sort key of 1,024 bytes is kept, one more byte is not', async () => {
    const { commit, tenant } = use();
    const row = (lane: string): Write => {
      const key = { kind: 'outbox', tenant, workflow: 'w1', lane, seq: 1 } as const;
      const { kind: _kind, ...names } = key;
      const rest = { id: 'o1', payload: {}, attempts: 0, due_at: 0 };
      const item: OutboxRow = { format: 1, ...names, ...rest };
      return create(key, item);
    };
    const lane = 'x'.repeat(1_024 - 'O##000000000001'.length);
    expect(await commit(row(lane))).toEqual({ ok: true });
    expect(await faultOf(commit(row(`${lane}x`)))).toMatchObject(REFUSED);
  });

  test('a state of 32,768 bytes is planned and kept, one more byte is not planned', async () => {
    const { store, clock, tenant } = use();
    const { workflow } = workflowOf({ tenant });
    const value = (bytes: number): Workflow => {
      const slot = (text: string): Slot => ({
        seq: 1,
        basis: 0,
        status: 'done',
        by: 'dev:ana',
        at: workflow.created_at,
        value: text,
      });
      const state = (text: string): Workflow => ({ ...workflow, steps: { one: slot(text) } });
      const spent =
        storedBytes(workflowKey(tenant), state('')) - storedBytes(workflowKey(tenant), {});
      return state('x'.repeat(bytes - spent - 3));
    };
    const plan = (bytes: number) =>
      compilePlan(startPlan({ tenant }, { aggregate: { op: 'create', state: value(bytes) } }));
    expect(() => plan(STATE_BYTES + 1)).toThrow('a state of 32769 bytes');
    expect(await store.commit(plan(STATE_BYTES), clock.now() + 10_000)).toEqual({ ok: true });
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([value(STATE_BYTES)]);
  });
}
