// The package's entry to the DynamoDB store: its client, and the table that it needs, as plain data.
export { createDynamoClient, type DynamoClientOptions } from '../adapters/dynamodb/client.ts';
export { createDynamoStore, type DynamoStoreOptions } from '../adapters/dynamodb/store.ts';
export { createTableInput, tableNameFault, TTL_ATTRIBUTE } from '../adapters/dynamodb/table.ts';
