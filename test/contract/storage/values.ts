import { expect, test } from '@jest/globals';
import type { Json } from '../../../lib/core/json.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import { makeService, principal } from '../../support/harness.ts';
import { create, faultOf, workflowKey, createWorkflow, type UseBench } from './bench.ts';

/** Values come back exactly as they went in. */
export function valueCases(use: UseBench): void {
  test.each([
    0,
    1,
    -1,
    0.1,
    0.1 + 0.2,
    0.1234567890123456,
    Number('0.1234567890123456789'),
    -273.15,
    123456.789e-10,
    1e-7,
    1e-130,
    -1e-130,
    1e15 + 0.3,
    9_007_199_254_740_991,
    -9_007_199_254_740_991,
    4_503_599_627_370_495.5,
  ])('the number %d is kept exactly', async (value) => {
    const { store, commit, tenant } = use();
    const key = { kind: 'vault', tenant, workflow: 'w1', seq: 1 } as const;
    const item = { format: 1, tenant, workflow: 'w1', seq: 1, key: 'k', value };
    await commit(create(key, item));
    const [row] = await store.snapshot([key]);
    expect(Object.is(row?.value, value)).toBe(true);
    await commit(createWorkflow({ tenant }, { value }));
    const expectation = { op: 'check', key: workflowKey(tenant), expect: { value } } as const;
    expect(await commit(expectation)).toEqual({ ok: true });
  });

  test('minus zero is kept as zero, and is equal to it', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { n: -0, list: [-0] }));
    const [item] = await store.snapshot([workflowKey(tenant)]);
    const kept = item as unknown as { n: number; list: number[] };
    expect(Object.is(kept.n, 0)).toBe(true);
    expect(Object.is(kept.list[0], 0)).toBe(true);
    const key = workflowKey(tenant);
    expect(await commit({ op: 'check', key, expect: { n: -0 } })).toEqual({ ok: true });
    expect(await commit({ op: 'check', key, expect: { list: [0] } })).toEqual({ ok: true });
  });

  test.each<readonly [string, Json]>([
    ['empty text', ''],
    ['null', null],
    ['true', true],
    ['false', false],
    ['an empty list', []],
    ['an empty map', {}],
    ['a list of everything', [null, true, 0, '', [], {}]],
    ['nested maps', { a: { b: { c: { d: ['e', { f: null }] } } } }],
    ['text that looks like a number', '1.0'],
    ['text with a zero character', 'a\u0000b'],
    ['text with line breaks', 'a\r\nb\u2028c'],
    ['text beyond the basic plane', '🔧 \u{10ffff} e\u0301'],
    ['names of every kind', { '': 1, 'a.b': 2, 'a#b': 3, constructor: 4, é: 5, '🔧': 6 }],
    ['a name that objects have', { toString: 1, hasOwnProperty: 2 }],
    ['long text', 'x'.repeat(100_000)],
  ])('%s is kept exactly', async (_what, value) => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { value }));
    await commit({ op: 'update', key: workflowKey(tenant), expect: {}, set: { version: 2 } });
    const [item] = await store.snapshot([workflowKey(tenant)]);
    expect(item).toMatchObject({ version: 2 });
    expect((item as unknown as { value: Json }).value).toStrictEqual(value);
  });

  test('an item of a newer release is answered as a fault, and is not changed', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant }, { format: 2 }));
    const fault = { kind: 'retryable', code: 'FORMAT_TOO_NEW' };
    const key = workflowKey(tenant);
    expect(await faultOf(store.snapshot([key]))).toMatchObject(fault);
    expect(await faultOf(store.listWorkflows(tenant, 'CREATED', { limit: 5 }))).toMatchObject(
      fault,
    );
    const update = { op: 'update', key, expect: {}, set: { version: 2 } } as const;
    expect(await faultOf(commit(update))).toMatchObject(fault);
    const { execute } = makeService(store);
    const command: Command = { type: 'complete_workflow', workflow: 'w1' };
    expect(await execute(principal({ tenant }), command)).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1_000,
    });
  });

  test('a converted reading keeps what was said, in its record, its event and its receipt', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const start: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const { workflow } = (await ok(who, start)).receipt;
    const ready = { step: 'ready', input: { kind: 'confirm', confirmed: true } } as const;
    await ok(who, { type: 'record_step', workflow, ...ready });
    const input = { kind: 'spoken_reading', text: 'thirty psi' } as const;
    const record: Command = { type: 'record_step', workflow, step: 'inlet', input, key: 'k' };
    const kept = { value: 2.07, original: { value: 30, unit: 'psi' } };
    expect((await ok(who, record)).receipt).toMatchObject(kept);
    const [item] = await store.snapshot([workflowKey(tenant, workflow)]);
    expect(item?.steps['inlet']).toMatchObject(kept);
    const [event] = await store.listEvents(tenant, workflow, { after: 2, limit: 1 });
    expect(JSON.parse(event?.text ?? '')).toMatchObject({ data: kept });
    const other = makeService(await bench.reopen(), { clock, seed: 'other' });
    const { key: _key, ...keyless } = record;
    for (const repeat of [record, keyless]) {
      const again = await other.ok(who, repeat);
      expect([again.duplicate, again.receipt]).toMatchObject([true, kept]);
    }
  });

  test('a sensitive value is in its own item and in no other', async () => {
    const { store, clock, tenant } = use();
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const start: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const { workflow } = (await ok(who, start)).receipt;
    const input = { kind: 'text', text: 'four two' } as const;
    await ok(who, { type: 'record_step', workflow, step: 'code', input, key: 'k' });
    const vault = { kind: 'vault', tenant, workflow, seq: 2 } as const;
    const [row, item] = await store.snapshot([vault, workflowKey(tenant, workflow)]);
    expect(row?.value).toBe('four two');
    const events = await store.listEvents(tenant, workflow, { after: 0, limit: 10 });
    expect(JSON.stringify([item, events])).not.toContain('four two');
  });
}
