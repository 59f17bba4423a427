// Every documented operation below /v1 is called until it has answered with every status that the document
// names for it; each answer is held against the document too.
import { beforeAll, expect, test } from '@jest/globals';
import { LIMITS } from '../../../lib/core/limits.ts';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { openApiDocument, problemsOf, ROUTES } from '../../../lib/docs/openapi/document.ts';
import type { RouteDoc } from '../../../lib/docs/openapi/route.ts';
import { openGuarded } from '../../support/guarded-world.ts';
import { parkAll } from '../../support/park-all.ts';
import { callRest } from '../../support/rest-call.ts';
import { INCIDENT, workerOn } from '../../support/rest-runs.ts';
import {
  ACCOUNTS,
  closeWorldsAfterEach,
  openWorld,
  PUBLIC_URL,
  restOn,
  type World,
} from '../../support/surface-world.ts';

const OPERATIONS = ROUTES.filter(({ path }) => path.startsWith('/v1/'));
const statusesOf = (route: RouteDoc): readonly string[] =>
  [...new Set([...Object.keys(route.answers), ...Object.keys(problemsOf(route))])].toSorted();

/** What was answered: `POST /v1/runs 201`. */
const seen = new Set<string>();

const templates = OPERATIONS.map(({ method, path }) => ({
  name: `${method.toUpperCase()} ${path}`,
  pattern: new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u'),
})).toSorted((a, b) => a.name.split('{').length - b.name.split('{').length);

function note(method: string, path: string, status: number): void {
  const at = `${method} ${path.split('?')[0] ?? ''}`;
  seen.add(`${templates.find(({ pattern }) => pattern.test(at))?.name ?? at} ${status}`);
}

const call = async (
  world: Pick<World, 'app'>,
  path: string,
  how: Parameters<typeof callRest>[2] = {},
) => {
  const answer = await callRest(world, path, how);
  note(how.method ?? ('body' in how ? 'POST' : 'GET'), `/v1${path}`, answer.status);
  return answer;
};

/** A token that may call a route. */
const tokenFor = ({ scopes = [] }: RouteDoc): string =>
  Object.entries(ACCOUNTS).find(
    ([, { scopes: has, kind, tenant }]) =>
      kind === 'person' && tenant === 'plant' && scopes.some((scope) => has.has(scope)),
  )?.[0] ?? 'reader';

const HASH = 'a'.repeat(64);
/** What each command takes where there is nothing that it could be done to. */
const BODIES: { readonly [id: string]: object } = {
  createRun: INCIDENT,
  decideApproval: { approved: true, action_hash: HASH },
  decideProposal: { approved: true, action_hash: HASH },
  startWorkflow: { procedure: 'absent', asset: 'VESSEL-9' },
  recordStep: { step: 'done', confirmed: true },
  resolveBlock: { block: 1, decision: 'continue', reason: 'seen' },
  handOver: { to: 'dev:ben' },
  completeWorkflow: {},
  abandonWorkflow: { reason: 'seen' },
  releaseLock: { reason: 'seen' },
  ...Object.fromEntries(
    OPERATIONS.filter(({ path }) => path.endsWith('/unfreeze')).map(({ id }) => [
      id,
      { reason: 'seen' },
    ]),
  ),
};
const ABSENT: { readonly [parameter: string]: string } = {
  run_id: 'run-00000000000000000000000000',
  asset: 'VESSEL-0',
};
const nowhere = (path: string, odd?: string): string =>
  path
    .replace('/v1', '')
    .replaceAll(/\{(\w+)\}/gu, (_, name: string) => odd ?? ABSENT[name] ?? 'absent');

/** The refusals that do not depend on what is there. */
async function refusals(world: World): Promise<void> {
  const busy = await openWorld(() => ({ rateLimiter: { take: () => Promise.resolve(1_000) } }));
  for (const route of OPERATIONS) {
    const path = nowhere(route.path);
    const token = tokenFor(route);
    const posts = route.method === 'post';
    const body = posts ? { body: BODIES[route.id] ?? {} } : {};
    await call(world, path, { token: 'unknown', ...body });
    await call(world, path, { token: 'reader', ...body, headers: { origin: 'https://evil.test' } });
    await call(busy, path, { token, ...body });
    await call(world, path, { token: 'broken', ...body });
    await call(world, path, { token: 'keys-down', ...body });
    await call(world, path, { token, ...body });
    const odds = route.path.includes('{') ? ['..%2Fx', '%23', '%00', 'x'.repeat(2_000)] : [];
    for (const odd of odds) {
      await call(world, nowhere(route.path, odd), { token, ...body });
    }
    const [method, target] = [posts ? 'POST' : 'GET', `/v1${path}`];
    const request = new Request(new URL(target, PUBLIC_URL), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(posts && { body: JSON.stringify(body.body) }),
    });
    note(method, target, (await world.app.fetch(request, { deadlineMs: 1 })).status);
    if (posts) {
      await call(world, path, { token, body: [] });
      await call(world, path, { token, body: { text: 'x'.repeat(LIMITS.bodyBytes.max) } });
      await call(world, path, { token, ...body, headers: { 'content-type': 'text/plain' } });
    } else await call(world, `${path}?odd=1`, { token });
  }
  await call(world, '/workflows?asset=VESSEL-0', { token: 'ana' });
}

type Guarded = Awaited<ReturnType<typeof openGuarded>>;
const idOf = (body: object): string =>
  (body as { workflow: { workflow_id: string } }).workflow.workflow_id;
const start = async (world: Guarded, procedure: string, asset: string): Promise<string> =>
  idOf((await call(world, '/workflows', { token: 'ana', body: { procedure, asset } })).body);

/** Does something under a key, and then something else under the same one. */
async function twice(
  world: World,
  path: string,
  how: { readonly token: string; readonly body: object },
  other: { readonly path?: string; readonly body?: object },
) {
  const key = `key of ${path}`;
  const first = await call(world, path, { ...how, key });
  await call(world, other.path ?? path, { ...how, ...other, key });
  return first;
}

async function work(world: Guarded): Promise<void> {
  const ana = { token: 'ana' };
  await call(world, '/procedures', ana);
  await call(world, '/procedures/short', ana);
  const body = { procedure: 'short', asset: 'VESSEL-2' };
  const id = idOf(
    (await twice(world, '/workflows', { ...ana, body }, { body: { ...body, asset: 'VESSEL-3' } }))
      .body,
  );
  await call(world, '/workflows', { token: 'ben', body });
  await call(world, '/workflows', ana);
  const { headers } = await call(world, `/workflows/${id}`, ana);
  const tag = { 'if-none-match': headers.get('etag') ?? '' };
  await call(world, `/workflows/${id}`, { ...ana, headers: tag });
  await call(world, `/workflows/${id}/events`, { token: 'auditor' });
  await call(world, `/workflows/${id}/complete`, { ...ana, body: {} });
  const done = { step: 'done', confirmed: true };
  await twice(
    world,
    `/workflows/${id}/steps`,
    { ...ana, body: done },
    { body: { ...done, step: 'x' } },
  );
  const other = await start(world, 'short', 'VESSEL-4');
  await twice(
    world,
    `/workflows/${id}/complete`,
    { ...ana, body: {} },
    { path: `/workflows/${other}/complete` },
  );
  await call(world, `/workflows/${id}/steps`, { ...ana, body: done });
  await call(world, `/workflows/${id}/steps`, { ...ana, body: { ...done, step: 'x' } });
  for (const [verb, more] of [
    ['hand-over', { to: 'dev:ben' }],
    ['abandon', { reason: 'wrong one' }],
  ] as const) {
    const path = `/workflows/${await start(world, 'short', verb === 'abandon' ? 'VESSEL-5' : 'VESSEL-6')}/${verb}`;
    const asked = await call(world, path, { ...ana, body: more });
    const whole = { ...more, tenure: asked.body['tenure'] };
    const changed = { ...whole, tenure: 99 };
    await twice(world, path, { ...ana, body: whole }, { body: changed });
  }
  const { id: blocked } = await world.blocked('VESSEL-7');
  const [found] = await world.store.snapshot([{ kind: 'workflow', tenant: 'plant', id: blocked }]);
  await call(world, `/workflows/${blocked}/steps`, {
    ...ana,
    body: { step: 'pressure', reading: 3 },
  });
  const resolution = { block: found?.block?.seq ?? 0, decision: 'retake', reason: 'seen' };
  const path = `/workflows/${blocked}/resolve-block`;
  await twice(
    world,
    path,
    { token: 'sue', body: resolution },
    { body: { ...resolution, reason: 'x' } },
  );
  await call(world, path, { token: 'sue', body: { ...resolution, decision: 'continue' } });
}

async function decisions(world: Guarded): Promise<void> {
  const dora = { token: 'dora' };
  const one = await world.blocked('VESSEL-8');
  const body = { approved: true, action_hash: one.hash };
  const path = `/workflows/${one.id}/approval`;
  await call(world, '/approvals', dora);
  await call(world, path, { ...dora, body: { ...body, action_hash: HASH } });
  await twice(world, path, { ...dora, body }, { body: { ...body, approved: false } });
}

async function runs(world: Guarded): Promise<void> {
  const ira = { token: 'ira' };
  const worker = workerOn(world.store);
  const headers = { prefer: 'wait=0' };
  const made = await call(world, '/runs', { ...ira, body: INCIDENT, key: 'r', headers });
  const id = String(made.body['run_id']);
  const { proposal } = await worker.propose(id);
  await call(world, '/runs', { ...ira, body: INCIDENT, key: 'r', headers });
  await call(world, '/runs', { ...ira, body: { ...INCIDENT, symptom: 'x' }, key: 'r', headers });
  await call(world, '/runs', ira);
  const shown = await call(world, `/runs/${id}`, ira);
  const tag = { 'if-none-match': shown.headers.get('etag') ?? '' };
  await call(world, `/runs/${id}`, { ...ira, headers: tag });
  await call(world, `/runs/${id}/observations`, ira);
  await call(world, `/runs/${id}/events`, { token: 'auditor' });
  const body = { approved: true, action_hash: proposal?.action_hash };
  const path = `/runs/${id}/approval`;
  await call(world, path, { token: 'dora', body: { ...body, action_hash: HASH } });
  await call(world, `/runs/${id}/resume`, { ...ira, body: {} });
  await twice(world, path, { token: 'dora', body }, { body: { ...body, approved: false } });
  const fail = { do: 'fail', reason: 'WRITE_REFUSED', message: 'm' } as const;
  await worker.steps(id, fail);
  const second = await call(world, '/runs', { ...ira, body: INCIDENT, key: 'r2', headers });
  const other = `/runs/${String(second.body['run_id'])}/resume`;
  await twice(world, `/runs/${id}/resume`, { ...ira, body: {} }, { path: other });
}

/** Has the store hold something that no command would write. */
async function planted({ store }: World, ...writes: readonly Write[]): Promise<void> {
  expect(await store.commit({ writes }, Date.now() + 9_000)).toEqual({ ok: true });
}

/** Trails that a person has to look at: one that is changed, and then one that goes on beyond its head. */
async function trails(world: Guarded, kind: 'workflows' | 'runs'): Promise<void> {
  const made = async (n: number): Promise<string> => {
    if (kind === 'workflows') return start(world, 'short', `VESSEL-3${n}`);
    const body = { ...INCIDENT, symptom: `trail ${n}` };
    const headers = { prefer: 'wait=0' };
    return String((await call(world, '/runs', { token: 'ira', body, headers })).body['run_id']);
  };
  const [one, two, three] = [await made(1), await made(2), await made(3)];
  const eventOf = async (workflow: string) => {
    const [first] = await world.store.listEvents('plant', workflow, { after: 0, limit: 1 });
    if (first === undefined) throw new Error('there is no event');
    return first;
  };
  const key = (workflow: string, seq: number) =>
    ({ kind: 'event', tenant: 'plant', workflow, seq }) as const;
  const olga = { token: 'olga' };
  await planted(world, { op: 'update', key: key(one, 1), expect: {}, set: { text: '{}' } });
  const unfreeze = `/${kind}/${one}/unfreeze`;
  const look = await call(world, unfreeze, { ...olga, body: { reason: 'seen' } });
  const body = { reason: 'seen', seen: look.body['seen'] };
  await twice(world, unfreeze, { ...olga, body }, { body: { ...body, reason: 'x' } });
  const event = await eventOf(two);
  await call(world, `/${kind}/${two}/repair-torn`, { ...olga, body: {} });
  await planted(world, { op: 'create', key: key(two, 2), item: { ...event, seq: 2 } });
  const repair = `/${kind}/${two}/repair-torn`;
  await twice(world, repair, { ...olga, body: {} }, { path: `/${kind}/${three}/repair-torn` });
}

async function operations(world: World): Promise<void> {
  for (const asset of ['PUMP-20', 'PUMP-21']) {
    const body = { procedure: 'pump-inspection', asset };
    await call(world, '/workflows', { token: 'ana', body });
  }
  await call(world, '/locks/PUMP-21/release', { body: { reason: 'fire' } });
  await call(world, '/locks');
  const release = { token: 'olga', body: { reason: 'fire' } };
  const other = { body: { reason: 'flood' } };
  await twice(world, '/locks/PUMP-20/release', release, other);
  await call(world, '/locks/PUMP-20/release', other);
  for (const path of ['/outbox', '/sweeps', '/findings']) await call(world, path);
  const waiting = (await call(world, '/outbox')).body['items'] as unknown as readonly {
    readonly id: string;
  }[];
  const [first, second] = waiting;
  await call(world, `/outbox/${first?.id}`);
  await call(world, `/outbox/${first?.id}/redrive`, { body: {} });
  await parkAll(world.store);
  const redrive = `/outbox/${first?.id}/redrive`;
  const path = `/outbox/${second?.id}/redrive`;
  await twice(world, redrive, { token: 'olga', body: {} }, { path });
  await call(world, '/tools', { token: 'ira' });
  const asking = await openWorld((store) => ({
    rest: {
      ...restOn(store).rest,
      evidenceTools: () => Promise.resolve({ offered: [], tools: [], missing: [], problems: [] }),
    },
  }));
  await call(asking, '/tools', { token: 'ira' });
}

beforeAll(async () => {
  const world = await openGuarded();
  await refusals(world);
  await work(world);
  await decisions(world);
  await runs(world);
  await trails(world, 'workflows');
  await trails(world, 'runs');
  await operations(await openWorld());
}, 120_000);
closeWorldsAfterEach();

const pairs = OPERATIONS.flatMap((route) =>
  statusesOf(route).map((status) => [route.method.toUpperCase(), route.path, status] as const),
);

test.each(pairs)('%s %s is answered with %s by some call', (method, path, status) => {
  expect(seen).toContain(`${method} ${path} ${status}`);
});

test('every name of a field in the document is in snake_case, and so is every parameter', () => {
  const odd: string[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'properties') odd.push(...Object.keys(member as object).filter(notSnake));
      look(member);
    }
  };
  look(openApiDocument());
  const named = OPERATIONS.flatMap(({ path, query }) => [
    ...[...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => name),
    ...Object.keys(query?.shape ?? {}),
  ]);
  expect([...odd, ...named.filter(notSnake)]).toEqual([]);
});

const notSnake = (name: string): boolean => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/u.test(name);
