import { isFault } from './fault.ts';
import { LIMITS } from './limits.ts';
import type { Procedure } from './model/procedure.ts';
import { nearAssets } from './near-assets.ts';
import type { StorageBackend } from './ports/storage.ts';

/**
 * Assets of the tenant that may be meant by a name that was refused, for procedures that could be
 * done on them. A refusal stands without them: where the list cannot be read there are none.
 */
export async function suggestAssets(
  store: Pick<StorageBackend, 'listAssets'>,
  tenant: string,
  heard: string,
  procedures: readonly Procedure[],
): Promise<{ readonly suggestions?: readonly string[] }> {
  let known: readonly string[];
  try {
    known = await store.listAssets(tenant, LIMITS.listedAssets.max);
  } catch (error) {
    if (!isFault(error)) throw error;
    return {};
  }
  const shapes = procedures.map(({ asset }) => asset);
  const suggestions = nearAssets(heard, known, shapes);
  return suggestions.length === 0 ? {} : { suggestions };
}
