// A process in which one run is approved and done, with the pool, the loop and the worker of a local
// server. It ends itself by SIGKILL right before or right after one named call, or it works to the end.
import { createEvidenceSource } from '../../lib/adapters/evidence/source.ts';
import { startDeliveryLoop, type DeliveryLoop } from '../../lib/adapters/runtime/delivery-loop.ts';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { wakingStore } from '../../lib/core/dispatch/waking.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { Run } from '../../lib/core/model/run.ts';
import type { StoredEvent } from '../../lib/core/model/workflow.ts';
import type { StorageBackend, Write } from '../../lib/core/ports/storage.ts';
import type { TicketProvider } from '../../lib/core/ports/tickets.ts';
import { createRunService } from '../../lib/core/runs/service.ts';
import { ticketTable } from '../../lib/core/runs/ticket-table.ts';
import type { WorkStep } from '../../lib/core/runs/work.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { startLocalRuns } from '../../lib/wiring/local-runs.ts';
import type { RunTask } from './killed-runs.ts';
import { ACTION, observed, people } from './runs.ts';

const { opener, tenant, run: known, point } = JSON.parse(process.argv[2] ?? '') as RunTask;
const { openStore } = (await import(opener.module)) as {
  readonly openStore: (options: unknown) => Promise<StorageBackend>;
};
const opened = await openStore(opener.options);

/** Makes a call, and ends the process where this is the point. */
async function at<T>(name: string | undefined, call: () => Promise<T>): Promise<T> {
  if (point === `before ${name}`) process.kill(process.pid, 'SIGKILL');
  const result = await call();
  if (point === `after ${name}`) process.kill(process.pid, 'SIGKILL');
  return result;
}

/** What a transaction is called: by its event, or by the ticket that it writes. */
function nameOf(writes: readonly Write[]): string | undefined {
  for (const write of writes) {
    if (write.key.kind === 'ticket') return 'ticket';
    if (write.key.kind === 'event' && write.op === 'create') {
      return eventBody(write.item as StoredEvent).type;
    }
  }
  return undefined;
}

const pausing: StorageBackend = {
  ...opened,
  commit: (transaction, deadlineMs) =>
    at(nameOf(transaction.writes), () => opened.commit(transaction, deadlineMs)),
  keep: (write, deadlineMs) =>
    at(write.op === 'delete' ? 'row deleted' : 'row claimed', () => opened.keep(write, deadlineMs)),
};
const running: { loop?: DeliveryLoop } = {};
const store = wakingStore(pausing, (lanes) => running.loop?.wake(lanes));
const parts = { clock: systemClock, random: systemRandom, sinks: [] };
const secrets = secretsOf('a secret of at least thirty-two characters');
const service = createRunService({ ...parts, store, secrets });
const table = ticketTable(store, systemClock);
let reads = 0;
const tickets: TicketProvider = {
  ...table,
  find: (...args) => {
    reads += 1;
    return at(reads === 1 ? 'first read' : 'read-back', () => table.find(...args));
  },
};
const onError = (error: unknown): void => {
  process.stderr.write(`${String(error)}\n`);
};
const environment = {};
const source = createEvidenceSource([], {
  clock: systemClock,
  version: '0.0.0',
  environment,
  onWarning: () => undefined,
});
const bounds = { steps: 1, callTimeoutMs: 1_000, outputBytes: 1_000 };
const evidence = () => Promise.resolve({ source, allowlist: [], bounds });
const { ana, cara } = people(tenant);
const deadline = (): number => systemClock.now() + 10_000;

const proposed = async (): Promise<string> => {
  const create = { type: 'create_run', service: 'checkout', symptom: String(point) } as const;
  const created = await service.execute(ana, create, deadline());
  if (created.code !== 'OK') throw new Error(JSON.stringify(created));
  const { id: run, attempt } = created.run;
  const observation = observed('service_status', 'checkout: degraded');
  const steps: readonly WorkStep[] = [
    { do: 'begin' },
    { do: 'observe', observation },
    { do: 'propose', action: ACTION },
  ];
  for (const step of steps) await service.advance({ tenant, run, attempt }, step, deadline());
  return run;
};

const read = async (id: string): Promise<Run> => {
  const [run] = await opened.snapshot([{ kind: 'run', tenant, id }]);
  if (run === undefined) throw new Error('there is no such run');
  return run;
};

const run = known ?? (await proposed());
process.stdout.write(`${run}\n`);
const work = startLocalRuns({ store, runs: service, tickets, evidence, onError });
const dispatcher = createDispatcher({ ...parts, store: pausing, sinks: [], starter: work.starter });
const loop = startDeliveryLoop({
  dispatcher,
  shards: () => opened.shards(),
  clock: systemClock,
  onError,
});
running.loop = loop;
const action_hash = (await read(run)).proposal?.action_hash ?? '';
const decide = { type: 'decide_approval', run, approved: true, action_hash } as const;
const decided = await service.execute(cara, decide, deadline());
if (decided.code !== 'OK') throw new Error(JSON.stringify(decided));
if (known !== undefined) await work.takeUp();
while ((await read(run)).state !== 'completed') await systemClock.sleep(20);
await loop.stop();
await work.stop();
await opened.close();
