// Stores of a test, closed after it.
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { openSqliteStore } from '../../lib/adapters/sqlite/store.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { testClock, testRandom, type TestClock } from '../support/harness.ts';
import { tempFolder } from '../support/temp-folder.ts';

const opened: StorageBackend[] = [];

/** An empty store. */
export async function openStore(clock: TestClock = testClock()): Promise<StorageBackend> {
  const path = join(await tempFolder(), 'checkpoint.sqlite');
  const store = await openSqliteStore({ path, lockTimeoutMs: 1_000, clock, random: testRandom() });
  opened.push(store);
  return store;
}

/** Closes what a test opened. */
export function closeStoresAfterEach(): void {
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
}
