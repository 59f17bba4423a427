/** Work on the shipped pump inspection, for tests of what is done to it from outside. */
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService } from '../../lib/core/service/service.ts';
import { principal } from './harness.ts';
import { shippedRegistry } from './surface-world.ts';

/** Commands of Ana and of her supervisor in a tenant. */
export function toolsFor(store: StorageBackend, tenant: string) {
  const service = createService({
    store,
    registry: shippedRegistry(),
    clock: systemClock,
    random: systemRandom,
    secrets: secretsOf('a deployment secret for tests only'),
    sinks: ['log'],
  });
  const run = async (who: ReturnType<typeof principal>, command: Command) => {
    const outcome = await service.execute(who, command, Date.now() + 9_000);
    if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
    return outcome.receipt;
  };
  const ana = principal({ tenant });
  const cara = principal({ tenant, subject: 'dev:cara', scopes: ['procedures:supervise'] });
  return {
    /** Starts an inspection; answers its id. */
    start: async (asset: string): Promise<string> =>
      (await run(ana, { type: 'start_workflow', procedure: 'pump-inspection', asset })).workflow,
    /** Lets blocked work go on. */
    resolve: async (workflow: string): Promise<void> => {
      const [seen] = await store.snapshot([{ kind: 'workflow', tenant, id: workflow }]);
      const block = seen?.block?.seq ?? 0;
      await run(cara, {
        type: 'resolve_block',
        workflow,
        block,
        decision: 'continue',
        reason: 'the fire is out',
      });
    },
  };
}
