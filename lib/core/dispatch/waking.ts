// A store that tells which lanes a commit has written to, so that their rows leave at once.
import type { StorageBackend } from '../ports/storage.ts';
import type { Lane } from './row.ts';

/** The same store; `wake` hears of the lanes of every commit that took effect. */
export function wakingStore(
  store: StorageBackend,
  wake: (lanes: readonly Lane[]) => void,
): StorageBackend {
  return {
    ...store,
    commit: async (transaction, deadlineMs) => {
      const result = await store.commit(transaction, deadlineMs);
      if (!result.ok) return result;
      const lanes = transaction.writes.flatMap(({ op, key }) =>
        op === 'create' && key.kind === 'outbox' ? [key] : [],
      );
      if (lanes.length > 0) wake(lanes);
      return result;
    },
  };
}
