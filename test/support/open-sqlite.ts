// Opens the SQLite backend in a writer's process.
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { openSqliteStore } from '../../lib/adapters/sqlite/store.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';

/** Opens the file at `path` with a patient lock timeout. */
export function openStore({ path }: { readonly path: string }): Promise<StorageBackend> {
  return openSqliteStore({
    path,
    lockTimeoutMs: 15_000,
    clock: systemClock,
    random: systemRandom,
  });
}
