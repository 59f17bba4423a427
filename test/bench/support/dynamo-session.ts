// The metered session of the tests, on an engine of its own.
import { createDynamoClient } from '../../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import { startEngine } from '../../support/dynamodb/engine.ts';
import { meteredSession, type Cost } from '../../support/dynamodb/session.ts';
import { createTestTable } from '../../support/dynamodb/table.ts';
import { testClock, testRandom } from '../../support/harness.ts';
import type { DynamoClientOptions } from '../../../lib/adapters/dynamodb/client.ts';

/** Runs `work` with a new table, which is gone afterwards. */
export async function withTable<T>(
  work: (tableName: string, client: DynamoClientOptions, engine: string) => Promise<T>,
): Promise<T> {
  const engine = await startEngine();
  try {
    const table = await createTestTable(engine.client);
    try {
      return await work(table.tableName, engine.client, engine.name);
    } finally {
      await table.delete();
    }
  } finally {
    await engine.stop();
  }
}

/** What each command of the session costs. */
export const measuredCosts = (): Promise<readonly Cost[]> =>
  withTable(async (tableName, options) => {
    const client = createDynamoClient(options);
    const clock = testClock();
    const store = createDynamoStore({ client, tableName, clock, random: testRandom(tableName) });
    const costs = await meteredSession({ client, store, clock });
    await store.close();
    return costs;
  });
