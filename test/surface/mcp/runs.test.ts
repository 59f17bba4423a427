import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { callTool, ERAS, send } from '../../support/rpc.ts';
import { INCIDENT, observes, workerOn } from '../../support/rest-runs.ts';
import { closeWorldsAfterEach, openWorld, restOn } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const deciding = () => openWorld((store) => restOn(store, systemClock, true));
type Told = { readonly run: { readonly run_id: string; readonly [name: string]: unknown } };
const investigate = async ({ app }: Awaited<ReturnType<typeof openWorld>>, more = {}) =>
  callTool(app, 'investigate_incident', { ...INCIDENT, ...more }, 'ira');
const idIn = (data: unknown): string => (data as Told).run.run_id;
const proposed = async (world: Awaited<ReturnType<typeof openWorld>>) => {
  const id = idIn((await investigate(world)).data);
  const run = await workerOn(world.store).propose(id);
  return { id, hash: run.proposal?.action_hash ?? '' };
};
const plain = (text: string): boolean =>
  text.split(/\s+/).length < 75 && !/run-|[0-9a-f]{16}|_|https?:/.test(text);

describe('investigate_incident', () => {
  test('answers at once, in words without ids, and a repeat attaches', async () => {
    const world = await openWorld();
    const first = await investigate(world);
    expect(first.text).toBe('I am looking into checkout. Ask me again in a moment what was found.');
    expect(first.data).toMatchObject({
      code: 'OK',
      duplicate: false,
      run: { status: 'created', ...INCIDENT },
    });
    const again = await investigate(world);
    expect([idIn(again.data), again.data['duplicate']]).toEqual([idIn(first.data), true]);
  });

  test('wants runs:create, and names what is wrong with its arguments', async () => {
    const world = await openWorld();
    const lacking = await callTool(world.app, 'investigate_incident', INCIDENT, 'dora');
    expect([lacking.data['code'], lacking.text]).toEqual([
      'FORBIDDEN',
      'Your account is not allowed to do that. Ask whoever manages access.',
    ]);
    const bad = await callTool(world.app, 'investigate_incident', { service: 'x' }, 'ira');
    expect(bad.data).toMatchObject({ code: 'INVALID_ARGUMENT', faults: [{ path: '/symptom' }] });
    const unseen = { ...INCIDENT, symptom: '\u200B\u202E' };
    const blank = await callTool(world.app, 'investigate_incident', unseen, 'ira');
    expect(blank.data).toMatchObject({ code: 'INVALID_ARGUMENT', faults: [{ path: '/symptom' }] });
  });
});

describe('get_run', () => {
  test('says where it stands, and holds the exact action beside its display', async () => {
    const world = await openWorld();
    const { id, hash } = await proposed(world);
    const { text, data } = await callTool(world.app, 'get_run', { run_id: id }, 'dora');
    expect(text).toBe(
      'For checkout one action is proposed: ticket create. Somebody who did not ask for it has to decide.',
    );
    expect(data['run']).toMatchObject({
      run_id: id,
      status: 'awaiting_approval',
      action_hash: hash,
      proposed_action: { type: 'ticket.create' },
      observations: [{ untrusted: true, display: { text: expect.stringContaining('\\u{202E}') } }],
    });
  });

  test('a long run fits a reply: the action is whole, and what is left out is counted', async () => {
    const world = await openWorld();
    const id = idIn((await investigate(world)).data);
    const steps = Array.from({ length: 30 }, (_, n) => observes(`${n} ${'x'.repeat(2_000)}`));
    const propose = {
      do: 'propose',
      action: {
        type: 'create_ticket',
        target: 'builtin',
        policy_version: 'p@1',
        arguments: { text: 'y'.repeat(8_000) },
      },
    } as const;
    await workerOn(world.store).steps(id, { do: 'begin' }, ...steps, propose);
    const { data } = await callTool(world.app, 'get_run', { run_id: id }, 'dora');
    const { run } = data as unknown as Told & { run: { left_out: number } };
    expect(JSON.stringify(run['proposed_action'])).toContain('y'.repeat(8_000));
    expect(run.left_out).toBeGreaterThan(0);
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(20_000);
  });

  test.each(ERAS)(
    'run://{id} is the same to read, for whom the tool would show it',
    async (era) => {
      const world = await openWorld();
      const { id } = await proposed(world);
      const uri = `run://${id}`;
      const { body } = await send(world.app, era, 'resources/read', { uri }, { token: 'ira' });
      const { contents } = body['result'] as { contents: readonly { text: string }[] };
      expect(JSON.parse(contents[0]?.text ?? '')).toMatchObject({ run_id: id });
      expect(plain(contents[1]?.text ?? '')).toBe(true);
      const other = await send(
        world.app,
        era,
        'resources/read',
        { uri },
        { token: 'iraElsewhere' },
      );
      expect(other.body['error']).toMatchObject({ code: -32_602 });
      const ana = await send(world.app, era, 'resources/read', { uri }, { token: 'ana' });
      expect(ana.body['error']).toMatchObject({ code: -32_003 });
    },
  );
});

test('list_pending_approvals names what waits, and says when nothing does', async () => {
  const world = await openWorld();
  const list = () => callTool(world.app, 'list_pending_approvals', {}, 'dora');
  expect((await list()).text).toBe('Nothing waits for a decision.');
  const { id } = await proposed(world);
  const { text, data } = await list();
  expect(text).toBe('1 action waits for a decision: checkout.');
  expect(data).toMatchObject({ runs: [{ run_id: id }], more: false });
});

describe('decide_approval', () => {
  test('is unknown where assistants may not decide', async () => {
    const world = await openWorld();
    const { id, hash } = await proposed(world);
    const args = { run_id: id, approved: true, action_hash: hash };
    const params = { name: 'decide_approval', arguments: args };
    const { body } = await send(world.app, 'handshake', 'tools/call', params, { token: 'dora' });
    expect(body['error']).toMatchObject({ code: -32_602 });
    expect((await workerOn(world.store).read(id)).state).toBe('awaiting_approval');
  });

  test('approves for a person, with the channel on record', async () => {
    const world = await deciding();
    const { id, hash } = await proposed(world);
    const args = { run_id: id, approved: true, action_hash: hash };
    const { text, data } = await callTool(world.app, 'decide_approval', args, 'dora');
    expect(text).toBe('The action for checkout is approved and is being carried out.');
    expect(data['run']).toMatchObject({ status: 'executing', approval: { via: 'mcp' } });
    const again = await callTool(world.app, 'decide_approval', args, 'dora');
    expect(again.data['duplicate']).toBe(true);
    const late = { ...args, approved: false };
    const lost = await callTool(world.app, 'decide_approval', late, 'dan');
    expect(lost.text).toBe('That was already approved, by Dora.');
    expect(lost.data).toMatchObject({ code: 'ALREADY_DECIDED', detail: { by: 'dev:dora' } });
  });

  test('never decides for an agent, a service, or who asked for it', async () => {
    const world = await deciding();
    const { id, hash } = await proposed(world);
    const args = { run_id: id, approved: true, action_hash: hash };
    const params = { name: 'decide_approval', arguments: args };
    for (const token of ['deciderRobot', 'deciderService']) {
      const { status } = await send(world.app, 'handshake', 'tools/call', params, { token });
      expect([token, status]).toEqual([token, 403]);
    }
    const own = await callTool(world.app, 'investigate_incident', INCIDENT, 'deputy');
    const run = await workerOn(world.store).propose(idIn(own.data));
    const mine = { ...args, run_id: run.id, action_hash: run.proposal?.action_hash };
    const refused = await callTool(world.app, 'decide_approval', mine, 'deputy');
    expect(refused.data).toMatchObject({ code: 'FORBIDDEN', detail: { why: 'involved' } });
    expect((await workerOn(world.store).read(id)).state).toBe('awaiting_approval');
  });

  test('BR-181: whatever another server tells an assistant to add is refused by name', async () => {
    const world = await deciding();
    const { id, hash } = await proposed(world);
    const args = { run_id: id, approved: true, action_hash: hash };
    for (const more of [{ force: true }, { approver: 'dev:dan' }, { target: 'elsewhere' }]) {
      const { data } = await callTool(world.app, 'decide_approval', { ...args, ...more }, 'dora');
      const [name] = Object.keys(more);
      expect(data).toMatchObject({ code: 'INVALID_ARGUMENT', faults: [{ path: `/${name}` }] });
    }
    expect((await workerOn(world.store).read(id)).state).toBe('awaiting_approval');
  });

  test('BR-175, BR-207: a short or another digest decides nothing', async () => {
    const world = await deciding();
    const { id, hash } = await proposed(world);
    for (const [action_hash, code] of [
      [hash.slice(0, 8), 'INVALID_ARGUMENT'],
      ['f'.repeat(64), 'STALE_PROPOSAL'],
    ]) {
      const args = { run_id: id, approved: true, action_hash };
      const { text, data } = await callTool(world.app, 'decide_approval', args, 'dora');
      expect(data['code']).toBe(code);
      expect(plain(text)).toBe(true);
    }
    expect((await workerOn(world.store).read(id)).state).toBe('awaiting_approval');
  });
});
