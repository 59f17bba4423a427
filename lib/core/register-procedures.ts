// Start-up check: one `id@version` means one content for the whole life of a store.
// Writes nothing but the registration of a version that the store does not know yet.
import { Fault } from './fault.ts';
import type { StorageBackend } from './ports/storage.ts';
import type { ProcedureRegistry } from './procedures.ts';

/**
 * Registers every procedure version of this process. Throws a terminal fault `START_REFUSED` that
 * names each version whose content differs from what the store registered before.
 */
export async function registerProcedures(
  store: Pick<StorageBackend, 'registerProcedure'>,
  registry: Pick<ProcedureRegistry, 'all'>,
): Promise<void> {
  // At once, because a process that starts for a caller has no time for one round trip each.
  const checks = registry.all().map(async ({ procedure: { id, version }, digest }) => {
    const registered = await store.registerProcedure(id, version, digest);
    return registered === digest ? [] : [`${id}@${version}`];
  });
  const changed = (await Promise.all(checks)).flat();
  if (changed.length === 0) return;
  const lines = changed
    .toSorted()
    .map((name) => `  ${name}: its content changed; give it a new version number`);
  throw new Fault(
    'terminal',
    'START_REFUSED',
    ['These procedures differ from what is on record:', ...lines].join('\n'),
  );
}
