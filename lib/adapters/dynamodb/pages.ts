// Pages of an index: where one ends and the next begins.
import { foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type { Attributes } from './keys.ts';
import { fits, primaryKey } from './single.ts';
import type { TableIndex } from './table.ts';

/** The cursor behind a row of an index; `list` names the list with all its parameters. */
export function cursorAfter(list: readonly string[], index: TableIndex, row: Attributes): string {
  const { pk, sk } = primaryKey(row);
  return writeCursor(list, [String(row[index.sortKey]), `${pk}\n${sk}`]);
}

/** Where a walk of one partition of an index goes on. Throws `InputError` for a foreign cursor. */
export function startAfter(
  list: readonly string[],
  { partitionKey, sortKey }: TableIndex,
  partition: string,
  cursor: string | undefined,
): { readonly ExclusiveStartKey?: Record<string, string> } {
  if (cursor === undefined) return {};
  const [sort, primary] = readCursor(list, cursor);
  const [pk = '', sk = '', ...more] = primary.split('\n');
  const whole = sort !== '' && pk !== '' && sk !== '' && more.length === 0;
  if (!whole || !fits({ pk, sk }) || !fits({ pk: partition, sk: sort })) throw foreignCursor();
  return { ExclusiveStartKey: { pk, sk, [partitionKey]: partition, [sortKey]: sort } };
}
