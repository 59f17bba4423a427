// Opens the DynamoDB backend in a writer's process.
import {
  createDynamoClient,
  type DynamoClientOptions,
} from '../../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';

/** Where the table is. */
export interface OpenStoreOptions {
  readonly tableName: string;
  readonly client: DynamoClientOptions;
}

/** Opens a store on a table, as the product does. */
export function openStore({ tableName, client }: OpenStoreOptions): Promise<StorageBackend> {
  const parts = { tableName, clock: systemClock, random: systemRandom };
  return Promise.resolve(createDynamoStore({ ...parts, client: createDynamoClient(client) }));
}
