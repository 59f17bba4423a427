// The package's entry to the embedded store, with the clock and the randomness it is opened with.
export { systemClock, systemRandom } from '../adapters/runtime/system.ts';
export { openSqliteStore, type SqliteStoreOptions } from '../adapters/sqlite/store.ts';
