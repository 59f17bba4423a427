// Limits of what is recorded, and of what a process remembers of it.
import { verifyQuestion, signQuestion } from '../../lib/core/confirmation.ts';
import { checkJson } from '../../lib/core/json.ts';
import { itemBytes } from '../../lib/core/keys.ts';
import { lastValues } from '../../lib/core/last-values.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { Slot, Workflow } from '../../lib/core/model/workflow.ts';
import { nearAssets } from '../../lib/core/near-assets.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { everyItem } from '../../lib/core/pages.ts';
import { dayOf } from '../../lib/core/instant.ts';
import { keptFrom, SweepTally } from '../../lib/core/reconcile/notes.ts';
import { makeService, principal, testClock, testRegistry } from '../support/harness.ts';
import { workflowOf } from '../support/plans.ts';
import { person, PureWorld } from '../support/pure-world.ts';
import { noting } from '../support/store-hooks.ts';
import { goes, type Case } from './case.ts';
import { openStore } from './stores.ts';

const ana = principal();
const start = (n: number): Command => ({
  type: 'start_workflow',
  procedure: 'sample',
  asset: `UNIT-${n}`,
});

/** A store whose next commits meet somebody else's, each of them. */
function contended(store: StorageBackend, times: number): StorageBackend {
  let left = times;
  return {
    ...store,
    commit: (transaction, deadlineMs) =>
      left-- > 0
        ? Promise.resolve({ ok: false, failed: [] })
        : store.commit(transaction, deadlineMs),
  };
}

const withValue = (text: string): Workflow => {
  const { workflow } = workflowOf({ tenant: 't' });
  const { created_at: at } = workflow;
  const slot: Slot = { seq: 2, basis: 0, status: 'done', by: 'dev:ana', at, value: text };
  return { ...workflow, steps: { one: slot } };
};

const SHARD = { shard: 0, end: 'done' };
const finding = (workflow: string) =>
  ({ rule: 'R8', tenant: 'acme', workflow, what: 'drift', repaired: false }) as const;

/** The cases. */
export const CORE = {
  jsonNodes: (count) => goes(() => checkJson(Array.from({ length: count - 1 }, () => []))),
  assetSuggestions: (count) => {
    const known = Array.from({ length: count }, (_, n) => `BOX-1${n}`);
    const shape = { type: 'box', pattern: 'BOX-[0-9]+', example: 'BOX-10' };
    return nearAssets('box 1', known, [{ ...shape, example: 'BOX-ONE' }]).length === count;
  },
  eventsPerWorkflow: (count) => {
    const world = new PureWorld();
    const who = person('Ana');
    world.run(who, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' });
    const before: Workflow = { ...world.state, head_seq: count - 1 };
    world.workflow = before;
    const input = { kind: 'choice', option: 'dry' } as const;
    const command = { type: 'record_step', workflow: before.id, step: 'leak', input } as const;
    return world.decide(who, command).kind === 'commit';
  },
  confirmationMinutes: {
    // A millisecond in minutes: the last moment, and the first one past it.
    grain: 1 / 60_000,
    attempt: (minutes) => {
      const asked = { tenant: 't', subject: 's', step: 'x', value: 1 };
      const state = signQuestion(
        'secret',
        asked,
        { question: 'value', workflow: 'w', basis: 1 },
        0,
      );
      const at = Math.round(minutes * 60_000) - 1;
      return verifyQuestion('secret', asked, state, at)?.late === false;
    },
  },
  ledgerDays: {
    // A second in days.
    grain: 1 / 86_400,
    attempt: async (days) => {
      const clock = testClock();
      const store = await openStore(clock);
      const { execute } = makeService(store, { clock });
      const keyed = { ...start(1), key: 'k-1' } as Command;
      await execute(ana, keyed);
      clock.advance(Math.round(days * 86_400 - 1) * 1_000);
      const other = { ...start(2), key: 'k-1' } as Command;
      return (await execute(ana, other)).code === 'IDEMPOTENCY_CONFLICT';
    },
  },
  commandAttempts: async (attempts) => {
    const clock = testClock();
    const store = contended(await openStore(clock), attempts - 1);
    const { service } = makeService(store, { clock });
    const outcome = await service.execute(ana, start(1), clock.now() + 1_000_000);
    return outcome.code === 'OK';
  },
  rememberedWorkflows: async (count) => {
    const clock = testClock();
    const { store, calls } = noting(await openStore(clock));
    const { ok } = makeService(store, { clock });
    const first = (await ok(ana, start(1))).receipt.workflow;
    for (let n = 2; n <= count; n++) await ok(ana, start(n));
    calls.length = 0;
    const input = { kind: 'choice', option: 'auto' } as const;
    await ok(ana, { type: 'record_step', workflow: first, step: 'mode', input });
    return !calls.includes('snapshot');
  },
  blockedShown: async (count) => {
    const store = await openStore();
    const blocked = workflowOf({ tenant: 'acme' }).workflow;
    const lists: StorageBackend = {
      ...store,
      listWorkflows: (_tenant, _state, { limit }) =>
        Promise.resolve({ items: Array.from({ length: Math.min(count, limit) }, () => blocked) }),
    };
    const supervisor = principal({ scopes: ['procedures:supervise'] });
    const found = await createQueries(lists, testRegistry()).listBlocked(supervisor);
    return found.code === 'FOUND' && found.value.workflows.length === count && !found.value.more;
  },
  sweepFindings: (count) => {
    const tally = new SweepTally();
    for (let n = 0; n < count; n++) tally.add(finding(`${n}`));
    return tally.note(SHARD, 0).tenants[0]?.findings.length === count;
  },
  findingChars: (chars) => {
    const tally = new SweepTally();
    const what = 'x'.repeat(chars);
    tally.add({ ...finding('w'), what });
    return tally.note(SHARD, 0).tenants[0]?.findings[0]?.what === what;
  },
  sweepDays: (days) => dayOf(0) >= keptFrom(days * 86_400_000),
  notedSweeps: async (count) => {
    const clock = testClock();
    const store = await openStore(clock);
    const tally = new SweepTally();
    tally.add(finding('w'));
    for (let n = 0; n < count; n++) {
      clock.advance(1);
      await store.noteSweep(tally.note(SHARD, clock.now()));
    }
    const day = dayOf(clock.now());
    let kept = 0;
    for await (const _ of everyItem((page) => store.listFindings('acme', day, page))) kept += 1;
    return kept === count;
  },
  lastValuesBytes: (bytes) => {
    const at = '2026-03-01T09:00:00.000Z';
    const text = (n: number): Workflow => withValue('x'.repeat(n));
    const rest = itemBytes(lastValues(text(1), at)) - 1;
    return lastValues(text(bytes - rest), at) !== undefined;
  },
} as const satisfies { readonly [name: string]: Case };
