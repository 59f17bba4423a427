// A store each of whose calls goes through one function.
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';

/** Goes around a call; it is sent by `send`, and may be sent later or not at all. */
export type Around = (name: keyof StorageBackend, send: () => Promise<unknown>) => Promise<unknown>;

/** The same store with every call going through `around`. */
export function storeAround(store: StorageBackend, around: Around): StorageBackend {
  const calls = Object.entries(store).map(([name, call]) => [
    name,
    (...args: unknown[]) =>
      around(name as keyof StorageBackend, () =>
        (call as (...all: unknown[]) => Promise<unknown>)(...args),
      ),
  ]);
  return Object.fromEntries(calls) as StorageBackend;
}
