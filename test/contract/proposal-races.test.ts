// Two people decide at once on what a block proposes, a thousand times on each backend, over a store of its
// own: what is left of it is due, and no other test shall sweep it.
import { expect, test } from '@jest/globals';
import { eventBody } from '../../lib/core/events.ts';
import { inParallel } from '../../lib/core/in-parallel.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { deciders, guardedWork } from '../support/guarded-work.ts';
import { makeService, principal, testClock, type TestClock } from '../support/harness.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

const TITLE =
  'a proposal is approved and denied at once, a thousand times: one winner each time, the loser told who';

async function race(store: StorageBackend, clock: TestClock, tenant: string): Promise<void> {
  const ana = principal({ tenant });
  const { dora, eli } = deciders(tenant);
  const { execute } = makeService(store, { clock, seed: 'work' });
  // Each decides in a process of their own, which remembers nothing of the other.
  const yesSayer = makeService(store, { clock, seed: 'dora' });
  const noSayer = makeService(store, { clock, seed: 'eli' });
  const wins = { approved: 0, denied: 0 };
  const assets = Array.from({ length: 1_000 }, (_, n) => `VESSEL-${n}`);
  await inParallel(assets, 8, async (asset) => {
    const workflow = await guardedWork(execute, ana, asset).blocked();
    const key = { kind: 'workflow', tenant, id: workflow } as const;
    const [before] = await store.snapshot([key]);
    const action_hash = before?.block?.proposal?.action_hash ?? '';
    const decision = (approved: boolean): Command => ({
      type: 'decide_approval',
      workflow,
      approved,
      action_hash,
    });
    const [yes, no] = await Promise.all([
      yesSayer.execute(dora, decision(true)),
      noSayer.execute(eli, decision(false)),
    ]);
    const [winner, loser] = yes.code === 'OK' ? [yes, no] : [no, yes];
    expect(winner).toMatchObject({ code: 'OK', duplicate: false });
    const approved = winner === yes;
    expect(loser).toMatchObject({
      code: 'ALREADY_DECIDED',
      by: approved ? 'dev:dora' : 'dev:eli',
      decision: approved ? 'approved' : 'denied',
      action_hash,
    });
    wins[approved ? 'approved' : 'denied'] += 1;
    const events = await store.listEvents(tenant, workflow, { after: 2, limit: 10 });
    expect(events.map((event) => eventBody(event).type)).toEqual([
      approved ? 'action_approved' : 'action_denied',
    ]);
    const rows = await store.listOutbox(tenant, workflow, 10);
    expect(rows.map(({ payload }) => payload['kind'])).toEqual(['block', 'approval_decided']);
    const [after] = await store.snapshot([key]);
    expect([after?.state, after?.block?.denied?.subject]).toEqual(
      approved ? ['RUNNING', undefined] : ['BLOCKED', 'dev:eli'],
    );
  });
  expect(wins.approved + wins.denied).toBe(1_000);
}

test(`sqlite: ${TITLE}`, async () => {
  const files = sqliteFiles();
  await race(await files.open(), files.clock, 'races');
  await files.remove();
}, 240_000);

describeOnDynamo('dynamodb', () => {
  const world = dynamoWorld();
  test(
    TITLE,
    async () => {
      const clock = testClock();
      const store = world.open(clock);
      await race(store, clock, 'races');
      await store.close();
    },
    240_000,
  );
});
