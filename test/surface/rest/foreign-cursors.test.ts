// A cursor is good for the list, the aggregate and the tenant that it was given for, and for nothing else.
import { expect, test } from '@jest/globals';
import { callRest, type RestAnswer } from '../../support/rest-call.ts';
import { INCIDENT, observes, workerOn } from '../../support/rest-runs.ts';
import { closeWorldsAfterEach, openWorld, type World } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const incident = async (world: World, token: string, symptom: string): Promise<string> => {
  const body = { ...INCIDENT, symptom };
  const headers = { prefer: 'wait=0' };
  return String((await callRest(world, '/runs', { token, body, headers })).body['run_id']);
};
const gathered = [{ do: 'begin' }, observes('one'), observes('two')] as const;

/** Two runs of the tenant that wait for a decision, and one of another tenant. */
async function furnished(world: World) {
  const mine = [await incident(world, 'ira', 'one'), await incident(world, 'ira', 'two')] as const;
  for (const id of mine) await workerOn(world.store).propose(id);
  const long = await incident(world, 'ira', 'three');
  await workerOn(world.store).steps(long, ...gathered);
  const foreign = await incident(world, 'iraElsewhere', 'four');
  await workerOn(world.store, 'elsewhere').steps(foreign, ...gathered);
  return { long, foreign, other: mine[0] };
}

const LISTS: readonly (readonly [
  list: string,
  token: string,
  pathOf: (run: string) => string,
  odd: readonly string[],
])[] = [
  ['runs', 'ira', () => '/runs?limit=1&state=awaiting_approval', ['/runs?limit=1&state=failed']],
  ['approvals', 'dora', () => '/approvals?limit=1', ['/approvals?limit=2']],
  ['observations', 'ira', (run) => `/runs/${run}/observations?limit=1`, []],
  ['events of a run', 'auditor', (run) => `/runs/${run}/events?limit=1`, []],
];

test.each(LISTS)(
  'a cursor of %s goes on with it and with nothing else',
  async (_list, token, pathOf, odd) => {
    const world = await openWorld();
    const { long, foreign, other } = await furnished(world);
    const get = (path: string, as = token): Promise<RestAnswer> =>
      callRest(world, path, { token: as });
    const path = pathOf(long);
    const { status, body } = await get(path);
    const cursor = String(body['next_cursor']);
    expect([status, cursor]).toEqual([200, expect.stringMatching(/^[\w-]+\.[\w-]+$/u)]);
    expect((await get(`${path}&cursor=${cursor}`)).status).toBe(200);
    const elsewhere: readonly (readonly string[])[] = [
      [pathOf(foreign), 'iraElsewhere'],
      ...odd.map((one) => [one, token]),
      ...(pathOf(other) === path ? [] : [[pathOf(other), token]]),
    ];
    for (const [there = '', as] of elsewhere) {
      const refused = await get(`${there}&cursor=${cursor}`, as);
      expect([there, refused.status, refused.body['code']]).toEqual([there, 400, 'INVALID_CURSOR']);
    }
  },
);
