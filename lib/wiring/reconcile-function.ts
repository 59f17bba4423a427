// The reconciler of a deployment: what it tells of itself, its chain, and what sweeps behind it.
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { dueShards } from '../core/reconcile/due-shards.ts';
import { createSweeper } from '../core/reconcile/sweep.ts';
import { createObservers } from '../lambda/observers.ts';
import { createReconcileFunction, type ReconcileFunction } from '../lambda/reconcile-handler.ts';
import type { Environment } from '../settings.ts';
import { openDelivery } from './delivery.ts';
import { loadRegistry } from './registry.ts';

/** Builds the function and starts it; the settings are read by each start. */
export function reconcileFunction(environment: Environment): ReconcileFunction {
  const observers = createObservers();
  return createReconcileFunction(observers, async () => {
    const { settings, store, dispatcher, sinks } = await openDelivery(environment, observers);
    const registry = await loadRegistry(settings).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    const { onFinding } = observers;
    const runtime = { clock: systemClock, random: systemRandom };
    return {
      dueShards: () => dueShards(store, systemClock.now()),
      sweeper: createSweeper({ store, registry, dispatcher, sinks, onFinding, ...runtime }),
    };
  });
}
