import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { DELIVERY } from '../../lib/core/dispatch/row.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { Run } from '../../lib/core/model/run.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import type { Ticket } from '../../lib/core/ports/tickets.ts';
import { orderOf } from '../../lib/core/runs/order.ts';
import { dueShards } from '../../lib/core/reconcile/due-shards.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { executionName, starter } from '../../lib/core/runs/execution.ts';
import { RUN } from '../../lib/core/runs/timing.ts';
import { createReconcileFunction } from '../../lib/lambda/reconcile-handler.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock, testRandom, testRegistry } from '../support/harness.ts';
import { execute } from '../support/lambda/machine.ts';
import { observed } from '../support/lambda/observed.ts';
import { runWorld } from '../support/runs.ts';

jest.setTimeout(120_000);

describeOnDynamo('the state machine over runs', () => {
  const world = dynamoWorld();
  const clock = testClock();
  let store: StorageBackend;
  let tenants = 0;
  let tenant = '';
  let executions = 0;

  beforeEach(() => {
    store = world.open(clock);
    tenant = `runs-${tenants++}`;
  });
  afterEach(() => store.close());

  /** One tick of the machine; answers what was started for the tenant. */
  const tick = async (ticket?: Ticket): Promise<readonly string[]> => {
    const started: string[] = [];
    const orchestrator = {
      start: (name: string, work: { readonly tenant: string }) => {
        if (work.tenant === tenant) started.push(name);
        return Promise.resolve();
      },
      describe: () => Promise.resolve('ended' as const),
    };
    const tickets = {
      name: 'builtin',
      idempotency: 'always',
      settlesInMs: 60_000,
      create: () => Promise.reject(new Error('a sweep writes no ticket')),
      find: () => Promise.resolve(ticket),
    } as const;
    const random = testRandom(`tick ${tenant} ${executions++}`);
    const parts = { store, clock, random };
    const silent = { name: 'log', deliver: () => Promise.resolve() };
    const dispatcher = createDispatcher({
      ...parts,
      sinks: [silent],
      starter: starter(store, orchestrator),
    });
    const { observers } = observed();
    const { handler } = createReconcileFunction(observers, () =>
      Promise.resolve({
        dueShards: () => dueShards(store, clock.now()),
        sweeper: createSweeper({
          ...parts,
          registry: testRegistry(),
          dispatcher,
          sinks: ['log'],
          runPorts: { orchestrator, tickets },
        }),
      }),
    );
    await execute(handler, {}, `execution-${executions}`);
    return started;
  };
  const typesSince = async ({ id, head_seq }: Run): Promise<readonly string[]> =>
    (await store.listEvents(tenant, id, { after: head_seq, limit: 100 })).map(
      (event) => eventBody(event).type,
    );

  test('R6 begins lost work again under the next attempt, once', async () => {
    const run = await runWorld(store, clock, tenant).gathering();
    const nameOf = (attempt: number) => executionName({ tenant, run: run.id, attempt });
    clock.advance(DELIVERY.fastPathMs);
    expect(await tick()).toEqual([nameOf(1)]);
    clock.advance(RUN.workMs);
    expect(await tick()).toEqual([]);
    expect(await typesSince(run)).toEqual(['work_restarted']);
    clock.advance(DELIVERY.fastPathMs);
    expect(await tick()).toEqual([nameOf(2)]);
    expect(await typesSince(run)).toEqual(['work_restarted']);
  });

  test('R7 cancels what nobody decided on, once', async () => {
    const run = await runWorld(store, clock, tenant).proposed();
    clock.advance(RUN.approveMs + 1);
    await tick();
    await tick();
    clock.advance(RUN.lastCheckMs);
    await tick();
    expect(await typesSince(run)).toEqual(['approval_expired']);
  });

  test('R7 completes a write that is found under its key, once', async () => {
    const { approved, read } = runWorld(store, clock, tenant);
    const run = await approved();
    clock.advance(DELIVERY.fastPathMs);
    await tick();
    clock.advance(RUN.approveMs + RUN.sendMs);
    const order = orderOf(run);
    const ticket = order && { ...order, reference: 'T-9' };
    await tick(ticket);
    await tick(ticket);
    expect(await typesSince(run)).toEqual(['write_made', 'run_completed']);
    expect((await read(run.id)).result).toMatchObject({ reference: 'T-9' });
  });

  test('R7 fails a write that was never made, to be resumed, once', async () => {
    const { ana, approved, read, ok } = runWorld(store, clock, tenant);
    const run = await approved();
    clock.advance(DELIVERY.fastPathMs);
    await tick();
    clock.advance(RUN.approveMs + RUN.sendMs + 60_001);
    await tick();
    await tick();
    expect(await typesSince(run)).toEqual(['run_failed']);
    expect((await read(run.id)).end?.code).toBe('NOT_DONE');
    const resumed = await ok(ana, { type: 'resume_run', run: run.id });
    expect(resumed.run).toMatchObject({ state: 'executing', attempt: 3 });
  });
});
