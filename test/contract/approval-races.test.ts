// Two people decide at once, a thousand times on each backend, over a store of their own: what is left of
// it is due, and no other test shall sweep it.
import { expect, test } from '@jest/globals';
import { inParallel } from '../../lib/core/in-parallel.ts';
import { runIdFrom } from '../../lib/core/model/aggregate.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { RUN } from '../../lib/core/runs/timing.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock, type TestClock } from '../support/harness.ts';
import { PROPOSAL, runOf, runWorld } from '../support/runs.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';
import { create } from './storage/bench.ts';

const TITLE =
  'approve and deny at once, a thousand times: one winner each time, the loser told who';

async function race(store: StorageBackend, clock: TestClock, tenant: string): Promise<void> {
  const { cara, dan, execute, decide } = runWorld(store, clock, tenant);
  const all = Array.from({ length: 1_000 }, (_, n) =>
    runOf(tenant, {
      id: runIdFrom(`race-${n}`),
      state: 'awaiting_approval',
      proposal: PROPOSAL,
      deadline_at: clock.now() + RUN.approveMs,
    }),
  );
  for (let n = 0; n < all.length; n += 100) {
    const writes = all
      .slice(n, n + 100)
      .map((run) => create({ kind: 'run', tenant, id: run.id }, run));
    expect(await store.commit({ writes }, clock.now() + 10_000)).toEqual({ ok: true });
  }
  const wins = { approved: 0, denied: 0 };
  await inParallel(all, 8, async (run) => {
    const [yes, no] = await Promise.all([
      execute(cara, decide(run, true)),
      execute(dan, decide(run, false)),
    ]);
    const [winner, loser] = yes.code === 'OK' ? [yes, no] : [no, yes];
    expect(winner).toMatchObject({ code: 'OK', duplicate: false });
    const approved = winner === yes;
    expect(loser).toMatchObject({
      code: 'ALREADY_DECIDED',
      by: approved ? 'dev:cara' : 'dev:dan',
      decision: approved ? 'approved' : 'denied',
      action_hash: PROPOSAL.action_hash,
    });
    wins[approved ? 'approved' : 'denied'] += 1;
    const events = await store.listEvents(tenant, run.id, { after: 0, limit: 10 });
    expect(events.map(({ seq }) => seq)).toEqual([2]);
    const rows = await store.listOutbox(tenant, run.id, 10);
    expect(rows).toHaveLength(approved ? 1 : 0);
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
