import { everyItem } from './pages.ts';
import type { StorageBackend } from './ports/storage.ts';

/** Every tenant that has a workflow; where one is named, that one, whatever it has. */
export async function* tenantsOf(
  store: Pick<StorageBackend, 'listTenants'>,
  only?: string,
): AsyncGenerator<string> {
  if (only === undefined) yield* everyItem((page) => store.listTenants(page));
  else yield only;
}
