/** One table on one engine for a test file, with the stores that are opened on it. */
import { afterAll, beforeAll } from '@jest/globals';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoClient } from '../../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { testClock, testRandom, type TestClock } from '../harness.ts';
import type { StoreOpener } from '../writers.ts';
import type { OpenStoreOptions } from './open-store.ts';
import { startEngine, type Engine } from './engine.ts';
import { createTestTable, type TestTable } from './table.ts';

/** Opens stores on the table of the file. */
export interface DynamoWorld {
  readonly tableName: string;
  /** A client of the engine; a store that is given it destroys it. */
  client(): DynamoDBDocumentClient;
  open(clock?: TestClock, client?: DynamoDBDocumentClient): StorageBackend;
  /** How a process of its own opens the same table. */
  readonly opener: StoreOpener & { readonly options: OpenStoreOptions };
}

let opened = 0;

/** Declares the engine and the table for the cases around it. */
export function dynamoWorld(): DynamoWorld {
  let engine: Engine | undefined;
  let table: TestTable | undefined;
  beforeAll(async () => {
    engine = await startEngine();
    table = await createTestTable(engine.client);
  }, 90_000);
  afterAll(async () => {
    await table?.delete();
    await engine?.stop();
  });
  const ready = (): { engine: Engine; table: TestTable } => {
    if (engine === undefined || table === undefined) throw new Error('the engine is not started');
    return { engine, table };
  };
  const client = () => createDynamoClient(ready().engine.client);
  return {
    get tableName() {
      return ready().table.tableName;
    },
    client,
    open: (clock = testClock(), own = client()) => {
      const { tableName } = ready().table;
      // The token of a transaction must not come again in another test.
      const random = testRandom(`${tableName} ${opened++}`);
      return createDynamoStore({ client: own, tableName, clock, random });
    },
    get opener() {
      const { tableName } = ready().table;
      const options = { tableName, client: ready().engine.client };
      return { module: './dynamodb/open-store.ts', options };
    },
  };
}
