import { expect, test } from '@jest/globals';
import { commandLine } from '../../../lib/core/erase.ts';
import type { Command, StepInput } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { releaseLock } from '../../../lib/core/release-lock.ts';
import { testRegistry } from '../../support/harness.ts';
import { beforeFirstCommit } from '../../support/store-hooks.ts';
import { workflowKey, type Bench, type UseBench } from './bench.ts';
import { idIn, sweeping } from './sweeping.ts';

const MINUTE = 60_000;
const YES: StepInput = { kind: 'confirm', confirmed: true };

/** R6 on a real store: what is due is found, ticked once, and not again. See `timedProcedure`. */
export function timeCases(use: UseBench): void {
  const { sweeperOn, sweep, ana, cara, workOn, read, eventsOf } = sweeping();
  const minutes = ({ clock }: Bench, n: number): void => {
    clock.advance(n * MINUTE);
  };
  const started = async (bench: Bench): Promise<string> => {
    const start = { type: 'start_workflow', procedure: 'timed', asset: 'UNIT-1' } as const;
    return idIn(await workOn(bench)(ana(bench), start));
  };
  const recorded = async (bench: Bench, id: string, step: string, input = YES): Promise<void> => {
    idIn(await workOn(bench)(ana(bench), { type: 'record_step', workflow: id, step, input }));
  };
  /** Work whose reading and check can be done, as of the present minute. */
  const ready = async (bench: Bench): Promise<string> => {
    const id = await started(bench);
    await recorded(bench, id, 'ready');
    return id;
  };
  /** Work that a denied first step blocks. */
  const blocked = async (bench: Bench): Promise<string> => {
    const id = await started(bench);
    const no: StepInput = { kind: 'confirm', confirmed: false };
    const command = { type: 'record_step', workflow: id, step: 'ready', input: no } as const;
    const asked = await workOn(bench)(ana(bench), command);
    if (asked.code !== 'NEEDS_CONFIRMATION') throw new Error(asked.code);
    idIn(await workOn(bench)(ana(bench), { ...command, confirmation: asked.state ?? '' }));
    return id;
  };
  const told = async ({ store, tenant }: Bench, id: string) =>
    (await store.listOutbox(tenant, id, 100)).map(({ payload }) => payload);
  const typesOf = async (bench: Bench, id: string) =>
    (await eventsOf(bench, id)).map(({ type }) => type);
  const resolve = async (bench: Bench, id: string, decision: 'continue' | 'retake' | 'abandon') => {
    const block = (await read(bench, id)).block?.seq ?? 0;
    const command: Command = { type: 'resolve_block', workflow: id, block, decision, reason: 'x' };
    return workOn(bench)(cara(bench), command);
  };
  const R6 = { rules: ['R6'] } as const;

  test('a start and every command write the earliest time that is pending', async () => {
    const bench = use();
    const id = await started(bench);
    const at = bench.clock.now();
    expect(await read(bench, id)).toMatchObject({
      due_at: at + 20 * MINUTE,
      timers: {
        deadline: { due_at: at + 240 * MINUTE },
        steps: {},
        reminder: { since: at, told: 0, due_at: at + 20 * MINUTE },
      },
    });
    minutes(bench, 15);
    await recorded(bench, id, 'ready');
    const then = at + 15 * MINUTE;
    expect((await read(bench, id)).timers).toEqual({
      deadline: { due_at: at + 240 * MINUTE },
      steps: { level: { due_at: then + 30 * MINUTE }, check: { due_at: then + 60 * MINUTE } },
      reminder: { since: then, told: 0, due_at: then + 20 * MINUTE },
    });
  });

  test('a time that no longer stands is looked at, not ticked, and the next look is at the next one', async () => {
    const bench = use();
    const id = await started(bench);
    minutes(bench, 15);
    await recorded(bench, id, 'ready');
    minutes(bench, 5);
    const before = await read(bench, id);
    expect(await sweep(bench)).toEqual([]);
    const due_at = bench.clock.now() + 15 * MINUTE;
    expect(await read(bench, id)).toEqual({ ...before, due_at });
  });

  test('a deadline that has passed is told once, to its audience, with head and count of the trail', async () => {
    const bench = use();
    const id = await ready(bench);
    minutes(bench, 29);
    await sweep(bench);
    const due = new Date(bench.clock.now() + MINUTE).toISOString();
    minutes(bench, 1);
    expect(await sweep(bench, { ...R6, dryRun: true })).toEqual([`R6 found ${id}`]);
    const before = await read(bench, id);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    const after = await read(bench, id);
    expect(after.state).toBe('RUNNING');
    expect(after.version).toBe(before.version + 1);
    expect(after.timers?.steps['level']).toMatchObject({ passed: true });
    const event = (await eventsOf(bench, id)).at(-1);
    expect(event).toMatchObject({
      type: 'deadline_passed',
      actor: { subject: 'system:reconciler', via: 'system' },
      data: { rule: 'R6', due, whole: false, steps: ['level'], follows: 'notify' },
    });
    expect((await told(bench, id)).at(-1)).toMatchObject({
      kind: 'overdue',
      audiences: ['planner'],
      message: 'the deadline of Level has passed',
      steps: [{ step: 'level', title: 'Level' }],
      head_seq: after.head_seq,
      head_hash: after.head_hash,
    });
    expect(await sweep(bench)).toEqual([]);
  });

  test('a step that is done in time is never overdue', async () => {
    const bench = use();
    const id = await ready(bench);
    minutes(bench, 10);
    await recorded(bench, id, 'level', { kind: 'reading', value: 40 });
    expect((await read(bench, id)).timers?.steps).not.toHaveProperty('level');
    minutes(bench, 21);
    await sweep(bench);
    expect(await typesOf(bench, id)).not.toContain('deadline_passed');
  });

  test('a deadline whose procedure says so blocks the work, which keeps its asset until a supervisor decides', async () => {
    const bench = use();
    const id = await ready(bench);
    await recorded(bench, id, 'level', { kind: 'reading', value: 40 });
    // Recorded, and still waiting for the second person: that is not done.
    await recorded(bench, id, 'check');
    minutes(bench, 60);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    const after = await read(bench, id);
    expect(after).toMatchObject({
      state: 'BLOCKED',
      block: {
        seq: after.head_seq,
        reason: 'overdue',
        step: 'check',
        by: 'system:reconciler',
        message: 'the deadline of Check has passed',
      },
      timers: { steps: {}, escalation: { block: after.head_seq, told: 0 } },
    });
    expect((await told(bench, id)).at(-1)).toMatchObject({
      kind: 'block',
      reason: 'overdue',
      audiences: ['supervisor', 'planner'],
    });
    expect(await resolve(bench, id, 'retake')).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await resolve(bench, id, 'continue')).toMatchObject({ code: 'OK' });
    const open = await read(bench, id);
    expect(open.state).toBe('RUNNING');
    // It has all of its time again.
    expect(open.timers?.steps['check']).toEqual({ due_at: bench.clock.now() + 60 * MINUTE });
    expect(await sweep(bench)).toEqual([]);
    minutes(bench, 60);
    await sweep(bench);
    expect(await resolve(bench, id, 'abandon')).toMatchObject({
      code: 'OK',
      workflow: { state: 'COMPLETED', result: 'abandoned' },
    });
    expect(await read(bench, id)).not.toHaveProperty('timers');
    minutes(bench, 600);
    expect(await sweep(bench)).toEqual([]);
  });

  test('whoever worked on it cannot let overdue work continue', async () => {
    const bench = use();
    const id = await ready(bench);
    minutes(bench, 61);
    await sweep(bench);
    const block = (await read(bench, id)).block?.seq ?? 0;
    const who = { ...ana(bench), scopes: cara(bench).scopes };
    const command = { type: 'resolve_block', workflow: id, block, reason: 'x' } as const;
    expect(await workOn(bench)(who, { ...command, decision: 'continue' })).toMatchObject({
      code: 'SECOND_PERSON_REQUIRED',
    });
  });

  test('a reminder is sent as often as it may be, counts anew from a command, and misses are not made up for', async () => {
    const bench = use();
    const id = await started(bench);
    minutes(bench, 20);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    expect((await told(bench, id)).at(-1)).toMatchObject({
      kind: 'reminder',
      audiences: ['operator'],
      holder: 'dev:ana',
      reminder: 1,
      of: 2,
      minutes: 20,
    });
    expect(await sweep(bench)).toEqual([]);
    minutes(bench, 25);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    minutes(bench, 100);
    expect(await sweep(bench)).toEqual([]);
    await recorded(bench, id, 'ready');
    // Two of them have passed when somebody looks: one is sent.
    minutes(bench, 45);
    await sweep(bench);
    const sent = (await eventsOf(bench, id)).filter(({ type }) => type === 'reminder_sent');
    expect(sent.map(({ data }) => [data['reminder'], data['minutes']])).toEqual([
      [1, 20],
      [2, 45],
      [2, 45],
    ]);
  });

  test('a block that stands is told to the next level, each level once, until somebody decides', async () => {
    const bench = use();
    const id = await blocked(bench);
    const audiences = async () => (await told(bench, id)).at(-1)?.['audiences'];
    minutes(bench, 29);
    expect(await sweep(bench)).toEqual([]);
    minutes(bench, 1);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    expect((await told(bench, id)).at(-1)).toMatchObject({
      kind: 'escalation',
      audiences: ['supervisor'],
      reason: 'deviation',
      step: 'ready',
      level: 1,
      of: 3,
      minutes: 30,
    });
    expect(await sweep(bench)).toEqual([]);
    minutes(bench, 30);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    expect(await audiences()).toEqual(['supervisor', 'manager']);
    minutes(bench, 30);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    minutes(bench, 100);
    expect(await sweep(bench)).toEqual([]);
    expect((await read(bench, id)).timers?.escalation).toEqual(
      expect.not.objectContaining({ due_at: expect.anything() }),
    );
    expect(await resolve(bench, id, 'continue')).toMatchObject({ code: 'OK' });
    expect((await read(bench, id)).timers).not.toHaveProperty('escalation');
  });

  test('a look that comes late tells everybody who should have been told by then, at once', async () => {
    const bench = use();
    const id = await blocked(bench);
    minutes(bench, 75);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
    expect((await told(bench, id)).at(-1)).toMatchObject({
      audiences: ['supervisor', 'manager'],
      level: 2,
    });
    expect(await sweep(bench)).toEqual([]);
  });

  test('a forced release blocks the work, and its escalation begins', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await ready(bench);
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const command = { asset: 'UNIT-1', reason: 'fire' };
    await releaseLock(
      parts,
      { principal: commandLine(tenant), deadlineMs: clock.now() + 9_000 },
      command,
    );
    const at = clock.now() + 30 * MINUTE;
    const after = await read(bench, id);
    expect(after).toMatchObject({ due_at: clock.now() + 20 * MINUTE });
    expect(after.timers).toMatchObject({ steps: {}, escalation: { told: 0, due_at: at } });
    expect(after.timers).not.toHaveProperty('reminder');
    minutes(bench, 30);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`]);
  });

  test('the deadline of the whole counts from its start, also while it is blocked, and then blocks nothing', async () => {
    const bench = use();
    const id = await blocked(bench);
    minutes(bench, 240);
    expect(await sweep(bench)).toEqual([`R6 repaired ${id}`, `R6 repaired ${id}`]);
    const [, , passed, escalated] = await eventsOf(bench, id);
    expect(passed).toMatchObject({ type: 'deadline_passed', data: { whole: true, steps: [] } });
    expect(escalated).toMatchObject({ type: 'block_escalated', data: { level: 3 } });
    expect((await read(bench, id)).block?.reason).toBe('deviation');
    expect(await sweep(bench)).toEqual([]);
  });

  test('two sweepers that find the same time tick it once', async () => {
    const bench = use();
    const { store } = bench;
    const id = await ready(bench);
    minutes(bench, 30);
    // The other one looks after this one has decided; it has no lease of this shard to wait for.
    const unleased = (over: StorageBackend): StorageBackend => ({
      ...over,
      commit: ({ writes }, deadlineMs) => over.commit({ writes }, deadlineMs),
    });
    const free = {
      takeLease: (shard: number, by: string, { until }: { until: number }) =>
        Promise.resolve({ shard, by, until, epoch: 1 }),
      renewLease: <T>(lease: T) => Promise.resolve(lease),
      releaseLease: () => Promise.resolve(true),
    };
    const second = { ...unleased(store), ...free };
    const first = beforeFirstCommit(second, () => sweep(bench, R6, sweeperOn(bench, second)));
    await sweep(bench, R6, sweeperOn(bench, first));
    const types = await typesOf(bench, id);
    expect(types.filter((type) => type === 'deadline_passed')).toHaveLength(1);
    expect(types.filter((type) => type === 'reminder_sent')).toHaveLength(1);
  });

  test('R6: a sweeper that was overtaken in the middle of its tick changes nothing', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const id = await ready(bench);
    minutes(bench, 30);
    const before = [await read(bench, id), await store.listOutbox(tenant, id, 10)];
    let paused = 0;
    const overtaken: StorageBackend = {
      ...store,
      commit: async (transaction, deadlineMs) => {
        if (transaction.lease === undefined) return store.commit(transaction, deadlineMs);
        const now = clock.now() + RECONCILE.leaseMs + 1;
        await store.takeLease(transaction.lease.shard, 'other', { now, until: now + 1 });
        const result = await store.commit(transaction, deadlineMs + RECONCILE.leaseMs);
        expect(result).toEqual({ ok: false, failed: [], leaseLost: true });
        paused += 1;
        return result;
      },
    };
    expect(await sweep(bench, R6, sweeperOn(bench, overtaken))).toEqual([]);
    expect(paused).toBe(1);
    expect([await read(bench, id), await store.listOutbox(tenant, id, 10)]).toEqual(before);
    clock.advance(RECONCILE.leaseMs * 2);
    expect(await sweep(bench, R6)).toContain(`R6 repaired ${id}`);
  });

  test('a step that is recorded while its deadline is being ticked is not told to be late', async () => {
    const bench = use();
    const id = await ready(bench);
    minutes(bench, 30);
    const input = { kind: 'reading', value: 40 } as const;
    const racing = beforeFirstCommit(bench.store, () => recorded(bench, id, 'level', input));
    expect(await sweep(bench, R6, sweeperOn(bench, racing))).toEqual([]);
    expect(await typesOf(bench, id)).toEqual([
      'workflow_started',
      'step_recorded',
      'step_recorded',
    ]);
    expect(await told(bench, id)).toEqual([]);
  });

  test('a command that meets a block by a deadline is refused, and the tick stands', async () => {
    const bench = use();
    const id = await ready(bench);
    minutes(bench, 60);
    const racing: Bench = {
      ...bench,
      store: beforeFirstCommit(bench.store, () => sweep(bench, R6)),
    };
    const input = { kind: 'reading', value: 40 } as const;
    const command = { type: 'record_step', workflow: id, step: 'level', input } as const;
    expect(await workOn(racing)(ana(bench), command)).toMatchObject({ code: 'WORKFLOW_BLOCKED' });
    expect(await typesOf(bench, id)).toEqual([
      'workflow_started',
      'step_recorded',
      'deadline_passed',
    ]);
  });

  test('a dry run says what is due and writes nothing', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const id = await ready(bench);
    minutes(bench, 30);
    const before = [await read(bench, id), await store.listOutbox(tenant, id, 10)];
    expect(await sweep(bench, { dryRun: true })).toEqual([`R6 found ${id}`]);
    expect([await read(bench, id), await store.listOutbox(tenant, id, 10)]).toEqual(before);
  });

  test('frozen work is not ticked, and does not come up every minute', async () => {
    const bench = use();
    const id = await ready(bench);
    const frozen = { at: new Date(bench.clock.now()).toISOString(), what: 'planted' };
    const key = workflowKey(bench.tenant, id);
    await bench.commit({ op: 'update', key, expect: {}, set: { frozen } });
    minutes(bench, 300);
    expect(await sweep(bench)).toEqual([`R8 found ${id}`]);
    expect((await read(bench, id)).due_at).toBe(bench.clock.now() + RECONCILE.checkMs);
  });
}
