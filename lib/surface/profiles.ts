// Remembers who has been here, so that work can be handed over to them.
// A failure never fails the request that caused it: the next request tries again.
import { LIMITS } from '../core/limits.ts';
import type { Principal } from '../core/model/principal.ts';
import type { StorageBackend } from '../core/ports/storage.ts';

/** Notes a person or an agent once per process, on the occasion of a request. Never rejects. */
export type NoteProfile = (principal: Principal, requestId: string) => Promise<void>;

/** Builds the note over a store. `failed` hears of a store that did not take one. */
export function createProfileNotes(
  store: Pick<StorageBackend, 'noteProfile'>,
  failed: (error: unknown, requestId: string) => void,
): NoteProfile {
  const noted = new Map<string, string>();
  return async ({ tenant, subject, name, kind }, requestId) => {
    if (kind === 'service') return;
    const key = JSON.stringify([tenant, subject]);
    if (noted.get(key) === name) return;
    if (noted.size >= LIMITS.namedProfiles.max) noted.clear();
    noted.set(key, name);
    try {
      await store.noteProfile({ tenant, subject, name });
    } catch (error) {
      noted.delete(key);
      failed(error, requestId);
    }
  };
}
