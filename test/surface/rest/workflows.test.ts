// Procedures over REST: the commands and reads of the tools, with this surface's statuses, keys and tags.
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../lib/core/fault.ts';
import { callRest as call } from '../../support/rest-call.ts';
import { closeWorldsAfterEach, openWorld, type World } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const START = { procedure: 'pump-inspection', asset: 'PUMP-07' };
const post = (world: World, path: string, body: unknown, more: object = {}) =>
  call(world, path, { token: 'ana', body, ...more });
const get = (world: World, path: string, more: object = {}) =>
  call(world, path, { token: 'ana', ...more });
const started = async (world: World, asset = START.asset): Promise<string> => {
  const { body } = await post(world, '/workflows', { ...START, asset });
  return (body['workflow'] as unknown as { workflow_id: string }).workflow_id;
};
const step = (world: World, id: string, body: object, more: object = {}) =>
  post(world, `/workflows/${id}/steps`, body, more);
/** Records what it takes until the discharge pressure blocks the work; answers its block. */
const blocked = async (world: World, asset?: string) => {
  const id = await started(world, asset);
  await step(world, id, { step: 'guards_check', confirmed: true });
  await step(world, id, { step: 'suction_pressure', reading: 2.1 });
  const high = { step: 'discharge_pressure', reading: 42 };
  const asked = await step(world, id, high);
  const { confirmation_token } = asked.body;
  expect([asked.status, asked.body['code']]).toEqual([409, 'NEEDS_CONFIRMATION']);
  await step(world, id, { ...high, confirmation_token });
  const { body } = await get(world, `/workflows/${id}`);
  return { id, block: (body['block'] as { seq: number } | undefined)?.seq ?? 0 };
};

describe('procedures', () => {
  test('are listed, and one is there as it is defined', async () => {
    const world = await openWorld();
    const { status, body } = await get(world, '/procedures');
    expect(status).toBe(200);
    expect(body['items']).toEqual(
      expect.arrayContaining([expect.objectContaining({ procedure: 'pump-inspection' })]),
    );
    const one = await get(world, '/procedures/pump-inspection');
    expect([one.status, one.body['id']]).toEqual([200, 'pump-inspection']);
    const none = await get(world, '/procedures/absent');
    expect([none.status, none.type, none.body['code']]).toEqual([
      404,
      'application/problem+json',
      'NOT_FOUND',
    ]);
    expect((await get(world, '/procedures?page=2')).status).toBe(400);
  });
});

describe('starting work', () => {
  test('is 201 with its place and receipt; under its key once, whatever the order of its members', async () => {
    const world = await openWorld();
    const first = await post(world, '/workflows', START, { key: 'k-1' });
    const { workflow, receipt } = first.body as unknown as {
      workflow: { workflow_id: string };
      receipt: object;
    };
    expect([first.status, first.headers.get('location'), first.body['duplicate']]).toEqual([
      201,
      `/v1/workflows/${workflow.workflow_id}`,
      false,
    ]);
    expect(receipt).toMatchObject({ command: 'start_workflow', event: 1, result: 'started' });
    expect(workflow).toMatchObject({ status: 'created', holder: { name: 'Ana' } });
    const again = await post(
      world,
      '/workflows',
      { asset: START.asset, procedure: START.procedure },
      { key: 'k-1' },
    );
    expect([again.status, again.body['duplicate'], again.body['receipt']]).toEqual([
      201,
      true,
      receipt,
    ]);
    const other = await post(world, '/workflows', { ...START, asset: 'PUMP-08' }, { key: 'k-1' });
    expect([other.status, other.body['code'], other.body['fields']]).toEqual([
      422,
      'IDEMPOTENCY_CONFLICT',
      ['asset'],
    ]);
  });

  test('on an asset in use is 409 and says whose it is', async () => {
    const world = await openWorld();
    await started(world);
    const { status, body } = await post(world, '/workflows', START, { token: 'ben' });
    expect([status, body['code'], body['about']]).toEqual([
      409,
      'ASSET_BUSY',
      expect.objectContaining({ holder: 'Ana' }),
    ]);
  });

  test.each<[string, unknown, object, number, string]>([
    ['a procedure that is not there', { ...START, procedure: 'absent' }, {}, 404, 'NOT_FOUND'],
    ['no asset', { procedure: 'pump-inspection' }, {}, 400, 'INVALID_ARGUMENT'],
    ['a member more', { ...START, force: true }, {}, 400, 'INVALID_ARGUMENT'],
    [
      'a member of another surface',
      { ...START, idempotency_key: 'k' },
      {},
      400,
      'INVALID_ARGUMENT',
    ],
    ['no object', [START], {}, 400, 'INVALID_ARGUMENT'],
    ['another type', START, { headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED'],
    ['a key that is too long', START, { key: 'k'.repeat(256) }, 400, 'INVALID_IDEMPOTENCY_KEY'],
    ['a token without the scope', START, { token: 'auditor' }, 403, 'FORBIDDEN'],
    ['no token that counts', START, { token: 'nobody' }, 401, ''],
  ])('with %s is refused, and nothing is there', async (_, body, more, status, code) => {
    const world = await openWorld();
    const answer = await post(world, '/workflows', body, more);
    expect(answer.status).toBe(status);
    if (code !== '') expect(String(answer.body['code'])).toContain(code);
    expect((await get(world, '/workflows')).body['items']).toEqual([]);
  });
});

describe('reading work', () => {
  test('shows what is mine, what is blocked, and what is on an asset', async () => {
    const world = await openWorld();
    const { id } = await blocked(world);
    const mine = await get(world, '/workflows');
    expect(mine.body['items']).toMatchObject([{ workflow_id: id, status: 'blocked' }]);
    const ofBen = await get(world, '/workflows', { token: 'ben' });
    expect(ofBen.body['items']).toEqual([]);
    const waiting = await get(world, '/workflows?show=blocked', { token: 'sue' });
    expect(waiting.body['items']).toMatchObject([{ workflow_id: id }]);
    const onAsset = await get(world, '/workflows?asset=PUMP-07', { token: 'ben' });
    expect(onAsset.body['items']).toMatchObject([{ workflow_id: id }]);
    expect((await get(world, '/workflows?asset=PUMP-09')).status).toBe(404);
    expect((await get(world, '/workflows?show=all')).status).toBe(400);
  });

  test('that did not change is 304 by its tag, and a change gives another tag', async () => {
    const world = await openWorld();
    const id = await started(world);
    const first = await get(world, `/workflows/${id}`);
    const etag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const same = await get(world, `/workflows/${id}`, { headers: { 'if-none-match': etag } });
    expect([same.status, same.headers.get('etag')]).toEqual([304, etag]);
    await step(world, id, { step: 'guards_check', confirmed: true });
    const after = await get(world, `/workflows/${id}`, { headers: { 'if-none-match': etag } });
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(etag);
  });

  test('nothing of another tenant is there, and no odd id reaches the store', async () => {
    const world = await openWorld();
    const id = await started(world);
    for (const [path, token] of [
      [`/workflows/${id}`, 'other'],
      [`/workflows/${id}/events`, 'iraElsewhere'],
    ] as const) {
      const answer = await get(world, path, { token });
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'NOT_FOUND']);
    }
    const command = await step(
      world,
      id,
      { step: 'guards_check', confirmed: true },
      { token: 'other' },
    );
    expect(command.status).toBe(404);
    for (const odd of ['absent', '..%2Fx', '%23', 'x'.repeat(2_000)]) {
      expect((await get(world, `/workflows/${odd}`)).status).toBe(404);
    }
  });

  test('its trail comes page by page, for whoever may read it, and cursors are bound to it', async () => {
    const world = await openWorld();
    const { id } = await blocked(world);
    const { status, body } = await get(world, `/workflows/${id}/events`, { token: 'auditor' });
    const items = body['items'] as unknown as { seq: number }[];
    expect([status, items.map(({ seq }) => seq)]).toEqual([200, [1, 2, 3, 4]]);
    expect(body).toMatchObject({ workflow_id: id, head: 4 });
    const forged = await get(world, `/workflows/${id}/events?cursor=abc.def`, { token: 'auditor' });
    expect([forged.status, forged.body['code']]).toEqual([400, 'INVALID_CURSOR']);
  });

  test.each([
    ['PUT', '/workflows', 'GET, HEAD, POST'],
    ['POST', '/procedures', 'GET, HEAD'],
    ['DELETE', '/workflows/w1', 'GET, HEAD'],
    ['GET', '/workflows/w1/complete', 'POST'],
  ])('%s %s is not there, and what is there is named', async (method, path, allow) => {
    const world = await openWorld();
    const answer = await call(world, path, { token: 'ana', method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });
});

describe('working', () => {
  test('a step is recorded once: its repeat has the receipt, another value asks what it replaces', async () => {
    const world = await openWorld();
    const id = await started(world);
    await step(world, id, { step: 'guards_check', confirmed: true });
    const first = await step(world, id, { step: 'suction_pressure', reading: 2.1 });
    expect([first.status, first.body['duplicate']]).toEqual([200, false]);
    expect(first.body['receipt']).toMatchObject({ step: 'suction_pressure', result: 'recorded' });
    const again = await step(world, id, { step: 'suction_pressure', reading: 2.1 });
    expect([again.body['duplicate'], again.body['receipt']]).toEqual([true, first.body['receipt']]);
    const other = await step(world, id, { step: 'suction_pressure', reading: 2.2 });
    expect([other.status, other.body['code']]).toEqual([409, 'NEEDS_CONFIRMATION']);
    const corrected = await step(world, id, {
      step: 'suction_pressure',
      reading: 2.2,
      replaces: other.body['replaces'],
    });
    expect(corrected.body['receipt']).toMatchObject({ result: 'recorded', value: 2.2 });
  });

  test('what is out of order, unknown, or not mine is refused by name', async () => {
    const world = await openWorld();
    const id = await started(world);
    const asked = async (body: object, more: object = {}) => {
      const { status, body: told } = await step(world, id, body, more);
      return [status, told['code']];
    };
    const early = { step: 'isolation_check', confirmed: true };
    expect(await asked(early)).toEqual([409, 'STEP_NOT_READY']);
    expect(await asked({ step: 'absent', confirmed: true })).toEqual([400, 'INVALID_ARGUMENT']);
    expect(await asked({ step: 'guards_check', reading: 1 })).toEqual([400, 'INVALID_ARGUMENT']);
    expect(await asked({ step: 'guards_check', confirmed: true }, { token: 'ben' })).toEqual([
      409,
      'NOT_ASSIGNED',
    ]);
    const ending = await post(world, `/workflows/${id}/complete`, {});
    expect([ending.status, ending.body['code']]).toEqual([409, 'STEPS_MISSING']);
  });

  test('a block is resolved by a supervisor who names it; another decision on it is stale', async () => {
    const world = await openWorld();
    const { id, block } = await blocked(world);
    const resolve = (token: string, decision: string, more: object = {}) =>
      post(
        world,
        `/workflows/${id}/resolve-block`,
        { block, decision, reason: 'the gauge was wrong' },
        { token, ...more },
      );
    expect((await step(world, id, { step: 'vibration', reading: 2 })).body['code']).toBe(
      'WORKFLOW_BLOCKED',
    );
    expect((await resolve('ana', 'retake')).status).toBe(403);
    const done = await resolve('sue', 'retake', { key: 'r1' });
    expect([done.status, done.body['receipt']]).toEqual([
      200,
      expect.objectContaining({ command: 'resolve_block' }),
    ]);
    expect((await resolve('sue', 'retake', { key: 'r1' })).body['duplicate']).toBe(true);
    const late = await resolve('sue', 'continue');
    expect([late.status, late.body['code']]).toEqual([409, 'STALE_REFERENCE']);
  });

  test('work is handed over to somebody who has signed in, and who hands over names what ends', async () => {
    const world = await openWorld();
    const id = await started(world);
    const path = `/workflows/${id}/hand-over`;
    const nobody = await post(world, path, { to: 'Ben' });
    expect(nobody.status).toBeGreaterThanOrEqual(400);
    await get(world, '/workflows', { token: 'ben' });
    await started(world, 'PUMP-09');
    const asked = await post(world, path, { to: 'dev:ben' });
    expect([asked.status, asked.body['code']]).toEqual([409, 'NEEDS_CONFIRMATION']);
    const done = await post(world, path, { to: asked.body['to'], tenure: asked.body['tenure'] });
    expect([done.status, done.body['workflow']]).toEqual([
      200,
      expect.objectContaining({ holder: { subject: 'dev:ben', name: 'Ben' } }),
    ]);
  });

  test('work is given up by naming its assignment, and frees its asset', async () => {
    const world = await openWorld();
    const id = await started(world);
    const asked = await post(world, `/workflows/${id}/abandon`, { reason: 'wrong pump' });
    expect([asked.status, asked.body['code']]).toEqual([409, 'NEEDS_CONFIRMATION']);
    const body = { reason: 'wrong pump', tenure: asked.body['tenure'] };
    const done = await post(world, `/workflows/${id}/abandon`, body);
    expect([done.status, done.body['workflow']]).toEqual([
      200,
      expect.objectContaining({ status: 'completed' }),
    ]);
    expect((await post(world, `/workflows/${id}/abandon`, body)).body['duplicate']).toBe(true);
    const next = await post(world, '/workflows', START, { token: 'ben' });
    expect(next.status).toBe(201);
  });

  test('a store that cannot be used is a retryable 503, and nothing internal leaks', async () => {
    const broken = () =>
      Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', '/var/data/secret.sqlite'));
    const world = await openWorld((store) => ({
      service: { execute: () => Promise.resolve(unavailable) } as never,
      store: { ...store, snapshot: broken },
    }));
    const answer = await post(world, '/workflows', START);
    expect([answer.status, answer.body['code'], answer.headers.has('retry-after')]).toEqual([
      503,
      'BACKEND_UNAVAILABLE',
      true,
    ]);
    expect(JSON.stringify(answer.body)).not.toContain('sqlite');
  });
});

const unavailable = { code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 };
