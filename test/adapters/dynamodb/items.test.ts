// How items look in the table, read past the store: keys, index entries, formats, what is kept.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { dayOf } from '../../../lib/core/instant.ts';
import { SweepTally } from '../../../lib/core/reconcile/notes.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { ItemKey, StorageBackend, Write } from '../../../lib/core/ports/storage.ts';
import { createWorkflow, faultOf, workflowKey } from '../../contract/storage/bench.ts';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import { shimOn, type PassingCall } from '../../support/dynamodb/shim.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import {
  makeService,
  principal,
  START_MS,
  testClock,
  type TestClock,
} from '../../support/harness.ts';

const DAY = 86_400;

describeOnDynamo('items in the table', () => {
  const world = dynamoWorld();
  let n = 0;
  let tenant: string;
  let clock: TestClock;
  let store: StorageBackend;
  let raw: DynamoDBDocumentClient;
  let calls: PassingCall[];

  beforeEach(() => {
    tenant = `i${++n}`;
    clock = testClock();
    const client = world.client();
    calls = [];
    shimOn(client).set((call) => {
      calls.push(call);
      return undefined;
    });
    store = world.open(clock, client);
    raw = world.client();
  });

  const TableName = () => world.tableName;
  const commit = (...writes: Write[]) => store.commit({ writes }, clock.now() + 10_000);
  /** Every row of the tenant that an index has, by the index's own keys. */
  const under = async (partition: string) => {
    const { Items = [] } = await raw.send(
      new QueryCommand({
        TableName: TableName(),
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': 'pk' },
        ExpressionAttributeValues: { ':pk': partition },
        ConsistentRead: true,
      }),
    );
    return Items;
  };

  /** A session with an event, a sensitive value, a block and an outbox row. */
  const session = async () => {
    const { ok, execute } = makeService(store, { clock });
    const who = principal({ tenant });
    const start = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' } as const;
    const { workflow } = (await ok(who, { ...start, key: 'k' })).receipt;
    const text = { kind: 'text', text: 'four two' } as const;
    await ok(who, { type: 'record_step', workflow, step: 'code', input: text });
    const no = { kind: 'confirm', confirmed: false } as const;
    const deviation: Command = { type: 'record_step', workflow, step: 'ready', input: no };
    const asked = await execute(who, deviation);
    const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
    await ok(who, { ...deviation, confirmation } as Command);
    return workflow;
  };

  test('keys and index entries have the documented form', async () => {
    const workflow = await session();
    const rows = await under(`T#${tenant}#W#${workflow}`);
    expect(rows.map(({ sk }) => sk as string)).toEqual([
      'E#000000000001',
      'E#000000000002',
      'E#000000000003',
      'O#notify:log#000000000003',
      'STATE',
      'V#000000000002',
    ]);
    const [, , , outbox, state] = rows;
    const since = '2026-03-01T09:00:00.000Z';
    expect(outbox).toMatchObject({
      gsi1pk: expect.stringMatching(/^DUE#(?:\d|1[0-5])$/u) as unknown,
      gsi1sk: `00${START_MS + 30_000}#${workflow}`,
      due_at: START_MS + 30_000,
    });
    expect(outbox).not.toHaveProperty('gsi2pk');
    expect(state).toMatchObject({
      gsi2pk: `T#${tenant}#W#BLOCKED`,
      gsi2sk: `${since}#${workflow}`,
    });
    // An active workflow is looked at by the reconciler, in the shard of all that is its own.
    expect(state).toMatchObject({
      gsi1pk: outbox?.['gsi1pk'],
      gsi1sk: `00${START_MS + RECONCILE.checkMs}#${workflow}`,
    });
    expect(await under(`T#${tenant}#A#UNIT-1`)).toEqual([
      expect.objectContaining({
        sk: 'LOCK',
        gsi1pk: `T#${tenant}#ASSETS`,
        gsi1sk: 'A#UNIT-1',
        gsi2pk: `T#${tenant}#LOCKS`,
        gsi2sk: `${since}#UNIT-1`,
      }),
    ]);
    expect(await under(`T#${tenant}#S#dev:ana`)).toEqual([
      expect.objectContaining({ sk: `ACTIVE#${workflow}` }),
    ]);
    expect(await under('SETTINGS')).toEqual([
      { pk: 'SETTINGS', sk: 'SETTINGS', format: 1, shards: 16 },
    ]);
    expect(await under('TENANTS')).toContainEqual({
      pk: 'TENANTS',
      sk: `T#${tenant}`,
      tenant,
      format: 1,
    });
  });

  test('a released lock leaves the list of held ones by losing the attributes, not by empty ones', async () => {
    const { ok } = makeService(store, { clock });
    const who = principal({ tenant });
    const start = { type: 'start_workflow', procedure: 'short', asset: 'A-1' } as const;
    const { workflow } = (await ok(who, start)).receipt;
    await ok(who, { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' });
    const [lock] = await under(`T#${tenant}#A#A-1`);
    expect(Object.keys(lock ?? {}).toSorted()).toEqual(
      ['asset', 'fence', 'format', 'gsi1pk', 'gsi1sk', 'held', 'last', 'pk', 'sk', 'tenant'].filter(
        (name) => name !== 'last' || lock?.['last'] !== undefined,
      ),
    );
    expect(await store.listLocks(tenant, { limit: 5 })).toEqual({ items: [] });
  });

  test('only ledger rows and the book of sweeps have a time to live: a number of epoch seconds, thirty days ahead', async () => {
    await session();
    const day = dayOf(clock.now());
    const tally = new SweepTally();
    tally.add({ rule: 'R8', tenant, workflow: 'w1', what: 'list_rebuilt', repaired: true });
    await store.noteSweep(tally.note({ shard: 3, end: 'done' }, clock.now()));
    const wire = new DynamoDBClient(await optionsOf(raw));
    const { Items = [] } = await wire.send(new ScanCommand({ TableName: TableName() }));
    const mine = Items.filter(
      ({ pk }) => pk?.S === `SWEEP#${day}` || pk?.S?.startsWith(`T#${tenant}#`) === true,
    );
    expect(mine.length).toBeGreaterThan(11);
    const living = mine.filter((item) => item['expires_at'] !== undefined);
    const lives = living.map(({ sk, expires_at }) => [sk?.S, expires_at?.N] as const);
    const ahead = START_MS / 1000 + 30 * DAY;
    expect(lives.filter(([sk]) => sk === 'LEDGER')).toEqual([['LEDGER', String(ahead)]]);
    const book = lives.filter(([sk]) => sk !== 'LEDGER');
    expect(book).toHaveLength(3);
    expect(new Set(book.map(([sk]) => sk?.split('#')[0]))).toEqual(new Set(['C', 'F', 'S']));
    // The book goes by whole days: none of it before its thirty days, and none a day later.
    for (const [, n] of book) {
      expect(Number(n)).toBeGreaterThanOrEqual(ahead);
      expect(Number(n)).toBeLessThanOrEqual(ahead + DAY);
    }
    wire.destroy();
  });

  test('every attribute in every expression goes through a name of its own', async () => {
    await session();
    await store.listWorkflows(tenant, 'BLOCKED', { limit: 5 });
    await store.listTenantOutbox(tenant, 5);
    await store.scanTrails({ limit: 5 });
    await store.noteProfile({ tenant, subject: 'dev:ana', name: 'Ana' });
    await store.noteProfile({ tenant, subject: 'dev:ana', name: 'Ana Luz' });
    await store.findProfiles(tenant, 'ana', 5);
    const expressions = calls.flatMap(({ body }) => textsUnder(body, /Expression$/u));
    expect(expressions.length).toBeGreaterThan(20);
    const functions = /\b(?:attribute_not_exists|begins_with|SET|REMOVE|AND|OR|BETWEEN)\b/gu;
    for (const expression of expressions) {
      const rest = expression.replace(functions, '').replace(/[#:][0-9]+/gu, '');
      expect(rest.replace(/[\s(),.=<]/gu, '')).toBe('');
    }
  });

  test('an existing item is changed by an update of named attributes, never by a put', async () => {
    const workflow = await session();
    const states = calls.flatMap(({ body }) =>
      (body.TransactItems ?? []).filter((item) => JSON.stringify(item).includes('"STATE"')),
    );
    expect(states.map((item) => Object.keys(item)[0])).toEqual(
      expect.arrayContaining(['Put', 'Update', 'Update']),
    );
    const updates = states.filter((item) => 'Update' in item).map((item) => JSON.stringify(item));
    expect(updates.some((text) => text.includes('#'))).toBe(true);
    expect(updates.every((text) => !text.includes(`"created_at"`))).toBe(true);
    expect(workflow).not.toBe('');
  });

  describe('releases', () => {
    const set = (key: ItemKey & { kind: 'workflow' }, values: Record<string, unknown>) => {
      const names = Object.keys(values);
      return raw.send(
        new UpdateCommand({
          TableName: TableName(),
          Key: { pk: `T#${key.tenant}#W#${key.id}`, sk: 'STATE' },
          UpdateExpression: `SET ${names.map((_name, i) => `#${i} = :${i}`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
          ExpressionAttributeValues: Object.fromEntries(
            names.map((name, i) => [`:${i}`, values[name]]),
          ),
        }),
      );
    };

    test('a newer format is read and written by nobody, whatever is wanted of it', async () => {
      const key = workflowKey(tenant, 'w1');
      await commit(createWorkflow({ tenant }));
      await set(key, { format: 2, later: 'kept' });
      const before = await under(`T#${tenant}#W#w1`);
      const writes: readonly Write[] = [
        { op: 'update', key, expect: { version: 1 }, set: { version: 2 } },
        { op: 'update', key, expect: {}, set: {} },
        { op: 'check', key, expect: {} },
        { op: 'delete', key, expect: {} },
        { op: 'delete', key, expect: { version: 1 } },
        createWorkflow({ tenant }),
        { ...createWorkflow({ tenant }), replace: true } as Write,
        { ...createWorkflow({ tenant }), expiredAt: 9_999_999_999 } as Write,
      ];
      const fault = { kind: 'retryable', code: 'FORMAT_TOO_NEW' };
      for (const write of writes) {
        expect(await faultOf(commit(write, createWorkflow({ tenant, id: 'w2' })))).toMatchObject(
          fault,
        );
      }
      expect(await faultOf(store.snapshot([key]))).toMatchObject(fault);
      expect(await under(`T#${tenant}#W#w1`)).toEqual(before);
      expect(await store.snapshot([workflowKey(tenant, 'w2')])).toEqual([undefined]);
    });

    test('what a later release of the same format added survives every command of this one', async () => {
      const { ok } = makeService(store, { clock });
      const who = principal({ tenant });
      const start = { type: 'start_workflow', procedure: 'short', asset: 'A-1' } as const;
      const { workflow } = (await ok(who, start)).receipt;
      await set(workflowKey(tenant, workflow), {
        later: new Map([['constructor', [1, null, { a: 'b' }]]]),
      });
      const input = { kind: 'confirm', confirmed: true } as const;
      await ok(who, { type: 'record_step', workflow, step: 'done', input });
      await ok(who, { type: 'complete_workflow', workflow });
      const [item] = await store.snapshot([workflowKey(tenant, workflow)]);
      expect(item).toMatchObject({
        state: 'COMPLETED',
        later: { constructor: [1, null, { a: 'b' }] },
      });
    });

    test.each([
      ['no format', { format: 'one' }],
      ['a version that is text', { version: '1' }],
      ['steps that are a list', { steps: [] }],
      ['another id than its key says', { id: 'w9' }],
      ['a number that no double holds', { version: 12345678901234567890n }],
    ])('an item with %s is damaged, and neither read nor written', async (_what, values) => {
      await commit(createWorkflow({ tenant }));
      const key = workflowKey(tenant, 'w1');
      await set(key, values);
      const damaged = { kind: 'retryable', code: 'ITEM_DAMAGED' };
      expect(await faultOf(store.snapshot([key]))).toMatchObject(damaged);
      const wrong: Write = { op: 'update', key, expect: { version: 7 }, set: { version: 8 } };
      expect(await faultOf(commit(wrong))).toMatchObject(damaged);
    });

    test('settings of a newer release, or damaged ones, are not guessed', async () => {
      const Item = { pk: 'SETTINGS', sk: 'SETTINGS' };
      const put = (rest: object) =>
        raw.send(new PutCommand({ TableName: TableName(), Item: { ...Item, ...rest } }));
      await put({ format: 2, shards: 16 });
      expect(await faultOf(store.check())).toMatchObject({ code: 'FORMAT_TOO_NEW' });
      await put({ format: 1, shards: 0 });
      expect(await faultOf(store.check())).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
      await put({ format: 1, shards: 16 });
      await expect(store.check()).resolves.toBeUndefined();
    });
  });
});

/** The texts of all members whose name matches, at any depth. */
function textsUnder(value: unknown, name: RegExp): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    typeof member === 'string' && name.test(key) ? [member] : textsUnder(member, name),
  );
}

async function optionsOf(client: DynamoDBDocumentClient) {
  const { endpoint, region, credentials } = client.config;
  const found = await endpoint?.();
  return {
    ...(found !== undefined && {
      endpoint: `${found.protocol}//${found.hostname}:${found.port ?? 443}`,
    }),
    region: await region(),
    credentials,
  };
}
