// While a transaction is being written, plain reads see some of its items; indexes follow later. What
// decides is read as of one moment, and lists only ever show what the table says.
import { beforeEach, expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import {
  cancelled,
  firstCalls,
  itemsOf,
  jsonOf,
  shimOn,
  type Answer,
  type PassingCall,
  type Shim,
} from '../../support/dynamodb/shim.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import {
  makeService,
  principal,
  testClock,
  type TestClock,
  type TestService,
} from '../../support/harness.ts';

describeOnDynamo('half of what is written', () => {
  const world = dynamoWorld();
  let n = 0;
  let tenant: string;
  let clock: TestClock;
  let store: StorageBackend;
  let shim: Shim;
  let service: TestService;

  beforeEach(() => {
    tenant = `h${++n}`;
    clock = testClock();
    const client = world.client();
    shim = shimOn(client);
    store = world.open(clock, client);
    service = makeService(store, { clock });
  });

  const who = () => principal({ tenant });
  const start = (asset: string): Command => ({
    type: 'start_workflow',
    procedure: 'sample',
    asset,
  });
  const record = (workflow: string, value: number): Command => ({
    type: 'record_step',
    workflow,
    step: 'outlet',
    input: { kind: 'reading', value },
  });

  /** Answers without the rows that match, as if they were still being written. */
  const without =
    (hidden: (row: Readonly<Record<string, { readonly S?: string }>>) => boolean) =>
    async (call: PassingCall): Promise<Answer> => {
      const { answer, content } = await jsonOf(call);
      const Items = (content['Items'] as Record<string, { S?: string }>[]).filter(
        (row) => !hidden(row),
      );
      const text = JSON.stringify({ ...content, Items, Count: Items.length });
      return { ...answer, body: Buffer.from(text, 'utf8') };
    };

  test('a repeat whose event is not visible yet is not told that its occasion is over', async () => {
    const { workflow } = (await service.ok(who(), start('UNIT-1'))).receipt;
    await service.ok(who(), record(workflow, 5));
    const correct = {
      type: 'correct_step',
      workflow,
      step: 'outlet',
      input: { kind: 'reading', value: 6 },
      replaces: 2,
    } as const;
    const first = await service.ok(who(), correct);
    await service.ok(who(), { ...correct, input: { kind: 'reading', value: 7 }, replaces: 3 });
    const repeat = makeService(store, { clock, seed: 'repeat' });
    shim.set(
      firstCalls(
        'Query',
        1,
        without((row) => Number(row['sk']?.S?.slice(2)) >= 3),
      ),
    );
    expect(await repeat.execute(who(), correct)).toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
    });
    expect(await repeat.ok(who(), correct)).toMatchObject({
      duplicate: true,
      receipt: first.receipt,
    });
  });

  test('a snapshot waits while somebody commits, and then sees all of it', async () => {
    const { workflow } = (await service.ok(who(), start('UNIT-1'))).receipt;
    shim.set(
      firstCalls('TransactGetItems', 3, async (call, nth) => {
        if (nth === 2) await other.ok(who(), record(workflow, 5));
        return cancelled(Array.from({ length: itemsOf(call) }, () => 'TransactionConflict'));
      }),
    );
    const other = makeService(world.open(clock), { clock, seed: 'other' });
    const [state, event] = await store.snapshot([
      { kind: 'workflow', tenant, id: workflow },
      { kind: 'event', tenant, workflow, seq: 2 },
    ]);
    expect([state?.head_seq, event?.seq]).toEqual([2, 2]);
  });

  test('nothing that decides is read by a plain read or from an index', async () => {
    const seen: PassingCall[] = [];
    shim.set((call) => {
      seen.push(call);
      return undefined;
    });
    await store.check();
    seen.length = 0;
    const { workflow } = (await service.ok(who(), { ...start('UNIT-1'), key: 'k' })).receipt;
    await service.ok(who(), { ...start('UNIT-1'), key: 'k' });
    await service.ok(who(), record(workflow, 5));
    await service.execute(who(), { type: 'complete_workflow', workflow });
    await service.execute(principal({ tenant, subject: 'dev:bea' }), start('UNIT-1'));
    const reads = seen.filter(({ operation }) => !/^(?:TransactWrite|Put)/u.test(operation));
    expect(reads.length).toBeGreaterThan(3);
    expect(new Set(reads.map(({ operation }) => operation))).toEqual(new Set(['TransactGetItems']));
  });

  test('every read of the table is consistent; an index is never asked to be', async () => {
    const seen: PassingCall[] = [];
    shim.set((call) => {
      seen.push(call);
      return undefined;
    });
    await service.ok(who(), start('UNIT-1'));
    await store.listWorkflows(tenant, 'CREATED', { limit: 5 });
    await store.listLocks(tenant, { limit: 5 });
    await store.listAssets(tenant, 5);
    await store.listTenantOutbox(tenant, 5);
    await store.listPointers(tenant, 'dev:ana', 5);
    await store.listOutbox(tenant, 'w', 5);
    await store.listTenants({ limit: 5 });
    await store.countWorkflows(tenant, 'CREATED', 5);
    await store.countRuns(tenant, 'created', 5);
    await store.scanWorkflows({ limit: 5 });
    await store.scanTrails({ limit: 5 });
    await store.findProfiles(tenant, 'ana', 5);
    for (const { operation, body } of seen.filter((one) => /Get|Query|Scan/u.test(one.operation))) {
      if (operation === 'TransactGetItems') continue;
      const consistent =
        operation === 'BatchGetItem'
          ? Object.values(body['RequestItems'] as object).every(
              (table: { ConsistentRead?: boolean }) => table.ConsistentRead === true,
            )
          : body.ConsistentRead === true;
      expect([operation, body.IndexName, consistent]).toEqual([
        operation,
        body.IndexName,
        body.IndexName === undefined,
      ]);
    }
  });

  test('a workflow that has just started is found by its id at once, although no list has it yet', async () => {
    const { workflow } = (await service.ok(who(), start('UNIT-1'))).receipt;
    shim.set((call) => (call.body.IndexName === undefined ? undefined : without(() => true)(call)));
    expect(await store.listWorkflows(tenant, 'CREATED', { limit: 5 })).toEqual({ items: [] });
    const [item] = await store.snapshot([{ kind: 'workflow', tenant, id: workflow }]);
    expect(item?.id).toBe(workflow);
    const bea = principal({ tenant, subject: 'dev:bea', name: 'Bea' });
    expect(await service.execute(bea, start('UNIT-1'))).toMatchObject({
      code: 'ASSET_BUSY',
      holder: 'Ana',
    });
    expect(await store.listPointers(tenant, 'dev:ana', 5)).toHaveLength(1);
  });

  test('a late index names a workflow that has moved on, and the list leaves it out', async () => {
    const { workflow } = (await service.ok(who(), start('UNIT-1'))).receipt;
    const stale: Answer[] = [];
    shim.set((call) => {
      if (call.body.IndexName === undefined) return undefined;
      return (async () => {
        const { answer, content } = await jsonOf(call);
        stale.push({ ...answer, body: Buffer.from(JSON.stringify(content), 'utf8') });
        return stale[0] as Answer;
      })();
    });
    expect((await store.listWorkflows(tenant, 'CREATED', { limit: 5 })).items).toHaveLength(1);
    expect((await store.listWorkflows(tenant, 'CREATED', { limit: 5 })).items).toHaveLength(1);
    await service.ok(who(), record(workflow, 5));
    expect(await store.listWorkflows(tenant, 'CREATED', { limit: 5 })).toEqual({ items: [] });
    await service.ok(who(), { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' });
    stale.length = 0;
    expect(await store.listLocks(tenant, { limit: 5 })).toEqual({ items: [] });
  });

  test('rows that a batch leaves unread are asked for again', async () => {
    await service.ok(who(), start('UNIT-1'));
    await service.ok(who(), start('UNIT-2'));
    shim.set(
      firstCalls('BatchGetItem', 2, async (call) => {
        const { answer } = await jsonOf(call);
        const text = JSON.stringify({ Responses: {}, UnprocessedKeys: call.body['RequestItems'] });
        return { ...answer, body: Buffer.from(text, 'utf8') };
      }),
    );
    expect((await store.listWorkflows(tenant, 'CREATED', { limit: 5 })).items).toHaveLength(2);
  });
});
