// Walks of the table and its indexes, page by page as the service gives them.
import {
  BatchGetCommand,
  QueryCommand,
  ScanCommand,
  type QueryCommandInput,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { LIMITS } from '../../core/limits.ts';
import { unavailable } from './faults.ts';
import type { Attributes, PrimaryKey } from './keys.ts';
import type { Sender } from './send.ts';

/** Reads of several rows. */
export interface Walks {
  /** The rows of a query in their order; more pages are only asked for as rows are taken. */
  query(input: QueryCommandInput): AsyncGenerator<Attributes>;
  scan(input: ScanCommandInput): AsyncGenerator<Attributes>;
  /** The number of rows of a query, counted up to `most`. */
  count(input: QueryCommandInput, most: number): Promise<number>;
  /** Rows by their keys, consistently; in the order of the keys, missing ones as undefined. */
  rows(keys: readonly PrimaryKey[]): Promise<readonly (Attributes | undefined)[]>;
}

/** Builds the reads. */
export function createWalks(sender: Sender, tableName: string): Walks {
  const query: Walks['query'] = async function* (input) {
    let from: Attributes | undefined = input.ExclusiveStartKey;
    do {
      const page = { ...input, ExclusiveStartKey: from };
      const { Items = [], LastEvaluatedKey } = await sender.read((send) =>
        send(new QueryCommand(page)),
      );
      yield* Items;
      from = LastEvaluatedKey;
    } while (from !== undefined);
  };

  const scan: Walks['scan'] = async function* (input) {
    let from: Attributes | undefined = input.ExclusiveStartKey;
    do {
      const page = { ...input, ExclusiveStartKey: from };
      const { Items = [], LastEvaluatedKey } = await sender.read((send) =>
        send(new ScanCommand(page)),
      );
      yield* Items;
      from = LastEvaluatedKey;
    } while (from !== undefined);
  };

  const count: Walks['count'] = async (input, most) => {
    let counted = 0;
    let from: Attributes | undefined;
    do {
      const Limit = most - counted;
      const page = { ...input, Select: 'COUNT' as const, Limit, ExclusiveStartKey: from };
      const { Count = 0, LastEvaluatedKey } = await sender.read((send) =>
        send(new QueryCommand(page)),
      );
      counted += Count;
      from = LastEvaluatedKey;
    } while (from !== undefined && counted < most);
    return counted;
  };

  const rows: Walks['rows'] = async (keys) => {
    const found = new Map<string, Attributes>();
    let wanted: readonly Attributes[] = keys.map(({ pk, sk }) => ({ pk, sk }));
    for (let n = 1; wanted.length > 0; n++) {
      const Keys = wanted.slice(0, LIMITS.pageItems.max).map((key) => ({ ...key }));
      const input = { RequestItems: { [tableName]: { Keys, ConsistentRead: true } } };
      const { Responses = {}, UnprocessedKeys = {} } = await sender.read((send) =>
        send(new BatchGetCommand(input)),
      );
      for (const row of Responses[tableName] ?? []) found.set(textOf(row), row);
      const left = UnprocessedKeys[tableName]?.Keys ?? [];
      wanted = [...left, ...wanted.slice(LIMITS.pageItems.max)];
      if (left.length === 0) n = 0;
      else if (n >= LIMITS.conflictTries.max) throw unavailable('the table is throttled');
      else await sender.pause(n);
    }
    return keys.map((key) => found.get(textOf({ ...key })));
  };

  return { query, scan, count, rows };
}

const textOf = ({ pk, sk }: Attributes): string => `${String(pk)}\n${String(sk)}`;

/** At most so many rows of a walk, which can be continued. */
export async function taken(
  rows: AsyncGenerator<Attributes>,
  count: number,
): Promise<Attributes[]> {
  const found: Attributes[] = [];
  while (found.length < count) {
    const { done, value } = await rows.next();
    if (done === true) break;
    found.push(value);
  }
  return found;
}

/** In the order of UTF-8 bytes, which is that of the table. */
export function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
}
