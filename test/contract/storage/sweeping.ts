/** What cases of the reconciler work with: sweeps on a real store, and the people whose work it looks at. */
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type { Outcome } from '../../../lib/core/outcome.ts';
import type { NotificationSink } from '../../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { createSweeper, type SweepOptions } from '../../../lib/core/reconcile/sweep.ts';
import { makeService, principal, testRandom, testRegistry } from '../../support/harness.ts';
import { workflowKey, type Bench } from './bench.ts';

/** Builds the kit of one group of cases. */
export function sweeping() {
  let seed = 0;
  const silent: NotificationSink = { name: 'log', deliver: () => Promise.resolve() };
  const sweeperOn = ({ clock }: Bench, store: StorageBackend) => {
    const random = testRandom(`sweeper ${seed++}`);
    const dispatcher = createDispatcher({ store, clock, sinks: [silent], random });
    const registry = testRegistry();
    const sinks = ['log'];
    return createSweeper({ store, registry, dispatcher, clock, random, sinks });
  };
  /** Sweeps every shard and answers what was found in the tenant of the test. */
  const sweep = async (
    bench: Bench,
    options: Partial<SweepOptions> = {},
    by = sweeperOn(bench, bench.store),
  ) => {
    const found: string[] = [];
    for (let shard = 0; shard < (await bench.store.shards()); shard++) {
      const report = await by.sweep(shard, { goOn: () => true, ...options });
      for (const { tenant, rule, repaired, workflow } of report.findings) {
        if (tenant === bench.tenant)
          found.push(`${rule} ${repaired ? 'repaired' : 'found'} ${workflow}`);
      }
    }
    return found;
  };
  const ana = ({ tenant }: Bench) => principal({ tenant });
  const cara = ({ tenant }: Bench) =>
    principal({ tenant, subject: 'dev:cara', name: 'Cara', scopes: ['procedures:supervise'] });
  const workOn = (bench: Bench) => {
    const { service } = makeService(bench.store, { clock: bench.clock, seed: `work ${seed++}` });
    return (who: ReturnType<typeof ana>, command: Parameters<typeof service.execute>[1]) =>
      service.execute(who, command, bench.clock.now() + 10_000);
  };
  const read = async ({ store, tenant }: Bench, id: string): Promise<Workflow> => {
    const [workflow] = await store.snapshot([workflowKey(tenant, id)]);
    if (workflow === undefined) throw new Error(`there is no workflow ${id}`);
    return workflow;
  };
  const eventsOf = async ({ store, tenant }: Bench, id: string) =>
    (await store.listEvents(tenant, id, { after: 0, limit: 100 })).map(eventBody);
  return { sweeperOn, sweep, ana, cara, workOn, read, eventsOf };
}

/** The workflow of a command that took effect. */
export function idIn(outcome: Outcome): string {
  if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
  return outcome.receipt.workflow;
}
