import { describe, expect, test } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import { Fault } from '../../../lib/core/fault.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { dayOf } from '../../../lib/core/instant.ts';
import { SweepTally } from '../../../lib/core/reconcile/notes.ts';
import { parkAll } from '../../support/park-all.ts';
import { callRest as call } from '../../support/rest-call.ts';
import { toolsFor } from '../../support/rest-work.ts';
import { runOf } from '../../support/runs.ts';
import {
  closeWorldsAfterEach,
  openWorld,
  restOn,
  type World,
} from '../../support/surface-world.ts';

closeWorldsAfterEach();

const TENANT = 'plant';

/** Starts work on an asset and takes it away again, so that a notification waits; answers the workflow. */
const released = async (world: World, asset: string): Promise<string> => {
  const id = await toolsFor(world.store, TENANT).start(asset);
  const done = await call(world, `/locks/${asset}/release`, { body: { reason: 'fire' } });
  expect(done.status).toBe(200);
  return id;
};

const trail = async ({ store }: World, id: string) =>
  (await store.listEvents(TENANT, id, { after: 0, limit: 100 })).map(eventBody);

describe('permission', () => {
  const READS = ['/outbox', '/outbox/x', '/locks', '/sweeps', '/findings'];
  const CHANGES: readonly (readonly [string, object])[] = [
    ['/outbox/x/redrive', {}],
    ['/locks/PUMP-07/release', { reason: 'x' }],
    ['/workflows/x/repair-torn', {}],
    ['/workflows/x/unfreeze', { reason: 'x' }],
    ['/runs/run-x/repair-torn', {}],
    ['/runs/run-x/unfreeze', { reason: 'x' }],
  ];

  test.each(READS)('GET %s wants ops:admin of a token', async (path) => {
    const world = await openWorld();
    const lacking = await call(world, path, { token: 'sue' });
    expect([lacking.status, lacking.type, lacking.body]).toEqual([
      403,
      'application/problem+json',
      {
        type: 'about:blank',
        title: 'a scope is missing',
        status: 403,
        code: 'FORBIDDEN',
        need: 'ops:admin',
      },
    ]);
    expect((await call(world, path, { token: 'service' })).body).toMatchObject({
      code: 'FORBIDDEN',
      need: 'a person',
    });
    expect((await call(world, path, { token: 'unknown' })).status).toBe(401);
  });

  test.each(CHANGES)('POST %s wants ops:admin of a token', async (path, body) => {
    const world = await openWorld();
    expect((await call(world, path, { token: 'sue', body })).status).toBe(403);
    expect((await call(world, path, { token: 'service', body })).status).toBe(403);
    const got = await call(world, path, { method: 'GET' });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('only a person takes an asset away, repairs a trail or lets frozen work go on', async () => {
    const world = await openWorld();
    await toolsFor(world.store, TENANT).start('PUMP-07');
    for (const [path, body] of [
      ['/locks/PUMP-07/release', { reason: 'x' }],
      ['/workflows/x/unfreeze', { reason: 'x' }],
      ['/workflows/x/repair-torn', {}],
      ['/runs/run-x/unfreeze', { reason: 'x' }],
      ['/runs/run-x/repair-torn', {}],
    ] as const) {
      const robot = await call(world, path, { token: 'opsRobot', body });
      expect(robot.body).toMatchObject({ code: 'FORBIDDEN', need: 'a person' });
    }
    expect((await call(world, '/locks', { token: 'opsRobot' })).status).toBe(200);
  });
});

describe('locks', () => {
  test('lists who holds what, and a release is an event of the person who asked for it', async () => {
    const world = await openWorld();
    const id = await toolsFor(world.store, TENANT).start('PUMP-07');
    expect((await call(world, '/locks')).body).toEqual({
      items: [
        {
          asset: 'PUMP-07',
          workflow_id: id,
          procedure: 'pump-inspection',
          holder: { subject: 'dev:ana', name: 'Ana' },
          since: expect.any(String),
          fence: 1,
        },
      ],
    });
    const done = await call(world, '/locks/pump-07/release', { body: { reason: ' fire ' } });
    expect([done.status, done.body]).toEqual([
      200,
      {
        operation: 'release_lock',
        workflow_id: id,
        event: 2,
        at: expect.any(String),
        duplicate: false,
        holder: 'Ana',
      },
    ]);
    expect((await trail(world, id)).at(-1)).toMatchObject({
      type: 'lock_released',
      actor: { subject: 'dev:olga', kind: 'person', via: 'rest' },
      data: { reason: 'fire', request_id: done.headers.get('x-request-id') },
    });
    const again = await call(world, '/locks/PUMP-07/release', { body: { reason: 'fire' } });
    expect([again.status, again.body['code']]).toEqual([409, 'NOT_HELD']);
  });

  test('a key releases once: its repeat gets the first receipt, and other arguments are named', async () => {
    const world = await openWorld();
    const id = await toolsFor(world.store, TENANT).start('PUMP-07');
    const path = '/locks/PUMP-07/release';
    const first = await call(world, path, { key: 'k-1', body: { reason: 'fire' } });
    await toolsFor(world.store, TENANT).resolve(id);
    const again = await call(world, path, { key: 'k-1', body: { reason: 'fire' } });
    expect(again.body).toEqual({
      operation: 'release_lock',
      workflow_id: id,
      event: first.body['event'],
      at: first.body['at'],
      duplicate: true,
    });
    const other = await call(world, path, { key: 'k-1', body: { reason: 'flood' } });
    expect([other.status, other.body]).toEqual([
      422,
      expect.objectContaining({ code: 'IDEMPOTENCY_CONFLICT', fields: ['reason'] }),
    ]);
    expect((await call(world, '/locks')).body['items']).toHaveLength(1);
  });

  test('twenty releases at once under twenty keys take the asset away once', async () => {
    const world = await openWorld();
    await toolsFor(world.store, TENANT).start('PUMP-07');
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call(world, '/locks/PUMP-07/release', { key: `k-${n}`, body: { reason: 'fire' } }),
      ),
    );
    const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(19).fill(409)]);
  });
});

describe('a release that names the hold it means', () => {
  test('takes that one away, and never one that began since', async () => {
    const world = await openWorld();
    const tools = toolsFor(world.store, TENANT);
    await tools.start('PUMP-07');
    const { body } = await call(world, '/locks');
    const [seen] = body['items'] as unknown as readonly { readonly fence: number }[];
    const command = { reason: 'fire', fence: seen?.fence };
    const path = '/locks/PUMP-07/release';
    expect((await call(world, path, { body: command })).status).toBe(200);
    const next = await tools.start('PUMP-07');
    const late = await call(world, path, { body: command });
    expect([late.status, late.body]).toMatchObject([
      409,
      { code: 'HELD_ANEW', workflow_id: next, fence: 3 },
    ]);
    const [workflow] = await world.store.snapshot([{ kind: 'workflow', tenant: TENANT, id: next }]);
    expect(workflow?.state).toBe('CREATED');
    for (const fence of [0, 1.5, '1', -1, null]) {
      const odd = await call(world, path, { body: { reason: 'fire', fence } });
      expect(odd.body).toMatchObject({
        code: 'INVALID_ARGUMENT',
        errors: [{ pointer: '/fence' }],
      });
    }
  });
});

describe('outbox', () => {
  test('shows what waits and what is parked, and sends a parked row again, which its trail tells', async () => {
    const world = await openWorld();
    const id = await released(world, 'PUMP-07');
    const waiting = await call(world, '/outbox');
    expect(waiting.body).toMatchObject({
      items: [{ workflow_id: id, lane: 'notify:log', event: 2, kind: 'block', attempts: 0 }],
      more: false,
    });
    await parkAll(world.store);
    const parked = await call(world, '/outbox?state=parked');
    expect(parked.body).toMatchObject({ items: [{ last_error: 'HTTP 422', attempts: 1 }] });
    const [row] = parked.body['items'] as unknown as readonly { readonly id: string }[];
    const shown = await call(world, `/outbox/${row?.id}`);
    expect(shown.body).toMatchObject({ id: row?.id, payload: { asset: 'PUMP-07' } });
    const sent = await call(world, `/outbox/${row?.id}/redrive`, { key: 'k', body: {} });
    expect(sent.body).toMatchObject({ operation: 'redrive_notification', event: 3 });
    expect((await trail(world, id)).at(-1)).toMatchObject({
      type: 'notification_redriven',
      actor: { subject: 'dev:olga' },
      data: { notification: row?.id, lane: 'notify:log', for_event: 2 },
    });
    expect((await call(world, '/outbox?state=parked')).body['items']).toEqual([]);
    const again = await call(world, `/outbox/${row?.id}/redrive`, { key: 'k', body: {} });
    expect(again.body).toMatchObject({ event: 3, duplicate: true });
    const late = await call(world, `/outbox/${row?.id}/redrive`, { body: {} });
    expect([late.status, late.body['code']]).toEqual([409, 'NOT_PARKED']);
    expect((await call(world, '/outbox/nothing')).status).toBe(404);
  });

  test('another tenant sees none of it', async () => {
    const world = await openWorld();
    await released(world, 'PUMP-07');
    await parkAll(world.store);
    for (const path of ['/outbox', '/outbox?state=parked', '/locks']) {
      const { body } = await call(world, path, { token: 'olgaElsewhere' });
      expect(body['items']).toEqual([]);
    }
  });

  test('pages go on by signed cursors, and no other cursor is taken or reaches the store', async () => {
    const world = await openWorld();
    for (const asset of ['PUMP-01', 'PUMP-02', 'PUMP-03']) await released(world, asset);
    await parkAll(world.store);
    const first = await call(world, '/outbox?state=parked&limit=2');
    expect(first.body['items']).toHaveLength(2);
    const cursor = String(first.body['next_cursor']);
    const second = await call(world, `/outbox?state=parked&limit=2&cursor=${cursor}`);
    expect(second.body['items']).toHaveLength(1);
    expect(second.body).not.toHaveProperty('next_cursor');
    let reads = 0;
    const counting = await openWorld((store) => {
      const watched = new Proxy(store, {
        get: (target, name, receiver) => {
          if (String(name).startsWith('list')) reads += 1;
          return Reflect.get(target, name, receiver) as unknown;
        },
      });
      return restOn(watched);
    });
    const [position = ''] = cursor.split('.');
    for (const [query, token] of [
      [`state=parked&limit=3&cursor=${cursor}`, 'olga'],
      [`state=parked&limit=2&cursor=${cursor}`, 'olgaElsewhere'],
      [`state=waiting&limit=2&cursor=${cursor}`, 'olga'],
      [`state=parked&limit=2&cursor=${cursor}!`, 'olga'],
      [`state=parked&limit=2&cursor=${position}`, 'olga'],
      ['state=parked&cursor=0', 'olga'],
      ['state=parked&cursor=%21', 'olga'],
      [`state=parked&cursor=${Buffer.from('["x"]').toString('base64')}`, 'olga'],
      [`state=parked&cursor=${'A'.repeat(1_000_000)}`, 'olga'],
    ] as const) {
      const { status, body } = await call(counting, `/outbox?${query}`, { token });
      expect([query.slice(0, 60), status, body['code']]).toEqual([
        query.slice(0, 60),
        400,
        'INVALID_CURSOR',
      ]);
    }
    const locks = await call(counting, `/locks?limit=2&cursor=${cursor}`);
    expect(locks.body['code']).toBe('INVALID_CURSOR');
    expect(reads).toBe(0);
  });
});

describe('sweeps and findings', () => {
  test('are told by day, and only those of the tenant', async () => {
    const world = await openWorld();
    const now = Date.now();
    const tally = new SweepTally();
    const about = { rule: 'R8', workflow: 'w1', what: 'drift', repaired: false } as const;
    tally.add({ ...about, tenant: TENANT });
    tally.add({ ...about, tenant: 'elsewhere', workflow: 'theirs' });
    await world.store.noteSweep(tally.note({ shard: 0, end: 'done' }, now));
    const at = new Date(now).toISOString();
    const day = dayOf(now);
    expect((await call(world, '/sweeps')).body).toEqual({
      day,
      shards: [{ shard: 0, sweeps: 1, last_at: at, last_end: 'done' }],
      counts: [{ rule: 'R8', found: 1, repaired: 0 }],
    });
    expect((await call(world, `/findings?day=${day}`)).body).toEqual({
      day,
      items: [{ at, shard: 0, rule: 'R8', what: 'drift', repaired: false, workflow_id: 'w1' }],
    });
    expect((await call(world, '/findings?day=2020-01-01')).body).toEqual({
      day: '2020-01-01',
      items: [],
    });
  });

  test('more findings than one page holds go on by a cursor', async () => {
    const world = await openWorld();
    for (let n = 0; n < 7; n++) {
      const tally = new SweepTally();
      const about = { rule: 'R8', tenant: TENANT, what: 'drift', repaired: false } as const;
      tally.add({ ...about, workflow: `w${n}` });
      await world.store.noteSweep(tally.note({ shard: 0, end: 'done' }, Date.now() - 1_000 + n));
    }
    const first = await call(world, '/findings');
    const cursor = String(first.body['next_cursor']);
    const second = await call(world, `/findings?cursor=${cursor}`);
    expect(
      [first.body['items'], second.body['items']].map(
        (items: unknown) => (items as unknown[]).length,
      ),
    ).toEqual([5, 2]);
    const foreign = await call(world, `/findings?day=2026-01-01&cursor=${cursor}`);
    expect(foreign.body['code']).toBe('INVALID_CURSOR');
  });
});

describe('trails that need a person', () => {
  test('a broken one goes on once a person has looked, under a key once', async () => {
    const world = await openWorld();
    const { store } = world;
    const id = await toolsFor(store, TENANT).start('PUMP-07');
    const well = await call(world, `/workflows/${id}/unfreeze`, { body: { reason: 'seen' } });
    expect([well.status, well.body['code']]).toEqual([409, 'NOT_FROZEN']);
    const key = { kind: 'event', tenant: TENANT, workflow: id, seq: 1 } as const;
    await store.commit(
      { writes: [{ op: 'update', key, expect: {}, set: { text: '{}' } }] },
      Date.now() + 9_000,
    );
    const look = await call(world, `/workflows/${id}/unfreeze`, { body: { reason: 'seen' } });
    expect([look.status, look.body]).toEqual([
      409,
      expect.objectContaining({
        code: 'LOOK_FIRST',
        faults: [{ seq: 1, what: expect.any(String) }],
      }),
    ]);
    const seen = String(look.body['seen']);
    for (const duplicate of [false, true]) {
      const done = await call(world, `/workflows/${id}/unfreeze`, {
        key: 'k-9',
        body: { reason: 'seen', seen },
      });
      expect([done.status, done.body]).toEqual([
        200,
        expect.objectContaining({ operation: 'acknowledge_faults', event: 2, duplicate }),
      ]);
    }
    const none = await call(world, '/workflows/none/unfreeze', { body: { reason: 'x' } });
    expect(none.status).toBe(404);
  });

  test('a torn one has its stray events moved aside', async () => {
    const world = await openWorld();
    const { store } = world;
    const id = await toolsFor(store, TENANT).start('PUMP-07');
    const path = `/workflows/${id}/repair-torn`;
    expect((await call(world, path, { body: {} })).body['code']).toBe('NOT_TORN');
    const [first] = await store.listEvents(TENANT, id, { after: 0, limit: 1 });
    if (first === undefined) throw new Error('there is no event');
    const key = { kind: 'event', tenant: TENANT, workflow: id, seq: 2 } as const;
    await store.commit(
      { writes: [{ op: 'create', key, item: { ...first, seq: 2 } }] },
      Date.now() + 9_000,
    );
    const torn = await call(world, `/workflows/${id}/unfreeze`, { body: { reason: 'x' } });
    expect(torn.body['code']).toBe('TRAIL_TORN');
    expect((await call(world, path, { body: {} })).body).toMatchObject({
      operation: 'repair_torn',
      events: 1,
      faults: [],
    });
  });
});

describe('runs that need a person', () => {
  test('a frozen run goes on by its own route, and under the other kind there is none of its id', async () => {
    const world = await openWorld();
    const { store } = world;
    const run = runOf(TENANT);
    const frozen = { at: run.created_at, what: 'missing at 1' };
    const key = { kind: 'run', tenant: TENANT, id: run.id } as const;
    const writes = [{ op: 'create', key, item: { ...run, frozen } }] as const;
    await store.commit({ writes }, Date.now() + 9_000);
    const body = { reason: 'seen' };
    const wrong = await call(world, `/workflows/${run.id}/unfreeze`, { body });
    expect([wrong.status, wrong.body['title']]).toEqual([404, 'there is no such workflow']);
    const foreign = await call(world, `/runs/${run.id}/unfreeze`, { token: 'olgaElsewhere', body });
    expect([foreign.status, foreign.body['title']]).toEqual([404, 'there is no such run']);
    const look = await call(world, `/runs/${run.id}/unfreeze`, { body });
    expect(look.body['code']).toBe('LOOK_FIRST');
    const said = { ...body, seen: look.body['seen'] };
    const done = await call(world, `/runs/${run.id}/unfreeze`, { body: said });
    expect(done.body).toMatchObject({ operation: 'acknowledge_faults', workflow_id: run.id });
    const torn = await call(world, `/runs/${run.id}/repair-torn`, { body: {} });
    expect(torn.body['code']).toBe('NOT_TORN');
  });
});

describe('what cannot be used is refused by name, with nothing written', () => {
  const PATH = '/locks/PUMP-07/release';
  test.each<[string, { body?: unknown; key?: string }, number, string, unknown]>([
    [PATH, { body: {} }, 400, 'INVALID_ARGUMENT', '/reason'],
    [PATH, { body: { reason: ' ' } }, 400, 'INVALID_ARGUMENT', '/reason'],
    [PATH, { body: { reason: 'x'.repeat(501) } }, 400, 'INVALID_ARGUMENT', '/reason'],
    [PATH, { body: { reason: 'x', force: true } }, 400, 'INVALID_ARGUMENT', '/force'],
    [PATH, { body: { reason: '\ud800' } }, 400, 'LONE_SURROGATE', '/reason'],
    [PATH, { body: [] }, 400, 'INVALID_ARGUMENT', ''],
    [
      PATH,
      { body: { reason: 'x' }, key: 'k'.repeat(256) },
      400,
      'INVALID_IDEMPOTENCY_KEY',
      undefined,
    ],
    [PATH, { body: { reason: 'x' }, key: 'ä' }, 400, 'INVALID_IDEMPOTENCY_KEY', undefined],
    ['/locks?limit=0', {}, 400, 'INVALID_ARGUMENT', '/limit'],
    ['/locks?limit=101', {}, 400, 'INVALID_ARGUMENT', '/limit'],
    ['/locks?limit=x', {}, 400, 'INVALID_ARGUMENT', '/limit'],
    ['/locks?limit=1&limit=2', {}, 400, 'INVALID_ARGUMENT', '/limit'],
    ['/locks?color=red', {}, 400, 'INVALID_ARGUMENT', '/color'],
    ['/outbox?state=gone', {}, 400, 'INVALID_ARGUMENT', '/state'],
    ['/sweeps?day=2026-02-30', {}, 400, 'INVALID_ARGUMENT', '/day'],
    ['/findings?day=today', {}, 400, 'INVALID_ARGUMENT', '/day'],
  ])('%s with %j', async (path, sent, status, code, pointer) => {
    const world = await openWorld();
    await toolsFor(world.store, TENANT).start('PUMP-07');
    const { status: got, type, body } = await call(world, path, sent);
    expect([got, type, body['code']]).toEqual([status, 'application/problem+json', code]);
    const [fault] = (body['errors'] ?? []) as unknown as readonly { readonly pointer: string }[];
    expect(fault?.pointer).toBe(pointer);
    expect((await call(world, '/locks')).body['items']).toHaveLength(1);
  });

  test('a key of 255 characters is taken', async () => {
    const world = await openWorld();
    await toolsFor(world.store, TENANT).start('PUMP-07');
    const sent = { body: { reason: 'x' }, key: 'k'.repeat(255) };
    expect((await call(world, PATH, sent)).status).toBe(200);
  });

  test('a store that cannot be used is a retryable 503, and nothing internal leaks', async () => {
    const world = await openWorld((store) => {
      const broken: StorageBackend = {
        ...store,
        listLocks: () =>
          Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'secret detail')),
      };
      return restOn(broken);
    });
    const { status, body, headers } = await call(world, '/locks');
    expect([status, body['retryable'], headers.get('retry-after')]).toEqual([503, true, '1']);
    expect(JSON.stringify(body)).not.toContain('secret detail');
  });
});
