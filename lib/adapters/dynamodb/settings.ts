// What is fixed for the life of a table, in one item: the number of shards of due work. It is read once
// by each process, with the first call that needs it or with `check`.
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { Fault } from '../../core/fault.ts';
import { FORMAT } from '../../core/model/workflow.ts';
import { unavailable } from './faults.ts';
import { SETTINGS_KEY, type Attributes } from './keys.ts';
import { conditionFailed } from './single.ts';
import type { Sender } from './send.ts';
import { placeholders } from './write-item.ts';
import { PARTITION_KEY } from './table.ts';

/** Shards of due work in a new table. */
const SHARDS = 16;

/** The settings of a table. */
export interface TableSettings {
  /** The number of shards, read at most once. */
  readonly shards: () => Promise<number>;
  /** Reads the settings again; fails where the table cannot be used. */
  readonly load: () => Promise<number>;
}

/** The settings of one table. A new table gets its item from whoever looks first. */
export function createTableSettings(sender: Sender, tableName: string): TableSettings {
  let known: Promise<number> | undefined;

  const read = async (): Promise<number | undefined> => {
    const { Item } = await sender.read((send) =>
      send(new GetCommand({ TableName: tableName, Key: SETTINGS_KEY, ConsistentRead: true })),
    );
    return Item === undefined ? undefined : shardsOf(Item);
  };

  const first = async (): Promise<number> => {
    const found = await read();
    if (found !== undefined) return found;
    const use = placeholders();
    const Item = { ...SETTINGS_KEY, format: FORMAT, shards: SHARDS };
    const ConditionExpression = `attribute_not_exists(${use.name(PARTITION_KEY)})`;
    const input = { TableName: tableName, Item, ConditionExpression, ...use.tables() };
    const lost = await sender.write(
      (send) => send(new PutCommand(input)),
      sender.ownDeadlineMs(),
      conditionFailed,
    );
    if (!('item' in lost)) return SHARDS;
    return (await read()) ?? SHARDS;
  };

  const load = (): Promise<number> => {
    const loading = first().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    known = loading;
    return loading;
  };

  return { shards: () => known ?? load(), load };
}

function shardsOf({ format, shards }: Attributes): number {
  if (typeof format === 'number' && format > FORMAT) {
    throw new Fault('retryable', 'FORMAT_TOO_NEW', `the settings have format ${format}`);
  }
  if (Number.isInteger(shards) && Number(shards) >= 1) return Number(shards);
  throw unavailable('the settings of the table are damaged');
}
