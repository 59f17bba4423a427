import { expect, test } from '@jest/globals';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { DELIVERY } from '../../../lib/core/dispatch/row.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { Json } from '../../../lib/core/json.ts';
import { everyItem } from '../../../lib/core/pages.ts';
import type { Run } from '../../../lib/core/model/run.ts';
import type { ExecutionStatus, RunWork } from '../../../lib/core/ports/orchestrator.ts';
import { DeliveryError, type NotificationSink } from '../../../lib/core/ports/sink.ts';
import type { StorageBackend, Write } from '../../../lib/core/ports/storage.ts';
import type { Ticket, TicketProvider } from '../../../lib/core/ports/tickets.ts';
import { orderOf } from '../../../lib/core/runs/order.ts';
import { createSweeper, type SweepOptions } from '../../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { executionName, starter } from '../../../lib/core/runs/execution.ts';
import { RUN } from '../../../lib/core/runs/timing.ts';
import { testRandom, testRegistry } from '../../support/harness.ts';
import { ACTION, runWorld } from '../../support/runs.ts';
import type { Bench, UseBench } from './bench.ts';

/** Drift of runs and its repair, on a real store: found, repaired once, and not again. */
export function runReconcileCases(use: UseBench): void {
  let seed = 0;
  const silent: NotificationSink = { name: 'log', deliver: () => Promise.resolve() };

  /** A sweeper with an orchestrator and a provider that do what they are told. */
  const outside = ({ clock, tenant }: Bench) => {
    const state = {
      started: [] as string[],
      described: [] as string[],
      status: 'absent' as ExecutionStatus,
      ticket: undefined as Ticket | undefined,
      lookups: [] as string[],
      failing: false,
    };
    const orchestrator = {
      start: (name: string, { tenant: of }: RunWork) => {
        if (state.failing) throw new DeliveryError('retryable', 'Throttled');
        if (of === tenant) state.started.push(name);
        return Promise.resolve();
      },
      describe: (name: string) => {
        if (state.failing) throw new DeliveryError('retryable', 'Throttled');
        state.described.push(name);
        return Promise.resolve(state.status);
      },
    };
    const tickets = {
      name: 'builtin',
      idempotency: 'always',
      settlesInMs: 60_000,
      create: () => Promise.reject(new Error('a sweep writes no ticket')),
      find: (_tenant: string, key: string) => {
        state.lookups.push(key);
        return Promise.resolve(state.ticket);
      },
    } as const;
    const sweeperOn = (store: StorageBackend, find: TicketProvider['find'] = tickets.find) => {
      const runPorts = { orchestrator, tickets: { ...tickets, find } };
      const random = testRandom(`run sweeper ${seed++}`);
      const start = starter(store, orchestrator);
      const parts = { store, clock, random };
      const dispatcher = createDispatcher({ ...parts, sinks: [silent], starter: start });
      const registry = testRegistry();
      return createSweeper({ ...parts, registry, dispatcher, sinks: ['log'], runPorts });
    };
    return { state, sweeperOn };
  };
  type Outside = ReturnType<typeof outside>;
  /** The shards in which something of the test is due: the table is full of what other tests left. */
  const ownShards = async ({ store, clock, tenant }: Bench): Promise<readonly number[]> => {
    const own: number[] = [];
    for (let shard = 0; shard < (await store.shards()); shard++) {
      const due = everyItem((page) => store.listDue(shard, { until: clock.now(), ...page }));
      for await (const { key } of due) {
        if (key.tenant !== tenant) continue;
        own.push(shard);
        break;
      }
    }
    return own;
  };
  const sweep = async (
    bench: Bench,
    { sweeperOn }: Outside,
    options: Partial<SweepOptions> = {},
    store = bench.store,
  ) => {
    const found: string[] = [];
    const by = sweeperOn(store);
    for (const shard of await ownShards(bench)) {
      const report = await by.sweep(shard, { goOn: () => true, ...options });
      for (const { tenant, rule, repaired } of report.findings) {
        if (tenant === bench.tenant) found.push(`${rule} ${repaired ? 'repaired' : 'found'}`);
      }
    }
    return found;
  };
  const worldOf = ({ store, clock, tenant }: Bench) => runWorld(store, clock, tenant);
  /** Everything of the run: record, events and outbox. */
  const all = async ({ store, tenant }: Bench, id: string) => [
    await store.snapshot([{ kind: 'run', tenant, id }]),
    await store.listEvents(tenant, id, { after: 0, limit: 100 }),
    await store.listOutbox(tenant, id, 100),
  ];
  const typesOf = async ({ store, tenant }: Bench, id: string) =>
    (await store.listEvents(tenant, id, { after: 0, limit: 100 })).map(
      (event) => eventBody(event).type,
    );
  const drift = async ({ commit }: Bench, ...writes: readonly Write[]): Promise<void> => {
    expect(await commit(...writes)).toEqual({ ok: true });
  };
  /** The starts that wait in the outbox are delivered. */
  const deliver = async (bench: Bench, out: Outside): Promise<void> => {
    bench.clock.advance(DELIVERY.fastPathMs);
    await sweep(bench, out);
  };
  /** The table may hold runs of other tests too, which a sweep asks about. */
  const asked = ({ state }: Outside, run: Run): readonly string[] => {
    const own = nameOf(run, 0).slice(0, -1);
    return state.described.filter((name) => name.startsWith(own));
  };
  const nameOf = ({ tenant, id }: Run, attempt: number): string =>
    executionName({ tenant, run: id, attempt });

  /** Drift of each kind: how it comes about, and what the sweep makes of it. */
  /** Another target in the stored action, under the digest of before. */
  const retarget = ({ commit, tenant }: Bench, { id, proposal }: Run) => {
    const action = { ...proposal?.action, target: 'elsewhere' };
    const changed = JSON.parse(JSON.stringify({ ...proposal, action })) as Json;
    const key = { kind: 'run', tenant, id } as const;
    return commit({ op: 'update', key, expect: {}, set: { proposal: changed } });
  };

  const KINDS = [
    {
      kind: 'R6: work that is not running',
      rule: 'R6',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).gathering();
        await deliver(bench, out);
        bench.clock.advance(RUN.workMs);
        return run;
      },
      repaired: ['R6 repaired'],
      after: { state: 'gathering', attempt: 2 },
      event: ['work_restarted'],
    },
    {
      kind: 'R6: work that is begun again and again',
      rule: 'R6',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).gathering();
        await deliver(bench, out);
        const key = { kind: 'run', tenant: bench.tenant, id: run.id } as const;
        await drift(bench, { op: 'update', key, expect: {}, set: { attempt: 20 } });
        bench.clock.advance(RUN.workMs);
        return run;
      },
      repaired: ['R6 repaired'],
      after: { state: 'failed', attempt: 20, end: { code: 'ATTEMPTS_SPENT', from: 'gathering' } },
      event: ['run_failed'],
    },
    {
      kind: 'R7: an approval past its expiry',
      rule: 'R7',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).proposed();
        await deliver(bench, out);
        bench.clock.advance(RUN.approveMs + 1);
        return run;
      },
      repaired: ['R7 repaired'],
      after: { state: 'cancelled', end: { code: 'APPROVAL_EXPIRED' } },
      event: ['approval_expired'],
    },
    {
      kind: 'R7: a write that was made and never verified',
      rule: 'R7',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).approved();
        await deliver(bench, out);
        out.state.ticket = ticketOf(run);
        bench.clock.advance(RUN.approveMs + RUN.sendMs);
        return run;
      },
      repaired: ['R7 repaired', 'R7 repaired'],
      after: { state: 'completed', result: { provider: 'builtin', reference: 'T-9' } },
      event: ['write_made', 'run_completed'],
    },
    {
      kind: 'R7: a write that was never made',
      rule: 'R7',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).approved();
        await deliver(bench, out);
        bench.clock.advance(RUN.approveMs + RUN.sendMs + 60_001);
        return run;
      },
      repaired: ['R7 repaired'],
      after: { state: 'failed', end: { code: 'NOT_DONE', from: 'executing' } },
      event: ['run_failed'],
    },
    {
      kind: 'R7: a proposal that was changed before it was decided on',
      rule: 'R7',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).proposed();
        await deliver(bench, out);
        await retarget(bench, run);
        bench.clock.advance(RUN.approveMs + 1);
        return run;
      },
      repaired: ['R7 repaired'],
      after: { state: 'failed', end: { code: 'PROPOSAL_CHANGED', from: 'awaiting_approval' } },
      event: ['run_failed'],
    },
    {
      kind: 'R7: an action that was changed after its approval',
      rule: 'R7',
      make: async (bench: Bench, out: Outside) => {
        const run = await worldOf(bench).approved();
        await deliver(bench, out);
        await retarget(bench, run);
        bench.clock.advance(RUN.approveMs + RUN.sendMs);
        return run;
      },
      repaired: ['R7 repaired'],
      after: { state: 'failed', end: { code: 'PROPOSAL_CHANGED', from: 'executing' } },
      event: ['run_failed'],
    },
  ] as const;

  test.each(KINDS)('$kind is found, repaired once, and not again', async (kind) => {
    const bench = use();
    const out = outside(bench);
    const run = await kind.make(bench, out);
    const before = await all(bench, run.id);
    expect(await sweep(bench, out, { dryRun: true })).toEqual([`${kind.rule} found`]);
    expect(await all(bench, run.id)).toEqual(before);
    const events = await typesOf(bench, run.id);
    expect(await sweep(bench, out)).toEqual(kind.repaired);
    const [now] = await bench.store.snapshot([{ kind: 'run', tenant: bench.tenant, id: run.id }]);
    expect(now).toMatchObject(kind.after);
    expect(await typesOf(bench, run.id)).toEqual([...events, ...kind.event]);
    const last = (await bench.store.listEvents(bench.tenant, run.id, { after: 0, limit: 100 })).at(
      -1,
    );
    expect(last && eventBody(last)).toMatchObject({
      data: { rule: kind.rule },
      actor: { subject: 'system:reconciler' },
    });
    expect(await sweep(bench, out)).toEqual([]);
    bench.clock.advance(RUN.lastCheckMs);
    expect(await sweep(bench, out)).toEqual([]);
    expect(await typesOf(bench, run.id)).toEqual([...events, ...kind.event]);
  });

  test.each(KINDS)(
    '$kind: whoever was paused past its lease in the middle changes nothing',
    async (kind) => {
      const bench = use();
      const { store, clock } = bench;
      const out = outside(bench);
      const run = await kind.make(bench, out);
      let overtaken = 0;
      // The holder stops before its repair; another one takes the lease and repairs meanwhile.
      const paused: StorageBackend = {
        ...store,
        commit: async (transaction, deadlineMs) => {
          const touches = transaction.writes.some(
            ({ key }) => key.kind === 'run' && key.id === run.id,
          );
          if (touches && transaction.lease !== undefined && overtaken++ === 0) {
            clock.advance(RECONCILE.leaseMs + 1);
            expect(await sweep(bench, out)).toEqual(kind.repaired);
            const settled = await all(bench, run.id);
            const late = clock.now() + 10_000;
            const result = await store.commit(transaction, late);
            expect(result).toMatchObject({ ok: false, leaseLost: true });
            expect(await all(bench, run.id)).toEqual(settled);
            return result;
          }
          return store.commit(transaction, deadlineMs);
        },
      };
      await sweep(bench, out, { rules: [kind.rule] }, paused);
      expect(overtaken).toBe(1);
    },
  );

  test('R6 raises the attempt before it starts it, and the older attempt does nothing', async () => {
    const bench = use();
    const out = outside(bench);
    const { gathering, read, step } = worldOf(bench);
    const run = await gathering();
    await deliver(bench, out);
    expect(out.state.started).toEqual([nameOf(run, 1)]);
    expect(asked(out, run)).toEqual([]);
    bench.clock.advance(RUN.workMs);
    await sweep(bench, out, { rules: ['R6'] });
    expect(asked(out, run)).toEqual([nameOf(run, 1)]);
    expect(out.state.started).toEqual([nameOf(run, 1)]);
    expect((await read(run.id)).attempt).toBe(2);
    bench.clock.advance(DELIVERY.fastPathMs);
    await sweep(bench, out, { rules: ['R2'] });
    expect(out.state.started).toEqual([nameOf(run, 1), nameOf(run, 2)]);
    expect(await step(run, { do: 'begin' }, 1)).toMatchObject({ code: 'STALE_ATTEMPT' });
  });

  test.each([0, 90_000, -90_000])(
    'a worker that begins late, on a clock %d ms off, is fenced off by the attempt that took its place',
    async (skew) => {
      const bench = use();
      const { store, clock, tenant } = bench;
      const out = outside(bench);
      const { gathering, read, steps, observation } = worldOf(bench);
      const late = runWorld(store, { ...clock, now: () => clock.now() + skew }, tenant);
      const run = await gathering();
      await deliver(bench, out);
      clock.advance(RUN.workMs);
      await sweep(bench, out, { rules: ['R6'] });
      clock.advance(DELIVERY.fastPathMs);
      await sweep(bench, out, { rules: ['R2'] });
      const again = await read(run.id);
      expect([run.attempt, again.attempt]).toEqual([1, 2]);
      // Its first write comes a second after it was given up, and it hears of it.
      clock.advance(1_000);
      const before = await all(bench, run.id);
      expect(await late.step(run, late.observation, 1)).toMatchObject({ code: 'STALE_ATTEMPT' });
      expect(await late.step(run, { do: 'propose', action: ACTION }, 1)).toMatchObject({
        code: 'STALE_ATTEMPT',
      });
      expect(await all(bench, run.id)).toEqual(before);
      const done = await steps(again, observation, { do: 'propose', action: ACTION });
      expect(done).toMatchObject({ state: 'awaiting_approval', attempt: 2, observations: 1 });
    },
  );

  test('a row of an older attempt that is sent again starts nothing', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const out = outside(bench);
    const { approved } = worldOf(bench);
    const run = await approved();
    const [first] = await store.listOutbox(tenant, run.id, 10);
    await deliver(bench, out);
    expect(out.state.started).toEqual([nameOf(run, 2)]);
    expect(await store.listOutbox(tenant, run.id, 10)).toEqual([]);
    if (first === undefined) throw new Error('a run has the row that starts it');
    const { lane, seq } = first;
    const key = { kind: 'outbox', tenant, workflow: run.id, lane, seq } as const;
    const due_at = bench.clock.now();
    await drift(bench, { op: 'create', key, item: { ...first, due_at } });
    await sweep(bench, out);
    expect(out.state.started).toEqual([nameOf(run, 2)]);
    expect(await store.listOutbox(tenant, run.id, 10)).toEqual([]);
  });

  test('work that is running is left alone, and is asked about only once it is overdue', async () => {
    const bench = use();
    const out = outside(bench);
    const { gathering, read } = worldOf(bench);
    const run = await gathering();
    await deliver(bench, out);
    out.state.status = 'running';
    bench.clock.advance(RUN.workMs - DELIVERY.fastPathMs - 1);
    expect(await sweep(bench, out)).toEqual([]);
    expect(asked(out, run)).toEqual([]);
    bench.clock.advance(1);
    expect(await sweep(bench, out)).toEqual([]);
    expect(asked(out, run)).toEqual([nameOf(run, 1)]);
    expect(await read(run.id)).toMatchObject({ attempt: 1, version: run.version });
    // It is not asked about again before another while.
    expect(await sweep(bench, out)).toEqual([]);
    expect(asked(out, run)).toHaveLength(1);
  });

  test('an orchestrator that cannot be reached changes no run, however long', async () => {
    const bench = use();
    const out = outside(bench);
    const { created, read } = worldOf(bench);
    const run = await created();
    out.state.failing = true;
    for (let n = 0; n < 3; n++) {
      bench.clock.advance(RUN.workMs * 4);
      expect(await sweep(bench, out)).toEqual([]);
    }
    expect(await read(run.id)).toMatchObject({ state: 'created', attempt: 1, version: 1 });
    out.state.failing = false;
    bench.clock.advance(RUN.workMs * 2);
    await sweep(bench, out);
    expect(out.state.started).toEqual([nameOf(run, 1)]);
  });

  test('a write that may still be under way is asked for again, and nothing is said of it before', async () => {
    const bench = use();
    const out = outside(bench);
    const { approved, read } = worldOf(bench);
    const run = await approved();
    await deliver(bench, out);
    bench.clock.advance(RUN.approveMs + RUN.sendMs - DELIVERY.fastPathMs);
    expect(await sweep(bench, out)).toEqual([]);
    expect(await sweep(bench, out)).toEqual([]);
    const key = run.proposal?.action.idempotency_key;
    expect(out.state.lookups.filter((one) => one === key)).toHaveLength(1);
    expect((await read(run.id)).state).toBe('executing');
    bench.clock.advance(60_001);
    expect(await sweep(bench, out)).toEqual(['R7 repaired']);
    expect(await read(run.id)).toMatchObject({ state: 'failed', end: { code: 'NOT_DONE' } });
  });

  test.each([
    ['throws what is no delivery error', () => Promise.reject(new TypeError('https://u:pw@host'))],
    ['answers what is no ticket', () => Promise.resolve({} as Ticket)],
  ])(
    'a provider that %s changes no run, holds up no other, and none of what it says is told',
    async (_what, find) => {
      const bench = use();
      const out = outside(bench);
      const { approved, gathering, read } = worldOf(bench);
      const run = await approved();
      const other = await gathering('something else');
      await deliver(bench, out);
      bench.clock.advance(RUN.approveMs + RUN.sendMs);
      const told: string[] = [];
      const by = out.sweeperOn(bench.store, find);
      for (const shard of await ownShards(bench)) {
        const { findings } = await by.sweep(shard, { goOn: () => true });
        for (const { tenant, workflow, what } of findings) {
          if (tenant === bench.tenant && workflow === run.id) told.push(what);
        }
      }
      expect(told).toEqual(['the provider failed in a way that it does not know']);
      const after = await read(run.id);
      expect(after).toMatchObject({ state: 'executing', version: run.version });
      expect(after.due_at).toBe(bench.clock.now() + RECONCILE.laterMs);
      expect(await read(other.id)).toMatchObject({ attempt: 2 });
    },
  );

  test('a trail of a run that does not verify freezes it: nothing is decided on it any more', async () => {
    const bench = use();
    const { tenant } = bench;
    const out = outside(bench);
    const { proposed, cara, execute, decide, read } = worldOf(bench);
    const run = await proposed();
    const key = { kind: 'event', tenant, workflow: run.id, seq: 2 } as const;
    await drift(bench, { op: 'update', key, expect: {}, set: { text: '{}' } });
    await drift(bench, {
      op: 'update',
      key: { kind: 'run', tenant, id: run.id },
      expect: {},
      set: { due_at: bench.clock.now() },
    });
    expect(await sweep(bench, out)).toEqual(['R8 found']);
    expect((await read(run.id)).frozen?.what).toBe('the trail does not verify: hash at 2');
    expect(await execute(cara, decide(run, true))).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      retryable: false,
    });
    bench.clock.advance(RUN.approveMs * 3);
    // Somebody has to look, and is told until they have.
    expect(await sweep(bench, out)).toEqual(['R8 found']);
    expect((await read(run.id)).state).toBe('awaiting_approval');
  });
}

/** The ticket that was written for a run. */
function ticketOf(run: Run): Ticket {
  const order = orderOf(run);
  if (order === undefined) throw new Error('the run has proposed something');
  return { ...order, reference: 'T-9' };
}
