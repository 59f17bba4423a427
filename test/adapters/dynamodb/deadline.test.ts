// Nothing is sent after a deadline, whatever keeps a call from being sent in time; and an answer that
// says when it was signed is not the caller's fault.
import { beforeEach, expect, test } from '@jest/globals';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { faultOf, workflowKey } from '../../contract/storage/bench.ts';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import {
  cancelled,
  cutOff,
  exception,
  firstCalls,
  itemsOf,
  shimOn,
  type Shim,
} from '../../support/dynamodb/shim.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import { testClock, testRandom, type TestClock } from '../../support/harness.ts';
import { startTransaction } from '../../support/plans.ts';

const WRITE = 'TransactWriteItems';

describeOnDynamo('deadlines on the way', () => {
  const world = dynamoWorld();
  let n = 0;
  let tenant: string;
  let clock: TestClock;
  let store: StorageBackend;
  let shim: Shim;

  beforeEach(() => {
    tenant = `d${++n}`;
    clock = testClock();
    const client = world.client();
    shim = shimOn(client);
    store = world.open(clock, client);
  });

  const commit = (ms = 1_000) => store.commit(startTransaction({ tenant }), clock.now() + ms);
  const writes = () => shim.sent().filter((name) => name === WRITE);

  test('a container that is frozen before a call leaves its SDK sends nothing when it wakes', async () => {
    const client = world.client();
    const inner = shimOn(client);
    client.middlewareStack.add(
      (next) => (args) => {
        clock.advance(1_800_000);
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name: 'freeze' },
    );
    const frozen = world.open(clock, client);
    const fault = await faultOf(frozen.commit(startTransaction({ tenant }), clock.now() + 1_000));
    expect(fault).toMatchObject({ kind: 'retryable', code: 'DEADLINE_EXCEEDED' });
    expect(inner.sent()).toEqual([]);
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('a container that is frozen between two sends of the SDK does not send again, and does not know', async () => {
    shim.set(
      firstCalls(WRITE, 1, () => {
        clock.advance(1_800_000);
        return cutOff('ECONNRESET');
      }),
    );
    expect(await faultOf(commit())).toMatchObject({ kind: 'unknown', code: 'BACKEND_UNAVAILABLE' });
    expect(writes()).toEqual([WRITE]);
    expect(await store.snapshot([workflowKey(tenant)])).toEqual([undefined]);
  });

  test('a container that is frozen while others are in the way sends nothing when it wakes', async () => {
    shim.set(
      firstCalls(WRITE, 1, (call) => {
        clock.advance(1_800_000);
        return Promise.resolve(
          cancelled(Array.from({ length: itemsOf(call) }, () => 'TransactionConflict')),
        );
      }),
    );
    expect(await faultOf(commit())).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(writes()).toEqual([WRITE]);
  });

  test('a write that is never answered is given up soon after its deadline, and its fate is unknown', async () => {
    shim.set(
      firstCalls(WRITE, 10, (call) => call.pass().then(() => new Promise<never>(() => undefined))),
    );
    const late = Promise.race([
      faultOf(commit(50)),
      new Promise<string>((resolve) => {
        setTimeout(() => resolve('still waiting'), 5_000);
      }),
    ]);
    expect(await late).toMatchObject({ kind: 'unknown' });
  });

  test('all sends of one plan carry one token, and another plan carries another', async () => {
    const tokens: (string | undefined)[] = [];
    shim.set((call) => {
      if (call.operation !== WRITE) return undefined;
      tokens.push(call.body.ClientRequestToken);
      if (tokens.length === 1) return cutOff('ECONNRESET');
      if (tokens.length > 3) return undefined;
      return Promise.resolve(
        tokens.length === 2
          ? exception('TransactionInProgressException')
          : cancelled(Array.from({ length: itemsOf(call) }, () => 'TransactionConflict')),
      );
    });
    expect(await commit(10_000)).toEqual({ ok: true });
    expect(tokens).toHaveLength(4);
    expect(new Set(tokens).size).toBe(1);
    const other = startTransaction({ tenant, id: 'w2', asset: 'A-2' });
    await store.commit(other, clock.now() + 1_000);
    expect(new Set(tokens).size).toBe(2);
  });

  test('a signature that is too old after a freeze is made again once, and the caller sees nothing', async () => {
    shim.set(
      firstCalls(WRITE, 1, () =>
        Promise.resolve({
          ...exception('InvalidSignatureException', { message: 'Signature expired: too old' }),
          headers: {
            'content-type': 'application/x-amz-json-1.0',
            date: new Date(Date.now() + 1_800_000).toUTCString(),
          },
        }),
      ),
    );
    expect(await commit()).toEqual({ ok: true });
    expect(writes()).toEqual([WRITE, WRITE]);
  });

  test('a read that is never answered ends with a fault that may be tried again', async () => {
    const client = world.client();
    const hanging = shimOn(client);
    const tableName = world.tableName;
    const random = testRandom('hanging');
    const impatient = createDynamoStore({ client, tableName, clock, random, ownTimeoutMs: 100 });
    hanging.set(() => cutOff('TimeoutError'));
    const fault = await faultOf(impatient.snapshot([workflowKey(tenant)]));
    expect(fault).toMatchObject({ kind: 'retryable', code: 'BACKEND_UNAVAILABLE' });
  });
});
