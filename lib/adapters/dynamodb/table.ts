// The table as plain data: names, keys, indexes, and the input that creates it. Imports nothing, so
// that whoever describes infrastructure loads no program. The content of keys is in `keys.ts`.

/** The attributes that identify an item. */
export const PARTITION_KEY = 'pk';
export const SORT_KEY = 'sk';

/** A sparse index that holds keys only: it finds candidates, which are read from the table. */
export interface TableIndex {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
}

/** Work that is due, by shard and time; and the assets of each tenant. */
export const DUE_INDEX = {
  name: 'gsi1',
  partitionKey: 'gsi1pk',
  sortKey: 'gsi1sk',
} as const satisfies TableIndex;

/** Lists of each tenant: workflows by state, held locks. */
export const LIST_INDEX = {
  name: 'gsi2',
  partitionKey: 'gsi2pk',
  sortKey: 'gsi2sk',
} as const satisfies TableIndex;

/** All indexes of the table. */
export const TABLE_INDEXES: readonly TableIndex[] = [DUE_INDEX, LIST_INDEX];

/** The attribute after which the table may delete an item: epoch seconds, on ledger rows and on the book of sweeps. */
export const TTL_ATTRIBUTE = 'expires_at';

/** What the table's stream carries: claiming a row gives its content, and no second copy is kept. */
export const STREAM_VIEW = 'KEYS_ONLY';

/** Why a text cannot be the name of a table, or undefined. Source: DynamoDB naming rules. */
export function tableNameFault(name: string): string | undefined {
  if (name.length < 3 || name.length > 255) return 'expected 3 to 255 characters';
  if (!/^[a-zA-Z0-9_.-]+$/u.test(name)) return 'expected letters, digits, "_", "-" and "." only';
  return undefined;
}

/**
 * The input of `CreateTable`, paid per request. The stream is off unless asked for; the time to live
 * is switched on by a call of its own, on {@link TTL_ATTRIBUTE}.
 */
export function createTableInput(
  tableName: string,
  { stream = false }: { readonly stream?: boolean } = {},
) {
  const keyed = [
    { partitionKey: PARTITION_KEY, sortKey: SORT_KEY },
    ...TABLE_INDEXES.map(({ partitionKey, sortKey }) => ({ partitionKey, sortKey })),
  ];
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: keyed.flatMap(({ partitionKey, sortKey }) =>
      [partitionKey, sortKey].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S' as const,
      })),
    ),
    KeySchema: keySchema(PARTITION_KEY, SORT_KEY),
    GlobalSecondaryIndexes: TABLE_INDEXES.map(({ name, partitionKey, sortKey }) => ({
      IndexName: name,
      KeySchema: keySchema(partitionKey, sortKey),
      Projection: { ProjectionType: 'KEYS_ONLY' as const },
    })),
    ...(stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: STREAM_VIEW } as const,
    }),
  };
}

function keySchema(partitionKey: string, sortKey: string) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    { AttributeName: sortKey, KeyType: 'RANGE' as const },
  ];
}
