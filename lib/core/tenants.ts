import { LIMITS } from './limits.ts';
import type { StorageBackend } from './ports/storage.ts';

/** Every tenant that has a workflow, in pages. */
export async function* tenantsOf(
  store: Pick<StorageBackend, 'listTenants'>,
): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const at = { limit: LIMITS.pageItems.max, ...(after !== undefined && { after }) };
    const page = await store.listTenants(at);
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
