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
  const changed: string[] = [];
  for (const { procedure, digest } of registry.all()) {
    const { id, version } = procedure;
    const registered = await store.registerProcedure(id, version, digest);
    if (registered !== digest) changed.push(`${id}@${version}`);
  }
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
