// The reconciler of a deployment: what it tells of itself, its chain, and what sweeps behind it.
import { headsBucket } from '../adapters/deployment/heads-bucket.ts';
import { openDeploymentValues } from '../adapters/deployment/read-values.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { dueShards } from '../core/reconcile/due-shards.ts';
import { createSweeper } from '../core/reconcile/sweep.ts';
import { createDailyHeads, type DailyHeads } from '../core/trail/daily-heads.ts';
import { headsFingerprint, headsSigner } from '../core/trail/heads-key.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import { createObservers, type Observers } from '../lambda/observers.ts';
import { createReconcileFunction, type ReconcileFunction } from '../lambda/reconcile-handler.ts';
import type { Environment, Settings } from '../settings.ts';
import { openDelivery } from './delivery.ts';
import { loadRegistry } from './registry.ts';
import { deployedTickets } from './deployed-tickets.ts';

/** Builds the function and starts it; the settings are read by each start. */
export function reconcileFunction(environment: Environment): ReconcileFunction {
  const observers = createObservers();
  return createReconcileFunction(observers, async () => {
    const opened = await openDelivery(environment, observers);
    const { settings, store, dispatcher, sinks, orchestrator } = opened;
    const opening = Promise.all([
      loadRegistry(settings),
      openHeads(settings, store, observers),
      deployedTickets(settings, store),
    ]);
    const [registry, heads, tickets] = await opening.catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    const { onFinding } = observers;
    const runtime = { clock: systemClock, random: systemRandom };
    return {
      dueShards: () => dueShards(store, systemClock.now()),
      sweeper: createSweeper({
        store,
        registry,
        dispatcher,
        sinks,
        onFinding,
        ...runtime,
        ...(orchestrator !== undefined && { runPorts: { orchestrator, tickets } }),
      }),
      ...(heads !== undefined && { heads }),
    };
  });
}

/** What signs the heads of each day; undefined where the deployment has no bucket for them. */
async function openHeads(
  { headsBucket: bucket, headsSecretId }: Settings,
  store: StorageBackend,
  { log }: Pick<Observers, 'log'>,
): Promise<DailyHeads | undefined> {
  if (bucket === undefined || headsSecretId === undefined) return undefined;
  const values = openDeploymentValues();
  try {
    const signer = headsSigner(await values.secret(headsSecretId));
    log({
      level: 'info',
      msg: 'lists of heads are signed',
      key: headsFingerprint(signer.publicKey),
    });
    return createDailyHeads({
      store,
      signer,
      clock: systemClock,
      archive: headsBucket({ bucket }),
    });
  } finally {
    values.close();
  }
}
