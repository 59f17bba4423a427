import { expect, test } from '@jest/globals';
import { openFaults, verifyRecord } from '../../../lib/core/audit.ts';
import { commandLine, eraseStep } from '../../../lib/core/erase.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { Items, Write } from '../../../lib/core/ports/storage.ts';
import { acknowledgeFaults } from '../../../lib/core/operations/acknowledge.ts';
import { repairTorn } from '../../../lib/core/operations/torn.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { makeService, principal, testRandom, testRegistry } from '../../support/harness.ts';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { workflowKey, type Bench, type UseBench } from './bench.ts';

/** Trails that no rule may put right: torn ones, and broken ones that a person has looked at. */
export function trailCases(use: UseBench): void {
  let seed = 0;
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const asked = ({ tenant, clock }: Bench, key?: string) => ({
    principal: commandLine(tenant),
    deadlineMs: clock.now() + 9_000,
    ...(key !== undefined && { key: { text: key, secrets: secrets(tenant) } }),
  });
  const worker = (bench: Bench) => {
    const { service } = makeService(bench.store, { clock: bench.clock, seed: `trail ${seed++}` });
    return (command: Parameters<typeof service.execute>[1]) =>
      service.execute(principal({ tenant: bench.tenant }), command, bench.clock.now() + 10_000);
  };
  const started = async (bench: Bench): Promise<string> => {
    const outcome = await worker(bench)({
      type: 'start_workflow',
      procedure: 'sample',
      asset: 'UNIT-1',
    });
    if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
    return outcome.receipt.workflow;
  };
  const read = async ({ store, tenant }: Bench, id: string) => {
    const [workflow] = await store.snapshot([workflowKey(tenant, id)]);
    if (workflow === undefined) throw new Error('there is no workflow');
    return workflow;
  };
  const say = (bench: Bench, id: string, text: string) =>
    worker(bench)({
      type: 'record_step',
      workflow: id,
      step: 'code',
      input: { kind: 'text', text },
    });
  const eventsOf = async ({ store, tenant }: Bench, id: string) =>
    (await store.listEvents(tenant, id, { after: 0, limit: 100 })).map(eventBody);
  const change = async ({ commit }: Bench, ...writes: readonly Write[]): Promise<void> => {
    expect(await commit(...writes)).toEqual({ ok: true });
  };
  /** Puts the record of a workflow back to what it was, as a torn restore does. */
  const putBack = async (bench: Bench, was: Items['workflow']): Promise<void> => {
    const key = workflowKey(bench.tenant, was.id);
    await change(bench, { op: 'delete', key, expect: {} });
    await change(bench, { op: 'create', key, item: was });
  };
  const eventKey = ({ tenant }: Bench, workflow: string, seq: number) =>
    ({ kind: 'event', tenant, workflow, seq }) as const;
  const sweep = async ({ store, clock }: Bench): Promise<void> => {
    const random = testRandom(`trail sweep ${seed++}`);
    const dispatcher = createDispatcher({ store, clock, sinks: [], random });
    const parts = { store, clock, random, dispatcher, registry: testRegistry(), sinks: [] };
    for (let shard = 0; shard < (await store.shards()); shard++) {
      await createSweeper(parts).sweep(shard, { goOn: () => true });
    }
  };
  const confirm = (bench: Bench, id: string) =>
    worker(bench)({
      type: 'record_step',
      workflow: id,
      step: 'ready',
      input: { kind: 'confirm', confirmed: true },
    });

  test('a torn trail refuses work until its stray events are moved aside, each kept whole in an event', async () => {
    const bench = use();
    const id = await started(bench);
    const was = await read(bench, id);
    expect(await confirm(bench, id)).toMatchObject({ code: 'OK' });
    expect(await say(bench, id, 'a little rust')).toMatchObject({ code: 'OK' });
    const before = await bench.store.listEvents(bench.tenant, id, { after: 1, limit: 9 });
    await putBack(bench, was);
    expect(await confirm(bench, id)).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    const dry = await repairTorn(bench, asked(bench), { workflow: id, dryRun: true });
    expect(dry).toEqual({ code: 'TORN', events: 2 });
    expect(await read(bench, id)).toEqual(was);
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 2,
      receipt: { operation: 'repair_torn', workflow: id, seq: 3 },
    });
    const [, ...moved] = await eventsOf(bench, id);
    expect(moved.map(({ type, seq, data }) => [type, seq, data['moved']])).toEqual(
      before.map(({ seq, hash, text }) => [
        'stray_event_moved',
        seq,
        { seq, hash, text, intact: true },
      ]),
    );
    expect((await verifyRecord(bench.store, await read(bench, id))).faults).toEqual([]);
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toEqual({ code: 'WHOLE' });
    expect(await confirm(bench, id)).toMatchObject({ code: 'OK', receipt: { seq: 4 } });
  });

  test('the sensitive value of a stray event stays kept, and can be erased', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await started(bench);
    const was = await read(bench, id);
    expect(await say(bench, id, 'said in confidence')).toMatchObject({ code: 'OK' });
    expect(await store.listVault(tenant, id, { after: 0, limit: 9 })).toEqual([2]);
    await putBack(bench, was);
    await repairTorn(bench, asked(bench), { workflow: id });
    const report = await verifyRecord(store, await read(bench, id));
    expect(report).toMatchObject({ faults: [], values: 1 });
    const erase = { workflow: id, step: 'code', reason: 'asked for' };
    expect(
      await eraseStep({ store, clock }, commandLine(tenant), erase, clock.now() + 9_000),
    ).toMatchObject({ code: 'ERASED', records: [2] });
    expect((await verifyRecord(store, await read(bench, id))).faults).toEqual([]);
  });

  test('stray events behind a gap close up with their values', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const was = await read(bench, id);
    await confirm(bench, id);
    await say(bench, id, 'first');
    await say(bench, id, 'second');
    await change(bench, { op: 'delete', key: eventKey(bench, id, 2), expect: {} });
    await putBack(bench, was);
    const strays = await store.listVault(tenant, id, { after: 0, limit: 9 });
    expect(strays[0]).toBe(3);
    const left = await store.listEvents(tenant, id, { after: 1, limit: 9 });
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: left.length,
    });
    const after = await read(bench, id);
    expect(after.head_seq).toBe(1 + left.length);
    expect(await store.listVault(tenant, id, { after: 0, limit: 9 })).toEqual(
      strays.map((seq) => seq - 1),
    );
    expect((await verifyRecord(store, after)).faults).toEqual([]);
  });

  test('more stray events than one transaction takes are moved in several, and frozen work thaws with them', async () => {
    const bench = use();
    const id = await started(bench);
    const was = await read(bench, id);
    for (let n = 1; n <= 30; n++) {
      const [event] = await bench.store.listEvents(bench.tenant, id, { after: 0, limit: 1 });
      if (event === undefined) throw new Error('there is no event');
      const seq = n + 1;
      const key = eventKey(bench, id, seq);
      await change(bench, { op: 'create', key, item: { ...event, seq } });
    }
    bench.clock.advance(RECONCILE.checkMs);
    await sweep(bench);
    expect((await read(bench, id)).frozen?.what).toContain('at 2');
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 30,
    });
    const after = await read(bench, id);
    expect(after).toMatchObject({ head_seq: 31, state: was.state });
    expect(after.frozen).toBeUndefined();
    const [, moved] = await eventsOf(bench, id);
    // The copies of the first event are kept with their own hashes.
    expect(moved?.data).toMatchObject({ moved: { seq: 2, intact: true } });
    expect((await verifyRecord(bench.store, after)).faults).toEqual([]);
  });

  test('a key repairs once: its repeat is told the same event, and other arguments are a conflict', async () => {
    const bench = use();
    const id = await started(bench);
    const was = await read(bench, id);
    await confirm(bench, id);
    await putBack(bench, was);
    const first = await repairTorn(bench, asked(bench, 'k1'), { workflow: id });
    expect(first).toMatchObject({ code: 'MOVED', receipt: { seq: 2 } });
    const again = await repairTorn(bench, asked(bench, 'k1'), { workflow: id });
    expect(again).toMatchObject({ code: 'REPEATED', receipt: { seq: 2 } });
    expect(
      await acknowledgeFaults(bench, asked(bench, 'k1'), { workflow: id, reason: 'x' }),
    ).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', operation: 'repair_torn' });
  });

  test('a trail that is torn and broken is made whole beyond its head, and stays frozen until a person has looked', async () => {
    const bench = use();
    const id = await started(bench);
    await confirm(bench, id);
    const was = await read(bench, id);
    await say(bench, id, 'rust');
    await putBack(bench, was);
    await change(bench, { op: 'delete', key: eventKey(bench, id, 1), expect: {} });
    bench.clock.advance(RECONCILE.checkMs);
    await sweep(bench);
    const command = { workflow: id, reason: 'seen' };
    expect(await acknowledgeFaults(bench, asked(bench), command)).toEqual({ code: 'TORN' });
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      faults: [{ seq: 1, what: 'missing' }],
    });
    expect((await read(bench, id)).frozen?.what).toContain('missing at 1');
    expect(await acknowledgeFaults(bench, asked(bench), command)).toMatchObject({
      code: 'ACKNOWLEDGED',
    });
    expect((await read(bench, id)).frozen).toBeUndefined();
  });

  const BROKEN: readonly (readonly [string, string, (bench: Bench, id: string) => Write])[] = [
    [
      'a changed event',
      'hash',
      (bench, id) => ({
        op: 'update',
        key: eventKey(bench, id, 2),
        expect: {},
        set: { text: '{"forged":true}' },
      }),
    ],
    [
      'a removed event',
      'missing',
      (bench, id) => ({ op: 'delete', key: eventKey(bench, id, 2), expect: {} }),
    ],
    [
      'a removed last event',
      'missing',
      (bench, id) => ({ op: 'delete', key: eventKey(bench, id, 3), expect: {} }),
    ],
    [
      'a head that does not fit',
      'head',
      (bench, id) => ({
        op: 'update',
        key: workflowKey(bench.tenant, id),
        expect: {},
        set: { head_hash: 'f'.repeat(64) },
      }),
    ],
    [
      'a lost sensitive value',
      'value_missing',
      (bench, id) => ({
        op: 'delete',
        key: { kind: 'vault', tenant: bench.tenant, workflow: id, seq: 3 },
        expect: {},
      }),
    ],
  ];

  test.each(BROKEN)(
    'work frozen for %s goes on once a person has looked; the place (%s) stays reported and nothing is rewritten',
    async (_name, what, damage) => {
      const bench = use();
      const { store, clock, tenant } = bench;
      const id = await started(bench);
      await confirm(bench, id);
      await say(bench, id, 'rust');
      await change(bench, damage(bench, id));
      clock.advance(RECONCILE.checkMs);
      await sweep(bench);
      const frozen = await read(bench, id);
      expect(frozen.frozen?.what).toContain(what);
      expect(await confirm(bench, id)).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
      const rows = await store.listEvents(tenant, id, { after: 0, limit: 9 });
      const command = { workflow: id, reason: 'the disk was replaced' };
      expect(
        await acknowledgeFaults(bench, asked(bench), { ...command, dryRun: true }),
      ).toMatchObject({ code: 'FROZEN', faults: [{ what }] });
      expect(await read(bench, id)).toEqual(frozen);
      expect(await acknowledgeFaults(bench, asked(bench), command)).toMatchObject({
        code: 'ACKNOWLEDGED',
        faults: [{ what }],
      });
      expect(await store.listEvents(tenant, id, { after: 0, limit: 9 })).toEqual([
        ...rows,
        expect.objectContaining({ seq: frozen.head_seq + 1 }),
      ]);
      const thawed = await read(bench, id);
      expect(thawed.frozen).toBeUndefined();
      const report = await verifyRecord(store, thawed);
      expect(openFaults(report)).toEqual([]);
      expect(report.faults).toMatchObject([{ what, acknowledged: frozen.head_seq + 1 }]);
      const last = (await store.listEvents(tenant, id, { after: 3, limit: 9 })).map(eventBody);
      expect(last).toMatchObject([
        {
          type: 'faults_acknowledged',
          data: { reason: 'the disk was replaced', frozen: frozen.frozen },
        },
      ]);
      clock.advance(RECONCILE.checkMs);
      await sweep(bench);
      expect((await read(bench, id)).frozen).toBeUndefined();
      expect(
        await worker(bench)({ type: 'abandon_workflow', workflow: id, tenure: 1, reason: 'x' }),
      ).toMatchObject({ code: 'OK' });
      expect(await acknowledgeFaults(bench, asked(bench), command)).toEqual({ code: 'WELL' });
    },
  );

  test('an acknowledged place freezes the work again where it is changed once more', async () => {
    const bench = use();
    const { clock } = bench;
    const id = await started(bench);
    await confirm(bench, id);
    const set = (text: string): Write => ({
      op: 'update',
      key: eventKey(bench, id, 2),
      expect: {},
      set: { text },
    });
    await change(bench, set('{"forged":1}'));
    await acknowledgeFaults(bench, asked(bench), { workflow: id, reason: 'seen' });
    await change(bench, set('{"forged":2}'));
    clock.advance(RECONCILE.checkMs);
    await sweep(bench);
    expect((await read(bench, id)).frozen?.what).toContain('hash at 2');
  });
}
