import { expect, test } from '@jest/globals';
import { createDispatcher, type Dispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { DELIVERY, redriven, rowKey } from '../../../lib/core/dispatch/row.ts';
import type { OutboxRow } from '../../../lib/core/model/workflow.ts';
import {
  DeliveryError,
  type Message,
  type NotificationSink,
} from '../../../lib/core/ports/sink.ts';
import { testRandom } from '../../support/harness.ts';
import { outboxOf } from '../../support/plans.ts';
import { create, type Bench, type UseBench } from './bench.ts';

const GO_ON = (): boolean => true;

/** Delivery over a real store: order, claims, failures, parking. Effects are counted at the receiver. */
export function dispatchCases(use: UseBench): void {
  const put = async ({ commit }: Bench, ...rows: readonly OutboxRow[]): Promise<void> => {
    for (let i = 0; i < rows.length; i += 100) {
      await commit(...rows.slice(i, i + 100).map((row) => create(rowKey(row), row)));
    }
  };
  /** A receiver that notes the sequence of every delivery and does what it is told for it. */
  const receiver = (
    answer: (message: Message, nth: number) => void | Promise<void> = () => undefined,
  ) => {
    const got: { readonly id: string; readonly seq: number }[] = [];
    const sink: NotificationSink = {
      name: 'log',
      deliver: async (message) => {
        // A shared table may hold due rows of other tests.
        if (message.tenant !== use().tenant) return;
        got.push({ id: message.id, seq: Number(message.payload['seq']) });
        await answer(message, got.filter(({ id }) => id === message.id).length);
      },
    };
    return { got, sink, seqs: () => got.map(({ seq }) => seq) };
  };
  let seed = 0;
  const dispatcher = ({ store, clock }: Bench, ...sinks: readonly NotificationSink[]): Dispatcher =>
    createDispatcher({ store, clock, sinks, random: testRandom(`dispatcher ${seed++}`) });
  /** Drains every shard once, as a sweep does. */
  const sweep = async ({ store }: Bench, by: Dispatcher): Promise<void> => {
    for (let shard = 0; shard < (await store.shards()); shard++) {
      await by.drainDue(shard, GO_ON, 4);
    }
  };
  const row = (
    { tenant }: Bench,
    seq: number,
    part: Partial<OutboxRow> & { id?: string } = {},
    w = 'w1',
  ) => outboxOf({ tenant, id: w }, { seq, payload: { kind: 'block', seq }, ...part });
  const lane = ({ tenant }: Bench, workflow = 'w1') => ({ tenant, workflow, lane: 'notify:log' });
  const left = ({ store, tenant }: Bench) => store.listOutbox(tenant, 'w1', 100);

  test('rows of a lane leave in order, once each, and are gone from the table', async () => {
    const bench = use();
    const { got, seqs, sink } = receiver();
    await put(bench, row(bench, 11), row(bench, 2), row(bench, 3));
    const drained = await dispatcher(bench, sink).drainLane(lane(bench), GO_ON);
    expect(drained).toEqual({ counts: { delivered: 3, failed: 0, parked: 0, lost: 0 } });
    expect(seqs()).toEqual([2, 3, 11]);
    expect(new Set(got.map(({ id }) => id)).size).toBe(3);
    expect(await left(bench)).toEqual([]);
  });

  test('a failed row is due again later, with the same id, and those behind it wait for it', async () => {
    const bench = use();
    const { clock } = bench;
    const { got, seqs, sink } = receiver((_, nth) => {
      if (nth === 1 && seqs().at(-1) === 1) throw new DeliveryError('retryable', 'HTTP 503');
    });
    await put(bench, row(bench, 1), row(bench, 2));
    const by = dispatcher(bench, sink);
    const first = await by.drainLane(lane(bench), GO_ON);
    expect(first.counts).toEqual({ delivered: 0, failed: 1, parked: 0, lost: 0 });
    const [head] = await left(bench);
    expect(head).toMatchObject({
      seq: 1,
      attempts: 1,
      error: 'HTTP 503',
      due_at: first.waits?.until,
    });
    expect(head?.claim).toBeUndefined();
    expect(seqs()).toEqual([1]);
    clock.set((first.waits?.until ?? 0) - 1);
    await by.drainLane(lane(bench), GO_ON);
    expect(seqs()).toEqual([1]);
    clock.advance(1);
    await by.drainLane(lane(bench), GO_ON);
    expect(seqs()).toEqual([1, 1, 2]);
    expect(got[0]?.id).toBe(got[1]?.id);
    expect(await left(bench)).toEqual([]);
  });

  test('a receiver that asks for a pause gets it', async () => {
    const bench = use();
    const { sink } = receiver(() => {
      throw new DeliveryError('retryable', 'HTTP 429', { retryAfterMs: 120_000 });
    });
    await put(bench, row(bench, 1));
    const { waits } = await dispatcher(bench, sink).drainLane(lane(bench), GO_ON);
    expect(waits).toEqual({ for: 'due_time', until: bench.clock.now() + 120_000 });
  });

  test('a row that the receiver never takes is parked after the last attempt, and the next one goes on', async () => {
    const bench = use();
    const { clock, store, tenant } = bench;
    const { seqs, sink } = receiver((message) => {
      if (message.payload['seq'] === 1) throw new DeliveryError('unknown', 'no answer in time');
    });
    await put(bench, row(bench, 1), row(bench, 2));
    const by = dispatcher(bench, sink);
    for (let i = 0; i < DELIVERY.attempts + 3; i++) {
      clock.advance(DELIVERY.longestPauseMs);
      await sweep(bench, by);
    }
    expect(seqs().filter((seq) => seq === 1)).toHaveLength(DELIVERY.attempts);
    expect(seqs().at(-1)).toBe(2);
    const { items } = await store.listParked(tenant, { limit: 10 });
    expect(items).toMatchObject([
      { seq: 1, attempts: DELIVERY.attempts, error: 'no answer in time' },
    ]);
    expect(items[0]?.claim).toBeUndefined();
  });

  test('a message that the receiver refuses for good is parked at once and can be sent again', async () => {
    const bench = use();
    const { clock, store, tenant } = bench;
    const { seqs, sink } = receiver((_, nth) => {
      if (nth === 1) throw new DeliveryError('terminal', 'HTTP 422');
    });
    await put(bench, row(bench, 1));
    const by = dispatcher(bench, sink);
    await by.drainLane(lane(bench), GO_ON);
    const [parked] = (await store.listParked(tenant, { limit: 10 })).items;
    expect(parked).toMatchObject({ seq: 1, attempts: 1, error: 'HTTP 422' });
    if (parked === undefined) throw new Error('a row is parked');
    await store.keep(redriven(parked, clock.now()).write, clock.now() + 10_000);
    await sweep(bench, by);
    expect(seqs()).toEqual([1, 1]);
    expect(await left(bench)).toEqual([]);
  });

  test('a failing lane holds up no other lane and no other workflow', async () => {
    const bench = use();
    const bad: NotificationSink = {
      name: 'bad',
      deliver: () => Promise.reject(new DeliveryError('retryable', 'HTTP 500')),
    };
    const { seqs, sink } = receiver();
    const due = { due_at: bench.clock.now() };
    await put(
      bench,
      row(bench, 1, { ...due, lane: 'notify:bad' }),
      row(bench, 1, due),
      row(bench, 2, due),
      row(bench, 3, due, 'w2'),
    );
    await sweep(bench, dispatcher(bench, bad, sink));
    expect(new Set(seqs())).toEqual(new Set([1, 2, 3]));
    expect(seqs()).toHaveLength(3);
    expect(await left(bench)).toMatchObject([{ lane: 'notify:bad', attempts: 1 }]);
  });

  test('rows behind a head that waits are due with it, and cost a sweep nothing until then', async () => {
    const bench = use();
    const { clock, tenant } = bench;
    const { seqs, sink } = receiver((_, nth) => {
      if (nth === 1) throw new DeliveryError('retryable', 'HTTP 503');
    });
    const due = { due_at: clock.now() };
    await put(bench, ...Array.from({ length: 30 }, (_, i) => row(bench, i + 1, due)));
    await sweep(bench, dispatcher(bench, sink));
    const rows = await bench.store.listTenantOutbox(tenant, 100);
    expect(new Set(rows.map(({ due_at }) => due_at)).size).toBe(1);
    expect(rows[0]?.due_at).toBeGreaterThan(clock.now());
    expect(rows.map(({ attempts }) => attempts).filter((n) => n > 0)).toEqual([1]);
    expect(seqs()).toEqual([1]);
  });

  test('two dispatchers over the same rows deliver each once', async () => {
    const bench = use();
    const due = { due_at: bench.clock.now() };
    const rows = Array.from({ length: 60 }, (_, i) => row(bench, i + 1, due, `w${i % 10}`));
    await put(bench, ...rows);
    const a = receiver();
    const b = receiver();
    await Promise.all([
      sweep(bench, dispatcher(bench, a.sink)),
      sweep(bench, dispatcher(bench, b.sink)),
    ]);
    await sweep(bench, dispatcher(bench, a.sink));
    const ids = [...a.got, ...b.got].map(({ id }) => id);
    expect(ids).toHaveLength(60);
    expect(new Set(ids).size).toBe(60);
  });

  test('a row whose dispatcher died is delivered by another after the claim, with the same id', async () => {
    const bench = use();
    const { clock } = bench;
    const { got, sink } = receiver();
    // The first one never comes back from its delivery.
    const dead: NotificationSink = {
      name: 'log',
      deliver: ({ id }) => {
        got.push({ id, seq: 1 });
        return new Promise(() => undefined);
      },
    };
    await put(bench, row(bench, 1));
    void dispatcher(bench, dead).drainLane(lane(bench), GO_ON);
    while (got.length === 0) await clock.sleep(0);
    const claimed = clock.now();
    const by = dispatcher(bench, sink);
    const early = await by.drainLane(lane(bench), GO_ON);
    expect(early).toMatchObject({
      counts: { delivered: 0 },
      waits: { for: 'claimer', until: claimed + DELIVERY.claimMs },
    });
    clock.set(claimed + DELIVERY.claimMs);
    await by.drainLane(lane(bench), GO_ON);
    expect(got).toHaveLength(2);
    expect(got[0]?.id).toBe(got[1]?.id);
    expect(await left(bench)).toEqual([]);
  });

  test('a dispatcher that wakes after its claim was taken over changes nothing', async () => {
    const bench = use();
    const { clock } = bench;
    let wake: (error?: Error) => void = () => undefined;
    const slow: NotificationSink = {
      name: 'log',
      deliver: () =>
        new Promise((resolve, reject) => {
          wake = (error) => (error === undefined ? resolve() : reject(error));
        }),
    };
    await put(bench, row(bench, 1), row(bench, 2));
    const results: string[] = [];
    const paused = createDispatcher({
      store: bench.store,
      clock,
      sinks: [slow],
      random: testRandom('paused'),
      onDelivery: (_, result) => results.push(result),
    }).drainLane(lane(bench), GO_ON);
    const begun = wake;
    while (wake === begun) await clock.sleep(0);
    clock.advance(DELIVERY.claimMs);
    const failing = receiver(() => {
      throw new DeliveryError('retryable', 'HTTP 503');
    });
    await dispatcher(bench, failing.sink).drainLane(lane(bench), GO_ON);
    const before = await left(bench);
    wake();
    await paused;
    expect(results).toEqual(['lost']);
    expect(await left(bench)).toEqual(before);
    expect(before).toMatchObject([{ seq: 1, attempts: 2, error: 'HTTP 503' }, { seq: 2 }]);
  });

  test('a row that kills every dispatcher is parked, because attempts count when they begin', async () => {
    const bench = use();
    const { clock, store, tenant } = bench;
    let started = 0;
    const deadly: NotificationSink = {
      name: 'log',
      deliver: () => {
        started += 1;
        return new Promise(() => undefined);
      },
    };
    await put(bench, row(bench, 1));
    for (let i = 1; i <= DELIVERY.attempts; i++) {
      void dispatcher(bench, deadly).drainLane(lane(bench), GO_ON);
      while (started < i) await clock.sleep(0);
      clock.advance(DELIVERY.claimMs);
    }
    const { sink, got } = receiver();
    await dispatcher(bench, sink).drainLane(lane(bench), GO_ON);
    expect(got).toEqual([]);
    expect((await store.listParked(tenant, { limit: 10 })).items).toMatchObject([
      { seq: 1, attempts: DELIVERY.attempts, error: 'no attempt to deliver it came to an end' },
    ]);
  });

  test('a row for a sink that is not configured waits, and is delivered once it is', async () => {
    const bench = use();
    const { clock } = bench;
    await put(bench, row(bench, 1));
    await dispatcher(bench).drainLane(lane(bench), GO_ON);
    expect(await left(bench)).toMatchObject([{ error: 'no such sink is configured', attempts: 1 }]);
    const { sink, seqs } = receiver();
    clock.advance(DELIVERY.longestPauseMs);
    await sweep(bench, dispatcher(bench, sink));
    expect(seqs()).toEqual([1]);
  });
}
