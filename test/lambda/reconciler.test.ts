import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import validate from 'asl-validator';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { rowKey } from '../../lib/core/dispatch/row.ts';
import type { OutboxRow } from '../../lib/core/model/workflow.ts';
import { DeliveryError, type Message } from '../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { dueShards } from '../../lib/core/reconcile/due-shards.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../lib/core/reconcile/timing.ts';
import type { DailyHeads } from '../../lib/core/trail/daily-heads.ts';
import { createReconcileFunction } from '../../lib/lambda/reconcile-handler.ts';
import { create, lockKey } from '../contract/storage/bench.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { isWrite, meterOf } from '../support/dynamodb/meter.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { makeService, principal, testClock, testRandom, testRegistry } from '../support/harness.ts';
import { execute, reconcilerDefinition, type TaskHandler } from '../support/lambda/machine.ts';
import { lambdaContext, observed } from '../support/lambda/observed.ts';
import { outboxOf } from '../support/plans.ts';

jest.setTimeout(120_000);

afterEach(() => {
  jest.restoreAllMocks();
});

const SHARDS = 16;

describe('the state machine', () => {
  test('is valid to the published validator', () => {
    const { isValid, errorsText } = validate(reconcilerDefinition());
    expect([isValid, isValid ? '' : errorsText()]).toEqual([true, '']);
  });

  test('stays far below 25,000 events, whatever fails', () => {
    const { States } = reconcilerDefinition() as unknown as {
      States: { Shards: { ItemProcessor: { States: Record<string, object> } } };
    };
    const { Sweep, More } = States.Shards.ItemProcessor.States as {
      Sweep: { Retry: { MaxAttempts: number }[] };
      More: { Choices: { And: { NumericLessThan?: number }[] }[] };
    };
    const rounds = More.Choices[0]?.And[1]?.NumericLessThan ?? Number.NaN;
    const attempts = 1 + (Sweep.Retry[0]?.MaxAttempts ?? Number.NaN);
    // Entered and exited; scheduled, started and ended once for each attempt; the choice; the ends.
    const events = SHARDS * (rounds * (2 + attempts * 3 + 2) + 6) + 50;
    expect([rounds, attempts, events]).toEqual([8, 4, 2_194]);
  });

  test('has tasks so short that a lease outlasts three of them, and then the skew of two clocks', () => {
    const seconds = [...JSON.stringify(reconcilerDefinition()).matchAll(/"TimeoutSeconds":(\d+)/g)]
      .map(([, n]) => Number(n))
      .filter((n) => n !== 900);
    expect(seconds).toEqual([60, 60, 60, 60]);
    expect(RECONCILE.leaseMs).toBeGreaterThanOrEqual(3 * 60_000 + 60_000);
  });
});

describeOnDynamo('the state machine over a table', () => {
  const world = dynamoWorld();
  const clock = testClock();
  let client: DynamoDBDocumentClient;
  let store: StorageBackend;
  let tenants = 0;
  let tenant = '';

  beforeEach(() => {
    client = world.client();
    store = world.open(clock, client);
    tenant = `tick-${tenants++}`;
    // Claims and leases of the test before are over.
    clock.advance(3_600_000);
  });
  afterEach(() => store.close());

  const rowOf = (workflow: string, seq: number): OutboxRow =>
    outboxOf(
      { tenant, id: workflow },
      { seq, payload: { kind: 'block', workflow, seq }, due_at: clock.now() },
    );
  const put = async (rows: readonly OutboxRow[]): Promise<void> => {
    for (let i = 0; i < rows.length; i += 100) {
      const writes = rows.slice(i, i + 100).map((row) => create(rowKey(row), row));
      expect(await store.commit({ writes }, clock.now() + 10_000)).toEqual({ ok: true });
    }
  };
  /** The function with a receiver that does what it is told for each message. */
  const functionOn = (
    deliver: (message: Message) => void = () => undefined,
    over = store,
    heads?: DailyHeads,
  ) => {
    const got: Message[] = [];
    const told = observed();
    const random = testRandom(`tick ${tenant} ${Math.random()}`);
    const sink = {
      name: 'log',
      deliver: async (message: Message) => {
        if (message.tenant !== tenant) return;
        got.push(message);
        await Promise.resolve();
        deliver(message);
      },
    };
    const { onDelivery, onFinding } = told.observers;
    const dispatcher = createDispatcher({ store: over, clock, random, onDelivery, sinks: [sink] });
    const registry = testRegistry();
    const parts = { store: over, registry, dispatcher, clock, random, sinks: ['log'], onFinding };
    const { handler } = createReconcileFunction(told.observers, () =>
      Promise.resolve({
        dueShards: () => dueShards(over, clock.now()),
        sweeper: createSweeper(parts),
        ...(heads !== undefined && { heads }),
      }),
    );
    return { ...told, got, handler };
  };
  const left = () => store.listTenantOutbox(tenant, 100);
  const sweptShards = (calls: readonly { readonly [name: string]: unknown }[]) =>
    calls.flatMap(({ task, shard }) => (task === 'sweep' ? [shard] : []));

  test('with nothing to do is one task and one read per shard, without a lease', async () => {
    const { handler } = functionOn();
    await store.shards();
    const meter = meterOf(client);
    const { calls } = await execute(handler);
    expect(calls).toEqual([{ task: 'look' }]);
    const sent = meter.take();
    expect(sent.map(({ operation }) => operation)).toEqual(Array(SHARDS).fill('Query'));
    expect(sent.filter(isWrite)).toEqual([]);
  });

  test.each([{}, { tenantId: null }, null, { shards: 'x', task: 'sweep' }])(
    'started with %j it does what it always does',
    async (input) => {
      await put([rowOf('w1', 1)]);
      const { handler, got } = functionOn();
      await execute(handler, input);
      expect(got).toHaveLength(1);
    },
  );

  test('drains a backlog of 400 rows in order, carrying a few hundred bytes at a time', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => rowOf(`w${i % 50}`, i + 1));
    await put(rows);
    const meter = meterOf(client);
    const { handler, got, metric } = functionOn();
    const begun = performance.now();
    const { calls, bytesMost } = await execute(handler);
    const ms = Math.round(performance.now() - begun);
    process.stdout.write(
      `400 due rows of 50 workflows: ${ms} ms, ${calls.length} tasks, ${meter.take().length} calls of the table, at most ${bytesMost} bytes in a task\n`,
    );
    expect(await left()).toEqual([]);
    expect(new Set(got.map(({ id }) => id)).size).toBe(400);
    expect(got).toHaveLength(400);
    for (const [, sent] of Map.groupBy(got, ({ payload }) => payload['workflow'])) {
      const seqs = sent.map(({ payload }) => Number(payload['seq']));
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    }
    expect(metric('Delivered')).toBe(400);
    expect(bytesMost).toBeLessThan(2_000);
    expect(new Set(sweptShards(calls)).size).toBe(calls.length - 2);
  });

  test('one poisoned row among a hundred is parked, and the ninety-nine leave', async () => {
    await put(Array.from({ length: 100 }, (_, i) => rowOf(`w${i}`, 1)));
    const { handler, got, metric } = functionOn(({ payload }) => {
      if (payload['workflow'] === 'w42') throw new DeliveryError('terminal', 'HTTP 422');
    });
    await execute(handler);
    expect(got).toHaveLength(100);
    expect([metric('Delivered'), metric('DeliveryParked')]).toEqual([99, 1]);
    expect((await store.listParked(tenant, { limit: 10 })).items).toMatchObject([
      { workflow: 'w42', error: 'HTTP 422' },
    ]);
  });

  test('five hundred due rows behind one failing head cost one attempt, and the next look finds nothing', async () => {
    await put(Array.from({ length: 500 }, (_, i) => rowOf('w1', i + 1)));
    const { handler, got } = functionOn(() => {
      throw new DeliveryError('retryable', 'HTTP 503', { retryAfterMs: 600_000 });
    });
    await execute(handler);
    expect(got).toHaveLength(1);
    const { calls } = await execute(handler, {}, 'execution-2');
    expect(calls).toEqual([{ task: 'look' }]);
    clock.advance(600_000);
    const well = functionOn();
    await execute(well.handler, {}, 'execution-3');
    expect(well.got.map(({ payload }) => payload['seq'])).toEqual(
      Array.from({ length: 500 }, (_, i) => i + 1),
    );
  });

  test('a shard with more work than time goes on, and is left to the next tick after eight rounds', async () => {
    await put([rowOf('w1', 1)]);
    const { handler } = functionOn();
    // No time is left for a single delivery.
    const { calls } = await execute(handler, {}, 'execution-1', 14_000);
    const rounds = calls.flatMap(({ task, round }) => (task === 'sweep' ? [round] : []));
    expect(rounds).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(calls.at(-1)).toMatchObject({ task: 'report' });
    expect(await left()).toMatchObject([{ attempts: 0 }]);
    await execute(handler, {}, 'execution-2');
    expect(await left()).toEqual([]);
  });

  /** Handles a task and then ends as a process does that is killed: without an answer or a release. */
  const killedIn = (task: string, times: number, well: TaskHandler, dying: TaskHandler) => {
    let killed = 0;
    const handler: TaskHandler = async (event, context) => {
      if ((event as { task?: unknown }).task !== task || killed >= times)
        return well(event, context);
      killed += 1;
      await dying(event, context);
      throw new Error('the process ended');
    };
    return { handler, killed: () => killed };
  };
  const dead = (): StorageBackend => ({ ...store, releaseLease: () => Promise.resolve(false) });

  test.each(['look', 'sweep', 'report'])(
    'a process that is killed in the task %s is tried again under the same name, and nothing leaves twice',
    async (task) => {
      await put(Array.from({ length: 20 }, (_, i) => rowOf(`w${i}`, 1)));
      const well = functionOn();
      const dying = functionOn(undefined, dead());
      const { handler, killed } = killedIn(task, 1, well.handler, dying.handler);
      await execute(handler);
      expect(killed()).toBe(1);
      const ids = [...well.got, ...dying.got].map(({ id }) => id);
      expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
      expect(await left()).toEqual([]);
    },
  );

  test('a task that timed out and goes on commits too late: the retry has repaired, and nothing is doubled', async () => {
    const { ok } = makeService(store, { clock, seed: `work ${tenant}` });
    const start = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' } as const;
    const { workflow: id } = (await ok(principal({ tenant }), start)).receipt;
    const lost = {
      op: 'update',
      key: lockKey(tenant, 'UNIT-1'),
      expect: {},
      set: { held: false },
      remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
    } as const;
    expect(await store.commit({ writes: [lost] }, clock.now() + 10_000)).toEqual({ ok: true });
    clock.advance(RECONCILE.checkMs);
    // The repair of the slow one stands still until the execution has ended.
    const ended = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const late: unknown[] = [];
    const slow = functionOn(undefined, {
      ...store,
      commit: async (transaction, deadlineMs) => {
        if (transaction.lease === undefined) return store.commit(transaction, deadlineMs);
        stopped.resolve();
        await ended.promise;
        const result = await store.commit(transaction, clock.now() + 10_000);
        late.push(result);
        return result;
      },
    });
    const well = functionOn();
    let going: Promise<unknown> | undefined;
    await execute(async (event, context) => {
      const { task } = event as { readonly task: string };
      if (task !== 'sweep' || going !== undefined) return well.handler(event, context);
      going = slow.handler(event, context);
      await Promise.race([stopped.promise, going]);
      throw new Error('States.Timeout');
    });
    const seen = async () => [
      await store.snapshot([{ kind: 'workflow', tenant, id }, lockKey(tenant, 'UNIT-1')]),
      await store.listEvents(tenant, id, { after: 1, limit: 10 }),
    ];
    const settled = await seen();
    ended.resolve();
    await going;
    expect(late).toMatchObject([{ ok: false, leaseLost: true }]);
    expect(await seen()).toEqual(settled);
    expect(settled).toMatchObject([[{ fence: 2 }, { held: true, workflow: id }], [{ seq: 2 }]]);
    const end = { workflow: id, tenure: 1, reason: 'over' } as const;
    await ok(principal({ tenant }), { type: 'abandon_workflow', ...end });
    clock.advance(RECONCILE.lastCheckMs);
    await execute(well.handler, {}, 'execution-2');
  });

  test('a shard that fails every time fails the execution after every other shard, and the next tick sweeps it', async () => {
    await put(Array.from({ length: 60 }, (_, i) => rowOf(`w${i}`, 1)));
    const { handler, got, metric } = functionOn();
    const [victim] = (await dueShards(store, clock.now())).shards;
    const failing: TaskHandler = (event, context) => {
      const { task, shard } = event as { readonly task: string; readonly shard?: number };
      return task === 'sweep' && shard === victim
        ? Promise.reject(new Error('the process ended'))
        : handler(event, context);
    };
    await expect(execute(failing)).rejects.toThrow('A shard was not swept after every retry');
    const before = got.length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(60);
    expect(metric('ShardsFailed')).toBe(1);
    await execute(handler, {}, 'execution-2');
    expect(got).toHaveLength(60);
  });

  test('a deadline that has passed is told once, by the tick after it, and the next one finds nothing', async () => {
    const ana = principal({ tenant });
    const { ok } = makeService(store, { clock, seed: `work ${tenant}` });
    const start = { type: 'start_workflow', procedure: 'timed', asset: 'UNIT-1' } as const;
    const { workflow: id } = (await ok(ana, start)).receipt;
    const input = { kind: 'confirm', confirmed: true } as const;
    await ok(ana, { type: 'record_step', workflow: id, step: 'ready', input });
    const { handler, got, metric } = functionOn();
    clock.advance(60 * 60_000 - 1);
    await execute(handler);
    expect(got.map(({ payload }) => payload['kind'])).toEqual([]);
    clock.advance(1);
    const { calls, bytesMost } = await execute(handler, {}, 'execution-2');
    expect(sweptShards(calls)).toHaveLength(1);
    expect(bytesMost).toBeLessThan(2_000);
    expect([metric('Overdue'), metric('Repairs')]).toEqual([3, 0]);
    const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id }]);
    expect(workflow).toMatchObject({
      state: 'BLOCKED',
      block: { reason: 'overdue', step: 'check' },
    });
    clock.advance(RECONCILE.tickMs);
    await execute(handler, {}, 'execution-3');
    expect(got.map(({ payload }) => payload['kind'])).toEqual(['overdue', 'reminder', 'block']);
    clock.advance(RECONCILE.tickMs);
    expect((await execute(handler, {}, 'execution-4')).calls).toEqual([{ task: 'look' }]);
    const cara = principal({ tenant, subject: 'dev:cara', scopes: ['procedures:supervise'] });
    const block = workflow?.block?.seq ?? 0;
    const end = { decision: 'abandon', reason: 'too late' } as const;
    await ok(cara, { type: 'resolve_block', workflow: id, block, ...end });
    clock.advance(RECONCILE.lastCheckMs);
    await execute(handler, {}, 'execution-5');
    expect(metric('Overdue')).toBe(3);
  });

  describe('signs the heads of each day', () => {
    /** Heads that are done after so many tasks, and fail as often as they are told. */
    const headsOf = (tasks: number, failures = 0) => {
      const state = { tasks, failures, signed: 0, asked: 0 };
      const heads: DailyHeads = {
        due: () => {
          state.asked += 1;
          if (state.failures > 0) return Promise.reject(new Error('no bucket'));
          return Promise.resolve(state.signed < state.tasks);
        },
        sign: () => {
          if (state.failures > 0) {
            state.failures -= 1;
            return Promise.reject(new Error('no bucket'));
          }
          state.signed += 1;
          return Promise.resolve({ parts: 1, heads: 2, more: state.signed < state.tasks });
        },
      };
      return { state, heads };
    };
    const tasksOf = async (handler: TaskHandler, name: string) =>
      (await execute(handler, {}, name)).calls.map(({ task }) => task);

    test('after the sweeps of a tick, one task a tick until the list is whole, and then no more', async () => {
      await put([rowOf('w1', 1)]);
      const { heads } = headsOf(2);
      const { handler, got, lines } = functionOn(undefined, store, heads);
      expect(await tasksOf(handler, 'execution-1')).toEqual(['look', 'sweep', 'report', 'heads']);
      expect(got).toHaveLength(1);
      expect(await tasksOf(handler, 'execution-2')).toEqual(['look', 'heads']);
      expect(await tasksOf(handler, 'execution-3')).toEqual(['look']);
      expect(lines.filter((line) => line.includes('list of heads signed'))).toHaveLength(2);
    });

    test('a bucket that cannot be used holds up no sweep, fails the execution, and is tried again', async () => {
      await put([rowOf('w1', 1)]);
      const { heads, state } = headsOf(1, 4);
      const { handler, got } = functionOn(undefined, store, heads);
      await expect(execute(handler)).rejects.toThrow('the task failed');
      expect([got.length, state.failures]).toEqual([1, 0]);
      expect(await tasksOf(handler, 'execution-2')).toEqual(['look', 'heads']);
    });

    test('a failure that passes is tried again within the tick', async () => {
      const { heads, state } = headsOf(1, 2);
      const { handler } = functionOn(undefined, store, heads);
      expect(await tasksOf(handler, 'execution-1')).toEqual(['look', 'heads', 'heads', 'heads']);
      expect(state.signed).toBe(1);
    });
  });

  test('no state waits for a moment or compares one: times are the function\u2019s alone', () => {
    const text = JSON.stringify(reconcilerDefinition());
    expect(text).not.toMatch(/"Wait"|Timestamp/);
  });

  test('a shard whose lease another execution holds is left alone', async () => {
    await put([rowOf('w1', 1)]);
    const [shard = -1] = (await dueShards(store, clock.now())).shards;
    const now = clock.now();
    await store.takeLease(shard, 'execution-0', { now, until: now + RECONCILE.leaseMs });
    const { handler, got } = functionOn();
    await execute(handler);
    expect(got).toEqual([]);
    clock.advance(RECONCILE.leaseMs);
    await execute(handler, {}, 'execution-2');
    expect(got).toHaveLength(1);
  });

  test.each<[unknown, string]>([
    [undefined, 'expected task to be look, sweep, report or heads'],
    [{ task: null }, 'expected task to be look, sweep, report or heads'],
    [{ task: 'sweep' }, 'expected shard to be a whole number from 0'],
    [{ task: 'sweep', shard: -1 }, 'expected shard to be a whole number from 0'],
    [{ task: 'sweep', shard: 0, round: 'x' }, 'expected round to be a whole number from 0'],
    [{ task: 'report', shards: null }, 'expected shards to be a list'],
  ])('the function refuses %j by name', async (event, sentence) => {
    await expect(functionOn().handler(event, lambdaContext())).rejects.toThrow(sentence);
  });

  test('a foreign error reaches no execution', async () => {
    const broken: StorageBackend = {
      ...store,
      listDue: () => Promise.reject(new Error('pressure of Ana was 2.1 bar')),
    };
    const { handler, lines } = functionOn(undefined, broken);
    await expect(handler({ task: 'look' }, lambdaContext())).rejects.toThrow(/^the task failed$/);
    expect(lines.join()).not.toContain('2.1 bar');
  });
});
