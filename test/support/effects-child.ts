// A process that works and delivers at once: started by the test that kills it again and again.
// Each asset is inspected in three readings that notify somebody; rows leave by webhook to `url`.
import { startDeliveryLoop } from '../../lib/adapters/runtime/delivery-loop.ts';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { webhookSink } from '../../lib/adapters/sinks/webhook.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { wakingStore } from '../../lib/core/dispatch/waking.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService } from '../../lib/core/service/service.ts';
import { principal } from './harness.ts';
import { EFFECTS_SECRET, effectsPolicy, STEPS, type EffectsTask } from './effects.ts';

const task = JSON.parse(process.argv[2] ?? '') as EffectsTask;
const { openStore } = (await import(task.opener.module)) as {
  readonly openStore: (options: unknown) => Promise<StorageBackend>;
};
const clock = { ...systemClock, now: () => systemClock.now() + task.aheadMs };
const opened = await openStore(task.opener.options);
const built = buildRegistry([effectsPolicy]);
if (!built.ok) throw new Error(JSON.stringify(built.faults));
const target = { name: 'target', url: task.url, secrets: [EFFECTS_SECRET], clock };
const dispatcher = createDispatcher({
  store: opened,
  sinks: [webhookSink(target)],
  clock,
  random: systemRandom,
});
const loop = startDeliveryLoop({
  dispatcher,
  shards: () => opened.shards(),
  clock,
  everyMs: 100,
  onError: (error) => process.stderr.write(`${String(error)}\n`),
});
const store = wakingStore(opened, (lanes) => {
  loop.wake(lanes);
});
const service = createService({
  store,
  registry: built.registry,
  clock,
  random: systemRandom,
  secrets: secretsOf('a secret of at least thirty-two characters'),
  sinks: ['target'],
});

const inspect = async (asset: string): Promise<void> => {
  const who = principal({ tenant: task.tenant, subject: `dev:${asset}`, name: asset });
  const run = async (command: Parameters<typeof service.execute>[1]): Promise<string> => {
    for (;;) {
      const outcome = await service.execute(who, command, clock.now() + 10_000);
      if (outcome.code === 'OK') return outcome.receipt.workflow;
      if (outcome.code !== 'BACKEND_UNAVAILABLE') throw new Error(JSON.stringify(outcome));
    }
  };
  const key = (what: string) => `${asset} ${what}`;
  const workflow = await run({
    type: 'start_workflow',
    procedure: effectsPolicy.procedures[0]?.id ?? '',
    asset,
    key: key('start'),
  });
  for (const step of STEPS) {
    const input = { kind: 'reading', value: 11, unit: 'bar' } as const;
    await run({ type: 'record_step', workflow, step, input, key: key(step) });
  }
  await run({ type: 'complete_workflow', workflow, key: key('end') });
};

const queue = task.assets.values();
const worker = async (): Promise<void> => {
  for (const asset of queue) {
    await inspect(asset);
    process.stdout.write(`${asset}\n`);
  }
};
await Promise.all(Array.from({ length: 4 }, worker));
process.stdout.write('worked\n');
// The loop goes on until the test has seen everything leave.
await new Promise(() => setInterval(() => undefined, 1_000));
