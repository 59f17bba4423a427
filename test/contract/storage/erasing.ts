import { expect, test } from '@jest/globals';
import { verifyWorkflow } from '../../../lib/core/audit.ts';
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
    expect(await verifyWorkflow(store, state)).not.toHaveProperty('fault');
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
