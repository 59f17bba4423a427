// What blocked work proposes, as assistants see it and, where a deployment says so, decide on it.
import { describe, expect, test } from '@jest/globals';
import { openGuarded } from '../../support/guarded-world.ts';
import { principal } from '../../support/harness.ts';
import { callTool } from '../../support/rpc.ts';
import { ACCOUNTS, closeWorldsAfterEach } from '../../support/surface-world.ts';

closeWorldsAfterEach();

test('get_workflow and list_pending_approvals show it, with the full digest', async () => {
  const world = await openGuarded();
  const { id, hash, proposal } = await world.blocked();
  const shown = {
    workflow_id: id,
    block: {
      proposal: {
        action_hash: hash,
        expires_at: proposal.action.expires_at,
        proposed_action: proposal.action,
      },
    },
  };
  const one = await callTool(world.app, 'get_workflow', { workflow_id: id }, 'dora');
  expect(one.data['workflow']).toMatchObject(shown);
  expect(one.text).toBe(
    'Guarded procedure on VESSEL-1, with Ana: 1 of 2 required steps done. It is blocked because Pressure is beyond the upper limit; somebody who took no part may approve that it goes on.',
  );
  const { text, data } = await callTool(world.app, 'list_pending_approvals', {}, 'dora');
  expect(text).toBe('1 action waits for a decision: VESSEL-1.');
  expect(data).toMatchObject({ runs: [], workflows: [shown], more: false });
  const ira = await callTool(world.app, 'list_pending_approvals', {}, 'ira');
  expect(ira.data).toMatchObject({ runs: [], workflows: [] });
});

describe('decide_approval', () => {
  test('decides about work for a person, with the channel on record', async () => {
    const world = await openGuarded(true);
    const { id, hash } = await world.blocked();
    const args = { workflow_id: id, approved: true, action_hash: hash };
    const { text, data } = await callTool(world.app, 'decide_approval', args, 'dora');
    expect(text).toMatch(/^Approved, Guarded procedure on VESSEL-1 goes on\. /);
    expect(data).toMatchObject({ workflow: { state: 'RUNNING' }, receipt: { result: 'approved' } });
    const [event] = await world.store.listEvents('plant', id, { after: 2, limit: 1 });
    expect(JSON.parse(event?.text ?? '')).toMatchObject({ actor: { via: 'mcp' } });
    const again = await callTool(world.app, 'decide_approval', args, 'dora');
    expect([again.data['duplicate'], again.text.slice(0, 16)]).toEqual([true, 'Already approved']);
    const late = await callTool(world.app, 'decide_approval', { ...args, approved: false }, 'dan');
    expect(late.text).toBe('That was already approved, by Dora.');
  });

  test('denies, and says what is left', async () => {
    const world = await openGuarded(true);
    const { id, hash } = await world.blocked();
    const args = { workflow_id: id, approved: false, action_hash: hash };
    const { text } = await callTool(world.app, 'decide_approval', args, 'dora');
    expect(text).toBe(
      'Denied, Guarded procedure on VESSEL-1. It is blocked because Pressure is beyond the upper limit; a supervisor has to decide.',
    );
  });

  test('takes a run or work, and not both or neither', async () => {
    const world = await openGuarded(true);
    const { id, hash } = await world.blocked();
    const args = { approved: true, action_hash: hash };
    for (const about of [{}, { run_id: 'run-1', workflow_id: id }]) {
      const { data } = await callTool(world.app, 'decide_approval', { ...args, ...about }, 'dora');
      expect(data).toMatchObject({ code: 'INVALID_ARGUMENT', faults: [{ path: '/run_id' }] });
    }
  });

  test('is refused by the core where assistants may not decide', async () => {
    const world = await openGuarded();
    const { id, hash } = await world.blocked();
    const command = {
      type: 'decide_approval',
      workflow: id,
      approved: true,
      action_hash: hash,
    } as const;
    const dora = principal({ ...ACCOUNTS['dora'], via: 'mcp' });
    expect(await world.execute(dora, command)).toMatchObject({
      code: 'FORBIDDEN',
      why: 'channel',
    });
  });
});
