/** The surface over the domain of the tests, whose guarded procedure proposes to go on. */
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { Proposal } from '../../lib/core/model/run.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService } from '../../lib/core/service/service.ts';
import { guardedWork } from './guarded-work.ts';
import { principal, testRegistry } from './harness.ts';
import { ACCOUNTS, openWorld, restOn } from './surface-world.ts';

/** Work that proposes something. */
export interface Proposing {
  readonly id: string;
  readonly hash: string;
  readonly proposal: Proposal;
}

/** Opens an app; `mcpApprovals` says that assistants may decide. */
export async function openGuarded(mcpApprovals = false) {
  const registry = testRegistry();
  const service = (store: StorageBackend) =>
    createService({
      store,
      registry,
      clock: systemClock,
      random: systemRandom,
      secrets: secretsOf('a deployment secret for tests only'),
      sinks: ['log'],
      ...(mcpApprovals && { channels: new Set(['mcp', 'rest'] as const) }),
    });
  const world = await openWorld((store) => {
    const rest = restOn(store, systemClock, mcpApprovals);
    return { ...rest, registry, queries: createQueries(store, registry), service: service(store) };
  });
  return {
    ...world,
    execute: (who: Principal, command: Command) =>
      service(world.store).execute(who, command, Date.now() + 9_000),
    /** Work of Ana in a tenant that a pressure of 42 bar blocks. */
    blocked: async (asset = 'VESSEL-1', tenant = 'plant'): Promise<Proposing> => {
      const run = service(world.store);
      const ana = principal({ ...ACCOUNTS['ana'], tenant, via: 'mcp' });
      const work = guardedWork(
        (who, command) => run.execute(who, command, Date.now() + 9_000),
        ana,
        asset,
      );
      const id = await work.blocked();
      const [workflow] = await world.store.snapshot([{ kind: 'workflow', tenant, id }]);
      const { proposal } = workflow?.block ?? {};
      if (proposal === undefined) throw new Error('nothing is proposed');
      return { id, hash: proposal.action_hash, proposal };
    },
  };
}
