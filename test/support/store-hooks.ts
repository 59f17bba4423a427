/** Stores that are in the way: they let something happen between two steps, count, or lose answers. */
import { Fault } from '../../lib/core/fault.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';

/** A store that does something once, after its user has decided and before the commit is sent. */
export function beforeFirstCommit(
  store: StorageBackend,
  meanwhile: () => Promise<unknown>,
): StorageBackend {
  let first = true;
  return {
    ...store,
    commit: async (transaction, deadlineMs) => {
      if (first) {
        first = false;
        await meanwhile();
      }
      return store.commit(transaction, deadlineMs);
    },
  };
}

/** A store whose first commit happens, and whose answer to it is lost. */
export function losingFirstAnswer(store: StorageBackend): StorageBackend {
  let first = true;
  return {
    ...store,
    commit: async (transaction, deadlineMs) => {
      const result = await store.commit(transaction, deadlineMs);
      if (!first) return result;
      first = false;
      throw new Fault('unknown', 'BACKEND_UNAVAILABLE', 'the answer was lost');
    },
  };
}

/** A store that notes the name of every call it gets. */
export function noting(store: StorageBackend): {
  readonly store: StorageBackend;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const noted = new Proxy(store, {
    get: (target, name: keyof StorageBackend) => {
      calls.push(name);
      return target[name];
    },
  });
  return { store: noted, calls };
}
