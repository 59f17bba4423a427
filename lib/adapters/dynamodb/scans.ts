// Walks of the whole table, for commands that a person runs by hand. Nothing else scans.
import { LIMITS } from '../../core/limits.ts';
import { isRunId } from '../../core/model/aggregate.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type { Page, StorageBackend } from '../../core/ports/storage.ts';
import { parseItem } from './items.ts';
import { aggregateOf, SORT_PREFIX, type Attributes } from './keys.ts';
import { fits } from './single.ts';
import type { Walks } from './query.ts';
import { PARTITION_KEY, SORT_KEY } from './table.ts';
import { placeholders } from './write-item.ts';

type Scans = Pick<StorageBackend, 'scanTrails' | 'scanWorkflows'>;

/** The sort key of a record: after all events of its trail, so that going on from it skips them. */
const RECORD = 'STATE';

/** Rows looked at in one call for each aggregate that is wanted: about what one has. */
const ROWS_EACH = 16;

/** The scans of the port. */
export function createScans(walks: Walks, tableName: string): Scans {
  /** A page of the aggregates that have one of the rows; the rows of one come one after the other. */
  const page = async <T>(
    name: string,
    { after, limit }: { readonly after?: string; readonly limit: number },
    of: 'records' | 'trails',
    itemOf: (row: Attributes) => T | undefined,
  ): Promise<Page<T>> => {
    checkLimit(limit, LIMITS.pageItems.max);
    const [from] = after === undefined ? [undefined] : readCursor([name], after);
    if (from !== undefined && (from === '' || !fits({ pk: from, sk: RECORD }))) {
      throw foreignCursor();
    }
    const use = placeholders();
    const sk = use.name(SORT_KEY);
    const record = `${sk} = ${use.value(RECORD)}`;
    const event = (): string => `begins_with(${sk}, ${use.value(SORT_PREFIX.event)})`;
    const rows = walks.scan({
      TableName: tableName,
      ConsistentRead: true,
      Limit: limit * ROWS_EACH,
      FilterExpression: of === 'records' ? record : `${record} OR ${event()}`,
      ...(of === 'trails' && { ProjectionExpression: `${use.name(PARTITION_KEY)}, ${sk}` }),
      ...(from !== undefined && { ExclusiveStartKey: { pk: from, sk: RECORD } }),
      ...use.tables(),
    });
    const items: T[] = [];
    let last = '';
    for await (const row of rows) {
      const pk = String(row[PARTITION_KEY]);
      if (pk === last) continue;
      if (items.length === limit) return { items, next: writeCursor([name], [last, '']) };
      last = pk;
      const item = itemOf(row);
      if (item !== undefined) items.push(item);
    }
    return { items };
  };

  return {
    scanTrails: (at) =>
      page('trails', at, 'trails', (row) => aggregateOf(String(row[PARTITION_KEY]))),
    scanWorkflows: (at) =>
      page('all', at, 'records', (row) => {
        const aggregate = aggregateOf(String(row[PARTITION_KEY]));
        const isRun = aggregate !== undefined && isRunId(aggregate.workflow);
        return isRun ? undefined : parseItem('workflow', row);
      }),
  };
}
