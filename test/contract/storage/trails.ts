import { expect, test } from '@jest/globals';
import { openFaults, verifyRecord } from '../../../lib/core/audit.ts';
import { commandLine, eraseStep } from '../../../lib/core/erase.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { StorageBackend, Items, Write } from '../../../lib/core/ports/storage.ts';
import {
  acknowledgeFaults,
  type AcknowledgeCommand,
} from '../../../lib/core/operations/acknowledge.ts';
import { redriveRow } from '../../../lib/core/operations/redrive.ts';
import { repairTorn } from '../../../lib/core/operations/torn.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { makeService, principal, testRandom, testRegistry } from '../../support/harness.ts';
import { newRow } from '../../../lib/core/dispatch/new-row.ts';
import { runWorld } from '../../support/runs.ts';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { faultOf, workflowKey, type Bench, type UseBench } from './bench.ts';

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
  const started = async (bench: Bench, asset = 'UNIT-1'): Promise<string> => {
    const outcome = await worker(bench)({ type: 'start_workflow', procedure: 'sample', asset });
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

  /** Acknowledges what a look finds. */
  const looked = async (bench: Bench, command: AcknowledgeCommand) => {
    const look = await acknowledgeFaults(bench, asked(bench), command);
    if (look.code !== 'FROZEN') return look;
    return acknowledgeFaults(bench, asked(bench), { ...command, seen: look.seen });
  };

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

  test('stray events behind a gap keep their numbers and values, and the lost one is named', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const was = await read(bench, id);
    await confirm(bench, id);
    await say(bench, id, 'first');
    await change(bench, { op: 'delete', key: eventKey(bench, id, 2), expect: {} });
    await putBack(bench, was);
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 2,
      receipt: { seq: 3 },
    });
    const [, lost, moved] = await eventsOf(bench, id);
    expect(lost?.data['moved']).toEqual({ seq: 2, missing: true });
    expect(moved?.data['moved']).toMatchObject({ seq: 3, intact: true });
    expect(await store.listVault(tenant, id, { after: 0, limit: 9 })).toEqual([3]);
    const report = await verifyRecord(store, await read(bench, id));
    expect(report).toMatchObject({ faults: [], values: 1 });
    expect(await say(bench, id, 'second')).toMatchObject({ code: 'OK', receipt: { seq: 4 } });
  });

  test('a value whose event is gone holds work up no longer: it is erased, and the trail says so', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const was = await read(bench, id);
    await say(bench, id, 'said in confidence');
    await change(bench, { op: 'delete', key: eventKey(bench, id, 2), expect: {} });
    await putBack(bench, was);
    expect(await say(bench, id, 'again')).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    const command = { workflow: id, reason: 'seen' };
    expect(await acknowledgeFaults(bench, asked(bench), command)).toEqual({ code: 'TORN' });
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 1,
    });
    expect((await eventsOf(bench, id)).at(-1)?.data).toEqual({
      moved: { seq: 2, missing: true },
      records: [2],
    });
    expect(await store.listVault(tenant, id, { after: 0, limit: 9 })).toEqual([]);
    expect((await verifyRecord(store, await read(bench, id))).faults).toEqual([]);
    expect(await say(bench, id, 'again')).toMatchObject({ code: 'OK', receipt: { seq: 3 } });
  });

  test('a notification whose event is gone leaves, and no later one has its number', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const row = newRow(
      { tenant, workflow: id, lane: 'notify:log' },
      { seq: 4, hash: 'f'.repeat(64) },
      { kind: 'block' },
      bench.clock.now(),
    );
    const { lane, seq } = row;
    const key = { kind: 'outbox', tenant, workflow: id, lane, seq } as const;
    await change(bench, { op: 'create', key, item: row });
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      receipt: { seq: 4 },
    });
    expect(await confirm(bench, id)).toMatchObject({ code: 'OK', receipt: { seq: 5 } });
    expect(await store.listOutbox(tenant, id, 9)).toEqual([row]);
  });

  test('a stray event that belongs to other work is kept, and claims no value of this one', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const [id, other] = [await started(bench), await started(bench, 'UNIT-2')];
    await say(bench, other, 'said in confidence');
    const [, foreign] = await store.listEvents(tenant, other, { after: 0, limit: 9 });
    if (foreign === undefined) throw new Error('there is no event');
    const item = { ...foreign, workflow: id };
    await change(bench, { op: 'create', key: eventKey(bench, id, 2), item });
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 1,
    });
    const report = await verifyRecord(store, await read(bench, id));
    expect(report).toMatchObject({ faults: [], values: 0 });
    expect((await eventsOf(bench, id)).at(-1)?.data['moved']).toMatchObject({
      text: foreign.text,
      intact: true,
    });
  });

  test('large stray events are moved as many at a time as a transaction takes', async () => {
    const bench = use();
    const id = await started(bench);
    const [event] = await bench.store.listEvents(bench.tenant, id, { after: 0, limit: 1 });
    if (event === undefined) throw new Error('there is no event');
    const text = 'x'.repeat(250_000);
    for (let seq = 2; seq <= 14; seq++) {
      const item = { ...event, seq, text };
      await change(bench, { op: 'create', key: eventKey(bench, id, seq), item });
    }
    expect(await repairTorn(bench, asked(bench), { workflow: id })).toMatchObject({
      code: 'MOVED',
      events: 13,
    });
    expect((await verifyRecord(bench.store, await read(bench, id))).faults).toEqual([]);
  });

  test.each([
    ['too large to be kept in another', 2, '"'.repeat(250_000)],
    ['further from the head than a restore leaves one', 20_000, '{}'],
  ])('an event %p is a terminal fault, and nothing changes', async (_what, seq, text) => {
    const bench = use();
    const id = await started(bench);
    const was = await read(bench, id);
    const [event] = await bench.store.listEvents(bench.tenant, id, { after: 0, limit: 1 });
    if (event === undefined) throw new Error('there is no event');
    const item = { ...event, seq, text };
    await change(bench, { op: 'create', key: eventKey(bench, id, seq), item });
    const fault = await faultOf(repairTorn(bench, asked(bench), { workflow: id }));
    expect([fault.kind, fault.code]).toEqual(['terminal', 'CHAIN_TORN']);
    expect(await read(bench, id)).toEqual(was);
  });

  test('a repair under a key that was cut off between two transactions goes on when it is said again', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await started(bench);
    const [event] = await store.listEvents(tenant, id, { after: 0, limit: 1 });
    if (event === undefined) throw new Error('there is no event');
    for (let seq = 2; seq <= 31; seq++) {
      await change(bench, { op: 'create', key: eventKey(bench, id, seq), item: { ...event, seq } });
    }
    let commits = 0;
    const commit: typeof store.commit = (...sent) =>
      ++commits > 1 ? Promise.reject(new Error('the process ends')) : store.commit(...sent);
    const dying = { ...bench, store: { ...store, commit } };
    await expect(repairTorn(dying, asked(bench, 'k1'), { workflow: id })).rejects.toThrow(
      'the process ends',
    );
    const said = await repairTorn(bench, asked(bench, 'k1'), { workflow: id });
    expect(said).toMatchObject({ code: 'MOVED', receipt: { seq: 31 } });
    const again = await repairTorn(bench, asked(bench, 'k1'), { workflow: id });
    expect(again).toMatchObject({ code: 'REPEATED', receipt: { seq: 31 } });
  });

  test('a run with rows beyond its head, or a broken trail, goes on by the same operations', async () => {
    const bench = use();
    const { store, tenant, clock } = bench;
    const runs = runWorld(store, clock, tenant);
    const run = await runs.gathering();
    const [observed, seen] = [await runs.steps(run, runs.observation), { workflow: run.id }];
    const key = { kind: 'run', tenant, id: run.id } as const;
    await change(bench, { op: 'delete', key, expect: {} });
    await change(bench, { op: 'create', key, item: run });
    expect(observed.head_seq).toBe(3);
    expect(await repairTorn(bench, asked(bench), seen)).toMatchObject({ code: 'MOVED', events: 1 });
    const repaired = await runs.read(run.id);
    expect((await verifyRecord(store, repaired)).faults).toEqual([]);
    await change(bench, { op: 'delete', key: eventKey(bench, run.id, 1), expect: {} });
    const frozen = { at: new Date(clock.now()).toISOString(), what: 'missing at 1' };
    await change(bench, { op: 'update', key, expect: {}, set: { frozen } });
    const command = { ...seen, reason: 'seen' };
    expect(await looked(bench, command)).toMatchObject({
      code: 'ACKNOWLEDGED',
      faults: [{ seq: 1, what: 'missing' }],
    });
    const thawed = await runs.read(run.id);
    expect(thawed.frozen).toBeUndefined();
    expect((await runs.steps(thawed, runs.observation)).head_seq).toBe(5);
  });

  test('a parked start of a run that is sent again is an event of the run', async () => {
    const bench = use();
    const { store, tenant, clock } = bench;
    const runs = runWorld(store, clock, tenant);
    const run = await runs.created();
    const [row] = await store.listOutbox(tenant, run.id, 9);
    if (row === undefined) throw new Error('there is no row');
    const parked_at = new Date(clock.now()).toISOString();
    const set = { parked_at, rev: row.rev + 1 };
    const { lane, seq } = row;
    const key = { kind: 'outbox', tenant, workflow: run.id, lane, seq } as const;
    await change(bench, { op: 'update', key, expect: {}, set });
    expect(await redriveRow(bench, asked(bench), { id: row.id })).toMatchObject({
      code: 'REDRIVEN',
      receipt: { workflow: run.id, seq: 2 },
    });
    expect((await eventsOf(bench, run.id)).at(-1)).toMatchObject({
      type: 'notification_redriven',
      data: { notification: row.id, lane: 'orchestrate', for_event: 1 },
    });
    const after = await runs.read(run.id);
    expect(after).toMatchObject({ state: 'created', head_seq: 2, version: 2 });
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
    expect(await looked(bench, command)).toMatchObject({
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
      for (const seen of [{}, { seen: 'something else' }]) {
        const look = await acknowledgeFaults(bench, asked(bench), { ...command, ...seen });
        expect(look).toMatchObject({ code: 'FROZEN', faults: [{ what }] });
      }
      expect(await read(bench, id)).toEqual(frozen);
      expect(await looked(bench, command)).toMatchObject({
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

  test('an event that a plain read does not show yet is no fault, however often it is looked for', async () => {
    const bench = use();
    const { store, clock } = bench;
    const id = await started(bench);
    await confirm(bench, id);
    // The last event of a transaction that still runs: whoever reads it in a transaction waits for its end.
    let settled = false;
    const running: StorageBackend = {
      ...store,
      snapshot: (keys) => {
        settled ||= keys.some((key) => key.kind === 'event' && key.seq === 2);
        return store.snapshot(keys);
      },
      listEvents: async (...args) => {
        const page = await store.listEvents(...args);
        return settled ? page : page.filter(({ seq }) => seq !== 2);
      },
    };
    expect((await verifyRecord(running, await read(bench, id))).faults).toEqual([]);
    settled = false;
    clock.advance(RECONCILE.checkMs);
    await sweep({ ...bench, store: running });
    expect((await read(bench, id)).frozen).toBeUndefined();
  });

  test('what has changed since a person looked is not acknowledged by what they saw', async () => {
    const bench = use();
    const id = await started(bench);
    await confirm(bench, id);
    const command = { workflow: id, reason: 'seen' };
    await change(bench, {
      op: 'update',
      key: eventKey(bench, id, 2),
      expect: {},
      set: { text: '1' },
    });
    const look = await acknowledgeFaults(bench, asked(bench), command);
    const seen = look.code === 'FROZEN' ? look.seen : '';
    await change(bench, {
      op: 'update',
      key: eventKey(bench, id, 2),
      expect: {},
      set: { text: '2' },
    });
    const late = await acknowledgeFaults(bench, asked(bench), { ...command, seen });
    expect(late).toMatchObject({ code: 'FROZEN', faults: [{ seq: 2 }] });
    expect(late.code === 'FROZEN' && late.seen !== seen).toBe(true);
    expect((await read(bench, id)).head_seq).toBe(2);
    expect(await looked(bench, command)).toMatchObject({ code: 'ACKNOWLEDGED' });
  });

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
    await looked(bench, { workflow: id, reason: 'seen' });
    await change(bench, set('{"forged":2}'));
    clock.advance(RECONCILE.checkMs);
    await sweep(bench);
    expect((await read(bench, id)).frozen?.what).toContain('hash at 2');
  });
}
