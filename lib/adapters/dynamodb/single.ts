// Rows that are read and written one by one.
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { LIMITS } from '../../core/limits.ts';
import { nameOf } from './faults.ts';
import type { Attributes, PrimaryKey } from './keys.ts';
import { PARTITION_KEY, SORT_KEY } from './table.ts';

/** The condition of a single write did not hold; `item` is the row that was in the way. */
export function conditionFailed(error: unknown): { readonly item: Attributes } | undefined {
  if (nameOf(error) !== 'ConditionalCheckFailedException') return undefined;
  const { Item } = error as { readonly Item?: Parameters<typeof unmarshall>[0] };
  return { item: Item === undefined ? {} : unmarshall(Item) };
}

/** The primary key of a row. */
export const primaryKey = (row: Attributes): PrimaryKey => ({
  pk: String(row[PARTITION_KEY]),
  sk: String(row[SORT_KEY]),
});

/** Whether a row can be under a key at all. */
export function fits({ pk, sk }: PrimaryKey): boolean {
  if (!pk.isWellFormed() || !sk.isWellFormed()) return false;
  const partition = Buffer.byteLength(pk, 'utf8');
  return (
    partition <= LIMITS.partitionKeyBytes.max &&
    Buffer.byteLength(sk, 'utf8') <= LIMITS.sortKeyBytes.max
  );
}
