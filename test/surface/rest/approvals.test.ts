// Decisions on what blocked work proposes, over REST, and the list of what waits.
import { describe, expect, test } from '@jest/globals';
import { actionHash } from '../../../lib/core/runs/action.ts';
import { openGuarded } from '../../support/guarded-world.ts';
import { callRest } from '../../support/rest-call.ts';
import { INCIDENT, workerOn } from '../../support/rest-runs.ts';
import { closeWorldsAfterEach } from '../../support/surface-world.ts';

closeWorldsAfterEach();

type Item = { readonly [name: string]: unknown };
const itemsOf = (body: object): readonly Item[] => (body as { items: readonly Item[] }).items;

describe('POST /v1/workflows/{id}/approval', () => {
  const deciding = async () => {
    const world = await openGuarded();
    const decide = (
      { id, hash }: { readonly id: string; readonly hash: string },
      approved: boolean,
      token = 'dora',
      key?: string,
    ) =>
      callRest(world, `/workflows/${id}/approval`, {
        token,
        body: { approved, action_hash: hash },
        ...(key !== undefined && { key }),
      });
    return { ...world, decide };
  };

  test('approves: the work goes on, and the same again is its receipt', async () => {
    const world = await deciding();
    const one = await world.blocked();
    const first = await world.decide(one, true, 'dora', 'k');
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      duplicate: false,
      receipt: { command: 'decide_approval', result: 'approved', action_hash: one.hash, event: 3 },
      workflow: { workflow_id: one.id, status: 'running' },
    });
    for (const key of ['k', undefined]) {
      const again = await world.decide(one, true, 'dora', key);
      expect(again.body).toMatchObject({ duplicate: true, receipt: first.body['receipt'] });
    }
    const other = await world.decide(one, false, 'dan');
    expect([other.status, other.type]).toEqual([409, 'application/problem+json']);
    expect(other.body).toMatchObject({
      code: 'ALREADY_DECIDED',
      decision: 'approved',
      decided_by: { subject: 'dev:dora', name: 'Dora' },
      action_hash: one.hash,
    });
  });

  test('denies: the block stays with who denied, and goes with a resolution', async () => {
    const world = await deciding();
    const one = await world.blocked();
    const denied = await world.decide(one, false);
    expect(denied.body).toMatchObject({
      workflow: {
        status: 'blocked',
        block: { denied: { action_hash: one.hash, decided_by: { name: 'Dora' }, via: 'rest' } },
      },
    });
    const body = { block: 2, decision: 'continue', reason: 'checked' };
    const resolved = await callRest(world, `/workflows/${one.id}/resolve-block`, {
      token: 'sue',
      body,
    });
    expect(resolved.body).toMatchObject({ workflow: { status: 'running' } });
  });

  test('is refused to whoever worked on it, to agents and services, and without the scope', async () => {
    const world = await deciding();
    const one = await world.blocked();
    for (const [token, need] of [
      ['ana', 'approvals:decide'],
      ['sue', 'approvals:decide'],
      ['deciderRobot', 'a person'],
      ['deciderService', 'a person'],
    ] as const) {
      const refused = await world.decide(one, true, token);
      expect([token, refused.status, refused.body]).toMatchObject([token, 403, { need }]);
    }
    expect((await world.decide(one, true, 'iraElsewhere')).status).toBe(404);
  });

  test('is 409 for another digest and 400 for a short one, and writes nothing', async () => {
    const world = await deciding();
    const one = await world.blocked();
    const stale = await world.decide({ ...one, hash: 'f'.repeat(64) }, true);
    expect([stale.status, stale.body]).toMatchObject([
      409,
      { code: 'STALE_PROPOSAL', given: 'f'.repeat(64), action_hash: one.hash },
    ]);
    const short = await world.decide({ ...one, hash: one.hash.slice(0, 8) }, true);
    expect([short.status, short.body]).toMatchObject([
      400,
      { errors: [{ pointer: '/action_hash' }] },
    ]);
    const foreign = await world.decide({ ...one, id: 'run-1' }, true);
    expect(foreign.status).toBe(404);
    const read = await callRest(world, `/workflows/${one.id}`, { token: 'dora' });
    expect(read.body).toMatchObject({
      status: 'blocked',
      block: {
        proposal: { action_hash: one.hash, expires_at: one.proposal.action.expires_at },
      },
    });
  });

  test('whoever may approve reads the one piece of work, and no list of work and no trail', async () => {
    const world = await deciding();
    const { id } = await world.blocked();
    for (const path of [`/workflows/${id}`, '/workflows?asset=VESSEL-1']) {
      const read = await callRest(world, path, { token: 'dora' });
      expect([path, read.status]).toEqual([path, 200]);
    }
    for (const path of ['/workflows', '/workflows?show=blocked', `/workflows/${id}/events`]) {
      const read = await callRest(world, path, { token: 'dora' });
      expect([path, read.status]).toEqual([path, 403]);
    }
    expect((await callRest(world, `/workflows/${id}`, { token: 'ira' })).status).toBe(403);
  });

  test('a resolution withdraws it', async () => {
    const world = await deciding();
    const one = await world.blocked();
    const body = { block: 2, decision: 'retake', reason: 'again' };
    await callRest(world, `/workflows/${one.id}/resolve-block`, { token: 'sue', body });
    const late = await world.decide(one, true);
    expect([late.status, late.body]).toMatchObject([409, { code: 'STALE_PROPOSAL' }]);
    expect(late.body).not.toHaveProperty('action_hash');
  });
});

describe('GET /v1/approvals', () => {
  test('has the actions of runs and of blocked work, each exact and as it may be looked at', async () => {
    const world = await openGuarded();
    const one = await world.blocked();
    const created = await callRest(world, '/runs', {
      token: 'ira',
      body: INCIDENT,
      headers: { prefer: 'wait=0' },
    });
    const run = await workerOn(world.store).propose(String(created.body['run_id']));
    const { status, body } = await callRest(world, '/approvals', { token: 'dora' });
    expect(status).toBe(200);
    const [first, second, ...more] = itemsOf(body);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      kind: 'run',
      run_id: run.id,
      about: 'checkout',
      requested_by: 'dev:ira',
      action_hash: run.proposal?.action_hash,
    });
    expect(second).toMatchObject({
      kind: 'workflow',
      workflow_id: one.id,
      about: 'VESSEL-1',
      requested_by: 'dev:ana',
      reason: 'Pressure is beyond the upper limit',
      action_hash: one.hash,
      expires_at: one.proposal.action.expires_at,
      proposed_action: one.proposal.action,
    });
    expect(actionHash(second?.['proposed_action'] as never)).toBe(one.hash);
    const display = second?.['proposed_action_display'] as readonly Item[];
    expect(display).toContainEqual({ path: '/arguments/value', text: '42', escaped: 0, hidden: 0 });
  });

  test('has what was decided, resolved or never proposed no more, and nothing of another tenant', async () => {
    const world = await openGuarded();
    const [one, two, three] = [
      await world.blocked('VESSEL-1'),
      await world.blocked('VESSEL-2'),
      await world.blocked('VESSEL-3'),
    ];
    await world.blocked('VESSEL-1', 'elsewhere');
    const body = { approved: false, action_hash: one.hash };
    await callRest(world, `/workflows/${one.id}/approval`, { token: 'dora', body });
    await callRest(world, `/workflows/${two.id}/resolve-block`, {
      token: 'sue',
      body: { block: 2, decision: 'retake', reason: 'again' },
    });
    const list = await callRest(world, '/approvals', { token: 'dora' });
    expect(itemsOf(list.body).map((item) => item['workflow_id'])).toEqual([three.id]);
  });

  test('comes in pages that meet each once, of the kinds that the token may read', async () => {
    const world = await openGuarded();
    const work = [];
    for (const n of [1, 2, 3]) work.push((await world.blocked(`VESSEL-${n}`)).id);
    const runs = [];
    for (const symptom of ['slow', 'down']) {
      const body = { ...INCIDENT, symptom };
      const headers = { prefer: 'wait=0' };
      const created = await callRest(world, '/runs', { token: 'ira', body, headers });
      runs.push((await workerOn(world.store).propose(String(created.body['run_id']))).id);
    }
    const met = async (token: string, limit: number) => {
      const ids: unknown[] = [];
      for (let cursor = ''; ;) {
        const query = `?limit=${limit}${cursor}`;
        const { body } = await callRest(world, `/approvals${query}`, { token });
        ids.push(...itemsOf(body).map((item) => item['run_id'] ?? item['workflow_id']));
        if (body['next_cursor'] === undefined) return ids;
        cursor = `&cursor=${encodeURIComponent(body['next_cursor'])}`;
      }
    };
    for (const limit of [1, 2, 3, 5, 20]) {
      expect(await met('dora', limit)).toEqual([...runs, ...work]);
      expect(await met('ira', limit)).toEqual(runs);
      expect(await met('sue', limit)).toEqual(work);
    }
    const { status, body } = await callRest(world, '/approvals', { token: 'ana' });
    expect([status, body]).toMatchObject([403, { need: 'approvals:decide' }]);
    const foreign = await callRest(world, '/approvals?cursor=x', { token: 'dora' });
    expect([foreign.status, foreign.body]).toMatchObject([400, { code: 'INVALID_CURSOR' }]);
    expect((await callRest(world, '/approvals', { token: 'dora', body: {} })).status).toBe(405);
  });
});
