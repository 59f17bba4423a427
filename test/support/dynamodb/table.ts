/** Tables of the tests: each has a name that was never used, and is deleted at the end. */
import { randomBytes } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { DynamoClientOptions } from '../../../lib/adapters/dynamodb/client.ts';
import { createTableInput, TTL_ATTRIBUTE } from '../../../lib/adapters/dynamodb/table.ts';

/** A table that exists. */
export interface TestTable {
  readonly tableName: string;
  delete(): Promise<void>;
}

/** Creates a table as the product describes it, and waits for it. */
export async function createTestTable(options: DynamoClientOptions): Promise<TestTable> {
  const client = new DynamoDBClient(options);
  const tableName = `checkpoint-test-${Date.now()}-${randomBytes(4).toString('hex')}`;
  await client.send(new CreateTableCommand(createTableInput(tableName)));
  const waiting = { client, minDelay: 1, maxWaitTime: 60 };
  await waitUntilTableExists(waiting, { TableName: tableName });
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }));
  return {
    tableName,
    delete: async () => {
      await client.send(new DeleteTableCommand({ TableName: tableName }));
      client.destroy();
    },
  };
}
