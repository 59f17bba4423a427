// A process that sweeps once and is killed in the middle: rows leave by webhook to `url`.
import { systemRandom } from '../../lib/adapters/runtime/system.ts';
import { webhookSink } from '../../lib/adapters/sinks/webhook.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { EFFECTS_SECRET } from './effects.ts';
import { testRegistry } from './harness.ts';
import type { SweepTask } from './killed-sweep.ts';

const task = JSON.parse(process.argv[2] ?? '') as SweepTask;
const { openStore } = (await import(task.opener.module)) as {
  readonly openStore: (options: unknown) => Promise<StorageBackend>;
};
const store = await openStore(task.opener.options);
const clock = {
  now: () => Date.now() + task.aheadMs,
  sleep: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
};
const target = { name: 'target', url: task.url, secrets: [EFFECTS_SECRET], clock };
const random = systemRandom;
const dispatcher = createDispatcher({ store, sinks: [webhookSink(target)], clock, random });
const parts = { store, dispatcher, clock, random, registry: testRegistry(), sinks: ['target'] };
const sweeper = createSweeper(parts);
for (let shard = 0; shard < (await store.shards()); shard++) {
  await sweeper.sweep(shard, { goOn: () => true });
}
await store.close();
