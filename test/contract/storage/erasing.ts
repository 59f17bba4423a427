import { expect, test } from '@jest/globals';
import { verifyRecord } from '../../../lib/core/audit.ts';
import { commandLine, eraseStep, type Erasure } from '../../../lib/core/erase.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { makeService, principal, type TestService } from '../../support/harness.ts';
import { beforeFirstCommit } from '../../support/store-hooks.ts';
import { workflowKey, type Bench, type UseBench } from './bench.ts';

/** A sensitive value can be erased from every record of a step, and the chain still verifies. */
export function erasingCases(use: UseBench): void {
  const begun = async (bench: Bench): Promise<TestService & { readonly workflow: string }> => {
    const service = makeService(bench.store, { clock: bench.clock });
    const start: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const { workflow } = (await service.ok(principal({ tenant: bench.tenant }), start)).receipt;
    return { ...service, workflow };
  };
  const say = async (bench: Bench, on: TestService, command: object): Promise<number> => {
    const full = { type: 'record_step', ...command } as Command;
    return (await on.ok(principal({ tenant: bench.tenant }), full)).receipt.seq;
  };
  const code = (workflow: string, text: string, replaces?: number) => ({
    type: replaces === undefined ? 'record_step' : 'correct_step',
    workflow,
    step: 'code',
    input: { kind: 'text', text },
    ...(replaces !== undefined && { replaces }),
  });
  const erase = (
    { clock, tenant, store }: Bench,
    workflow: string,
    step = 'code',
    on: StorageBackend = store,
  ): Promise<Erasure> => {
    const command = { workflow, step, reason: 'asked for by the person' };
    return eraseStep({ store: on, clock }, commandLine(tenant), command, clock.now() + 10_000);
  };
  const values = async ({ store, tenant }: Bench, workflow: string, seqs: readonly number[]) =>
    (
      await store.snapshot(seqs.map((seq) => ({ kind: 'vault', tenant, workflow, seq }) as const))
    ).map((row) => row?.value);

  test('the values of every record of a step go, with an event that says so', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const on = await begun(bench);
    const { workflow } = on;
    const first = await say(bench, on, code(workflow, 'four two'));
    const second = await say(bench, on, code(workflow, 'four three', first));
    expect(await erase(bench, workflow)).toEqual({
      code: 'ERASED',
      records: [first, second],
      purged: true,
    });
    expect(await values(bench, workflow, [first, second])).toEqual([undefined, undefined]);
    const [state] = await store.snapshot([workflowKey(tenant, workflow)]);
    const events = await store.listEvents(tenant, workflow, { after: second, limit: 10 });
    expect(events.map(eventBody)).toMatchObject([
      {
        type: 'value_erased',
        seq: 4,
        actor: { subject: 'system:cli', kind: 'service', via: 'cli' },
        data: { step: 'code', records: [2, 3], reason: 'asked for by the person' },
      },
    ]);
    expect(state).toMatchObject({ version: 4, head_seq: 4, state: 'RUNNING' });
    if (state === undefined) throw new Error('the workflow is gone');
    expect(await verifyRecord(store, state)).toMatchObject({ values: 0, faults: [] });
  });

  test('the records that keep a value are listed in order of their number, page by page', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    const on = await begun(bench);
    const { workflow } = on;
    const seqs = [await say(bench, on, code(workflow, 'number 0'))];
    for (let n = 1; n < 11; n++) {
      seqs.push(await say(bench, on, code(workflow, `number ${n}`, seqs.at(-1))));
    }
    const kept = (after: number, limit: number, owner = tenant, id = workflow) =>
      store.listVault(owner, id, { after, limit });
    expect(seqs).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await kept(0, 4)).toEqual([2, 3, 4, 5]);
    expect(await kept(5, 100)).toEqual([6, 7, 8, 9, 10, 11, 12]);
    expect(await kept(12, 4)).toEqual([]);
    expect(await kept(0, 4, otherTenant)).toEqual([]);
    expect(await kept(0, 4, tenant, `${workflow}x`)).toEqual([]);
    expect(await kept(0, 4, tenant, '')).toEqual([]);
    await erase(bench, workflow);
    expect(await kept(0, 100)).toEqual([]);
  });

  const vault = (bench: Bench, workflow: string, seq: number) =>
    ({ kind: 'vault', tenant: bench.tenant, workflow, seq }) as const;
  const faultsOf = async ({ store, tenant }: Bench, workflow: string) => {
    const [state] = await store.snapshot([workflowKey(tenant, workflow)]);
    if (state === undefined) throw new Error('the workflow is gone');
    return (await verifyRecord(store, state)).faults;
  };

  test('a value that was changed, lost, added or put back is found by verification', async () => {
    const bench = use();
    const { store } = bench;
    const on = await begun(bench);
    const { workflow } = on;
    const first = await say(bench, on, code(workflow, 'four two'));
    const second = await say(bench, on, code(workflow, 'four three', first));
    const third = await say(bench, on, code(workflow, 'four four', second));
    expect(await faultsOf(bench, workflow)).toEqual([]);
    const [row] = await store.snapshot([vault(bench, workflow, first)]);
    if (row === undefined) throw new Error('the value is gone');
    const at = (seq: number) => vault(bench, workflow, seq);
    await bench.commit(
      { op: 'update', key: at(first), expect: {}, set: { value: 'four nine' } },
      { op: 'update', key: at(second), expect: {}, set: { key: row.key } },
      { op: 'delete', key: at(third), expect: {} },
      { op: 'create', key: at(1), item: { ...row, seq: 1 } },
    );
    expect(await faultsOf(bench, workflow)).toEqual([
      { seq: 1, what: 'value_unnamed' },
      { seq: 2, what: 'value_changed' },
      { seq: 3, what: 'value_changed' },
      { seq: 4, what: 'value_missing' },
    ]);
    await bench.commit(
      { op: 'delete', key: at(1), expect: {} },
      { op: 'update', key: at(first), expect: {}, set: { value: 'four two' } },
    );
    expect(await erase(bench, workflow)).toMatchObject({ records: [first, second] });
    // What was lost before the erasure stays lost: no event says that it was erased.
    expect(await faultsOf(bench, workflow)).toEqual([{ seq: 4, what: 'value_missing' }]);
    await bench.commit({ op: 'create', key: at(first), item: row });
    expect(await faultsOf(bench, workflow)).toEqual([
      { seq: 2, what: 'value_not_erased' },
      { seq: 4, what: 'value_missing' },
    ]);
  });

  test.each([
    ['no key', { set: { value: 'x' }, remove: ['key'] }],
    ['a key that is none', { set: { key: 7 } }],
    ['no value', { set: { key: 'k' }, remove: ['value'] }],
  ])('a kept value with %s is found as unreadable', async (_what, change) => {
    const bench = use();
    const on = await begun(bench);
    const seq = await say(bench, on, code(on.workflow, 'four two'));
    await bench.commit({
      op: 'update',
      key: vault(bench, on.workflow, seq),
      expect: {},
      ...change,
    });
    expect(await faultsOf(bench, on.workflow)).toEqual([{ seq, what: 'value_unreadable' }]);
  });

  test('a value that is erased or recorded while its trail is verified is no fault', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const on = await begun(bench);
    const { workflow } = on;
    const first = await say(bench, on, code(workflow, 'four two'));
    const [state] = await store.snapshot([workflowKey(tenant, workflow)]);
    if (state === undefined) throw new Error('the workflow is gone');
    const meanwhile = [
      () => erase(bench, workflow),
      () => say(bench, on, code(workflow, 'four three', first)),
    ];
    const racing: StorageBackend = {
      ...store,
      listVault: async (...args) => {
        await meanwhile.shift()?.();
        return store.listVault(...args);
      },
    };
    expect(await verifyRecord(racing, state)).toMatchObject({ values: 1, faults: [] });
    expect(meanwhile).toEqual([]);
  });

  test('erasing again says so and writes nothing', async () => {
    const bench = use();
    const on = await begun(bench);
    await say(bench, on, code(on.workflow, 'four two'));
    await erase(bench, on.workflow);
    expect(await erase(bench, on.workflow)).toEqual({ code: 'ALREADY_ERASED', purged: true });
    const [state] = await bench.store.snapshot([workflowKey(bench.tenant, on.workflow)]);
    expect(state?.version).toBe(3);
  });

  test('a step without a sensitive value, and a workflow that is not there, are told apart', async () => {
    const bench = use();
    const on = await begun(bench);
    const remark = { step: 'remark', input: { kind: 'text', text: 'noisy' } };
    await say(bench, on, { workflow: on.workflow, ...remark });
    expect(await erase(bench, on.workflow, 'remark')).toEqual({ code: 'NEVER_SENSITIVE' });
    expect(await erase(bench, on.workflow, 'code')).toEqual({ code: 'NEVER_SENSITIVE' });
    expect(await erase(bench, 'nothing')).toEqual({ code: 'NOT_FOUND' });
    const foreign = { ...bench, tenant: bench.otherTenant };
    expect(await erase(foreign, on.workflow)).toEqual({ code: 'NOT_FOUND' });
  });

  test('a value recorded while an erasure is decided is erased too', async () => {
    const bench = use();
    const on = await begun(bench);
    const first = await say(bench, on, code(on.workflow, 'four two'));
    let second = 0;
    const racing = beforeFirstCommit(bench.store, async () => {
      second = await say(bench, on, code(on.workflow, 'four three', first));
    });
    expect(await erase(bench, on.workflow, 'code', racing)).toMatchObject({ records: [2, 3] });
    expect(await values(bench, on.workflow, [first, second])).toEqual([undefined, undefined]);
  });

  test('two erasures at once erase once', async () => {
    const bench = use();
    const on = await begun(bench);
    await say(bench, on, code(on.workflow, 'four two'));
    const racing = beforeFirstCommit(bench.store, () => erase(bench, on.workflow));
    expect(await erase(bench, on.workflow, 'code', racing)).toMatchObject({
      code: 'ALREADY_ERASED',
    });
    const events = await bench.store.listEvents(bench.tenant, on.workflow, { after: 0, limit: 10 });
    expect(events.map((event) => eventBody(event).type)).toEqual([
      'workflow_started',
      'step_recorded',
      'value_erased',
    ]);
  });

  test('an erased step can be recorded anew, and work goes on in a process that knew it', async () => {
    const bench = use();
    const on = await begun(bench);
    const { workflow } = on;
    const first = await say(bench, on, code(workflow, 'four two'));
    await erase(bench, workflow);
    const again = code(workflow, 'four two') as Command;
    const who = principal({ tenant: bench.tenant });
    expect(await on.execute(who, again)).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_recorded',
      replaces: first,
    });
    const next = await say(bench, on, code(workflow, 'four two', first));
    expect(await values(bench, workflow, [first, next])).toEqual([undefined, 'four two']);
  });

  test('a workflow at its end is erased too, and stays as it ended', async () => {
    const bench = use();
    const on = await begun(bench);
    const { workflow } = on;
    await say(bench, on, code(workflow, 'four two'));
    const end = { type: 'abandon_workflow', workflow, tenure: 1, reason: 'done' };
    await on.ok(principal({ tenant: bench.tenant }), end as Command);
    expect(await erase(bench, workflow)).toMatchObject({ code: 'ERASED', records: [2] });
    const [state] = await bench.store.snapshot([workflowKey(bench.tenant, workflow)]);
    expect(state).toMatchObject({ state: 'COMPLETED', result: 'abandoned', ended_seq: 3 });
  });

  test('more values than one transaction holds are erased in several', async () => {
    const bench = use();
    const on = await begun(bench);
    let last = await say(bench, on, code(on.workflow, 'number 0'));
    for (let n = 1; n < 92; n++) {
      last = await say(bench, on, code(on.workflow, `number ${n}`, last));
    }
    const erasure = await erase(bench, on.workflow);
    expect(erasure.code === 'ERASED' && erasure.records.length).toBe(92);
    const events = await bench.store.listEvents(bench.tenant, on.workflow, {
      after: last,
      limit: 10,
    });
    expect(events.map((event) => (eventBody(event).data['records'] as number[]).length)).toEqual([
      90, 2,
    ]);
  });
}
