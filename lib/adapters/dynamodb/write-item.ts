// One write of a plan as one item of a transaction. Every attribute goes through a name of its own,
// because any of them may be a reserved word.
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { tableKey } from '../../core/keys.ts';
import { FORMAT } from '../../core/model/workflow.ts';
import type { Write } from '../../core/ports/storage.ts';
import { stored, storedItem } from './items.ts';
import { indexChange } from './keys.ts';
import { PARTITION_KEY, TTL_ATTRIBUTE } from './table.ts';

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Update = Extract<Write, { op: 'update' }>;

/** Placeholders of one expression. */
interface Placeholders {
  name(attribute: string): string;
  value(value: unknown): string;
  /** Both tables, as far as they are used. */
  tables(): {
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues?: Record<string, unknown>;
  };
}

/** Starts an expression. */
export function placeholders(): Placeholders {
  const names = new Map<string, string>();
  const values: Record<string, unknown> = {};
  let count = 0;
  return {
    name: (attribute) => {
      const known = names.get(attribute) ?? `#${names.size}`;
      names.set(attribute, known);
      return known;
    },
    value: (value) => {
      const placeholder = `:${count++}`;
      values[placeholder] = stored(value);
      return placeholder;
    },
    tables: () => ({
      ExpressionAttributeNames: Object.fromEntries([...names].map(([name, ref]) => [ref, name])),
      ...(count > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}

/** Builds the item of a transaction for a write. */
export function writeItem(
  tableName: string,
  write: Write,
  shards: number | undefined,
): TransactItem {
  const use = placeholders();
  const ConditionExpression = condition(write, use);
  const common = { TableName: tableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const { pk, sk } = tableKey(write.key);
  const Key = { pk, sk };
  switch (write.op) {
    case 'create': {
      const attributes = storedItem(write.item);
      const { set } = indexChange(write.key, attributes, [], shards);
      const Item = { ...Key, ...attributes, ...set };
      return { Put: { ...common, Item, ConditionExpression, ...use.tables() } };
    }
    case 'update': {
      const UpdateExpression = update(write, use, shards);
      const rest = { ...common, Key, ConditionExpression, ...use.tables() };
      return UpdateExpression === ''
        ? { ConditionCheck: rest }
        : { Update: { ...rest, UpdateExpression } };
    }
    case 'delete':
      return { Delete: { ...common, Key, ConditionExpression, ...use.tables() } };
    case 'check':
    case 'absent':
      return { ConditionCheck: { ...common, Key, ConditionExpression, ...use.tables() } };
  }
}

/** An item of a newer format fails every condition, and is handed back to be refused. */
function condition(write: Write, use: Placeholders): string {
  const readable = (): string => `${use.name('format')} <= ${use.value(FORMAT)}`;
  const free = (): string => `attribute_not_exists(${use.name(PARTITION_KEY)})`;
  if (write.op === 'create') {
    if (write.replace === true) return `${free()} OR ${readable()}`;
    if (write.expiredAt === undefined) return free();
    const expired = `${use.name(TTL_ATTRIBUTE)} <= ${use.value(write.expiredAt)}`;
    return `${free()} OR (${readable()} AND ${expired})`;
  }
  if (write.op === 'absent') return free();
  const expected = Object.entries(write.expect).map(
    ([name, value]) => `${use.name(name)} = ${use.value(value)}`,
  );
  if (write.op === 'delete' && expected.length === 0) return `${free()} OR ${readable()}`;
  return [readable(), ...expected].join(' AND ');
}

function update(
  { key, set, put_in, remove = [] }: Update,
  use: Placeholders,
  shards: number | undefined,
) {
  const index = indexChange(key, set, remove, shards);
  const sets = Object.entries({ ...set, ...index.set })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${use.name(name)} = ${use.value(value)}`);
  for (const [name, members] of Object.entries(put_in ?? {})) {
    for (const [member, value] of Object.entries(members)) {
      sets.push(`${use.name(name)}.${use.name(member)} = ${use.value(value)}`);
    }
  }
  const removes = [...remove, ...index.remove].map((name) => use.name(name));
  const clauses = [
    ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
    ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
  ];
  return clauses.join(' ');
}
