/** Outbox rows that wait for a person. */
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { DeliveryError } from '../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';

/** Has every waiting row refused for good. */
export async function parkAll(store: StorageBackend): Promise<void> {
  const sink = {
    name: 'log',
    deliver: () => Promise.reject(new DeliveryError('terminal', 'HTTP 422')),
  };
  const clock = { ...systemClock, now: () => Date.now() + 60_000 };
  const dispatcher = createDispatcher({ store, clock, random: systemRandom, sinks: [sink] });
  for (let shard = 0; shard < (await store.shards()); shard++) {
    await dispatcher.drainDue(shard, () => true, 1);
  }
}
