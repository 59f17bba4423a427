import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { laneOfKeys } from '../../lib/adapters/dynamodb/stream.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { rowKey } from '../../lib/core/dispatch/row.ts';
import { Fault } from '../../lib/core/fault.ts';
import { tableKey } from '../../lib/core/keys.ts';
import type { OutboxRow } from '../../lib/core/model/workflow.ts';
import { DeliveryError, type Message } from '../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createRelayFunction } from '../../lib/lambda/relay-handler.ts';
import { create } from '../contract/storage/bench.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock, testRandom } from '../support/harness.ts';
import { lambdaContext, observed } from '../support/lambda/observed.ts';
import { outboxOf } from '../support/plans.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const recordOf = (row: OutboxRow) => {
  const { pk, sk } = tableKey(rowKey(row));
  return { eventName: 'INSERT', dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } };
};
const BROKEN = [
  {},
  null,
  7,
  { dynamodb: {} },
  { dynamodb: { Keys: { pk: { S: 'T#a%#W#w' }, sk: { S: 'O#notify:log#000000000001' } } } },
  { dynamodb: { Keys: { pk: { S: 'T#a#W#w' }, sk: { S: 'STATE' } } } },
  { dynamodb: { Keys: { pk: { N: '1' }, sk: { S: 'O#notify:log#000000000001' } } } },
];

describeOnDynamo('the relay over a table', () => {
  const world = dynamoWorld();
  const clock = testClock();
  let store: StorageBackend;
  let tenants = 0;
  let tenant = '';

  beforeEach(() => {
    store = world.open(clock);
    tenant = `relay-${tenants++}`;
  });
  afterEach(() => store.close());

  const rowOf = (workflow: string, seq: number): OutboxRow =>
    outboxOf({ tenant, id: workflow }, { seq, payload: { kind: 'block', workflow, seq } });
  const put = async (...rows: readonly OutboxRow[]): Promise<void> => {
    const writes = rows.map((row) => create(rowKey(row), row));
    expect(await store.commit({ writes }, clock.now() + 10_000)).toEqual({ ok: true });
  };
  /** A relay whose receiver does what it is told for each message. */
  const relay = (deliver: (message: Message) => void = () => undefined, over = store) => {
    const got: Message[] = [];
    const told = observed();
    const { handler } = createRelayFunction(told.observers, () =>
      Promise.resolve({
        laneOf: laneOfKeys,
        dispatcher: createDispatcher({
          store: over,
          clock,
          random: testRandom(`relay ${tenant}`),
          onDelivery: told.observers.onDelivery,
          sinks: [
            {
              name: 'log',
              deliver: async (message) => {
                got.push(message);
                await Promise.resolve();
                deliver(message);
              },
            },
          ],
        }),
      }),
    );
    const run = (...records: readonly unknown[]) =>
      handler({ Records: records }, lambdaContext(60_000));
    return { ...told, got, run, handler };
  };
  const seqsOf = (got: readonly Message[], workflow: string) =>
    got.flatMap(({ payload }) => (payload['workflow'] === workflow ? [payload['seq']] : []));

  test.each(BROKEN)(
    'of ten records the fourth is %j: nine leave, and the batch succeeds',
    async (broken) => {
      const rows = [1, 2, 3].flatMap((seq) => ['w1', 'w2', 'w3'].map((w) => rowOf(w, seq)));
      await put(...rows);
      const { got, run, metric } = relay();
      const records: unknown[] = rows.map(recordOf);
      records.splice(3, 0, broken);
      await run(...records);
      expect(got).toHaveLength(9);
      for (const workflow of ['w1', 'w2', 'w3']) expect(seqsOf(got, workflow)).toEqual([1, 2, 3]);
      expect(await store.listTenantOutbox(tenant, 100)).toEqual([]);
      expect([metric('Delivered'), metric('ForeignRecords')]).toEqual([9, 1]);
    },
  );

  test('a record whose delivery fails is recorded on its row, holds up its lane alone, and the batch succeeds', async () => {
    const rows = Array.from({ length: 10 }, (_, i) => rowOf(`w${i}`, 1));
    await put(...rows, rowOf('w3', 2));
    const { got, run, metric, lines } = relay(({ payload }) => {
      if (payload['workflow'] === 'w3') throw new DeliveryError('retryable', 'HTTP 503');
    });
    await run(...rows.map(recordOf), recordOf(rowOf('w3', 2)));
    expect(got).toHaveLength(10);
    expect(await store.listOutbox(tenant, 'w3', 10)).toMatchObject([
      { seq: 1, attempts: 1, error: 'HTTP 503' },
      { seq: 2, attempts: 0 },
    ]);
    expect([metric('Delivered'), metric('DeliveryFailed')]).toEqual([9, 1]);
    expect(lines.join('\n')).toContain('HTTP 503');
  });

  test('a record that is refused for good is parked, and the row behind it leaves', async () => {
    await put(rowOf('w1', 1), rowOf('w1', 2));
    const { got, run, metric } = relay(({ payload }) => {
      if (payload['seq'] === 1) throw new DeliveryError('terminal', 'HTTP 422');
    });
    await run(recordOf(rowOf('w1', 1)));
    expect(seqsOf(got, 'w1')).toEqual([1, 2]);
    expect([metric('Delivered'), metric('DeliveryParked')]).toEqual([1, 1]);
    const { items } = await store.listParked(tenant, { limit: 10 });
    expect(items).toMatchObject([{ seq: 1, error: 'HTTP 422' }]);
  });

  test('an event that comes again, also at the same time, delivers nothing twice', async () => {
    const rows = Array.from({ length: 10 }, (_, i) => rowOf(`w${i % 3}`, i + 1));
    await put(...rows);
    const first = relay();
    const second = relay();
    const records = rows.map(recordOf);
    await Promise.all([first.run(...records), second.run(...records)]);
    await first.run(...records);
    const ids = [...first.got, ...second.got].map(({ id }) => id);
    expect(ids).toHaveLength(10);
    expect(new Set(ids).size).toBe(10);
  });

  test('a repeat of a delivery that was not answered carries the same id', async () => {
    await put(rowOf('w1', 1));
    const { got, run } = relay(() => {
      throw new DeliveryError('unknown', 'no answer in time');
    });
    await run(recordOf(rowOf('w1', 1)));
    clock.advance(3_600_000);
    await run(recordOf(rowOf('w1', 1)));
    expect(got).toHaveLength(2);
    expect(got[0]?.id).toBe(got[1]?.id);
  });

  test('without the time for a whole delivery nothing is begun, and the batch succeeds', async () => {
    await put(rowOf('w1', 1));
    const { got, handler } = relay();
    await handler({ Records: [recordOf(rowOf('w1', 1))] }, lambdaContext(14_000));
    expect(got).toEqual([]);
    expect(await store.listOutbox(tenant, 'w1', 10)).toMatchObject([{ attempts: 0 }]);
  });

  test('a table that cannot be used fails the batch in words of our own, after every other lane', async () => {
    await put(rowOf('w1', 1), rowOf('w2', 1));
    const failing: StorageBackend = {
      ...store,
      laneHead: (of, workflow, lane) =>
        workflow === 'w1'
          ? Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'the table is throttled'))
          : store.laneHead(of, workflow, lane),
    };
    const { got, run, metric } = relay(undefined, failing);
    await expect(run(recordOf(rowOf('w1', 1)), recordOf(rowOf('w2', 1)))).rejects.toThrow(
      /^the store cannot be used$/,
    );
    expect(seqsOf(got, 'w2')).toEqual([1]);
    expect([metric('Delivered'), metric('Faults')]).toEqual([1, 1]);
  });

  test('a row that cannot be read fails no batch', async () => {
    await put(rowOf('w1', 1), rowOf('w2', 1));
    const damaged: StorageBackend = {
      ...store,
      laneHead: (of, workflow, lane) =>
        workflow === 'w1'
          ? Promise.reject(new Fault('terminal', 'ITEM_DAMAGED', 'the row is damaged'))
          : store.laneHead(of, workflow, lane),
    };
    const { got, run } = relay(undefined, damaged);
    await run(recordOf(rowOf('w1', 1)), recordOf(rowOf('w2', 1)));
    expect(seqsOf(got, 'w2')).toEqual([1]);
  });

  test.each([undefined, null, 'x', [], {}, { Records: 'x' }])(
    'invoked with %j it does nothing and succeeds',
    async (event) => {
      const { handler, got, metric } = relay();
      await handler(event, lambdaContext());
      expect(got).toEqual([]);
      expect(metric('ForeignRecords')).toBe(1);
    },
  );
});

test('a relay that cannot start fails its batch, and starts with the next one', async () => {
  const { observers, metric, lines } = observed();
  let starts = 0;
  const { handler, started } = createRelayFunction(observers, () =>
    ++starts === 1
      ? Promise.reject(new Error('CHECKPOINT_TABLE is not set'))
      : Promise.resolve({
          laneOf: () => undefined,
          dispatcher: { drainLane: () => Promise.reject(new Error('no lane is drained')) },
        }),
  );
  await started;
  await handler({ Records: [] }, lambdaContext());
  expect(starts).toBe(2);
  expect(lines.join()).toContain('CHECKPOINT_TABLE is not set');
  expect(metric('FailedStarts')).toBe(1);
});
