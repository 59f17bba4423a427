// Leases of shards: one row each, whose epoch grows with every taking by a conditional update.
import { GetCommand, UpdateCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { FORMAT } from '../../core/model/workflow.ts';
import { isAhead } from '../../core/ahead.ts';
import type { Lease, StorageBackend } from '../../core/ports/storage.ts';
import { leaseKey } from './keys.ts';
import type { Sender } from './send.ts';
import { conditionFailed } from './single.ts';
import { PARTITION_KEY } from './table.ts';
import { placeholders } from './write-item.ts';

/** The condition of a transaction that a lease is still its holder's. */
export function leaseCheck(
  tableName: string,
  { shard, epoch, by }: Lease,
): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
  const use = placeholders();
  const ConditionExpression = stillHeld(use, { epoch, by });
  const Key = { ...leaseKey(shard) };
  return { ConditionCheck: { TableName: tableName, Key, ConditionExpression, ...use.tables() } };
}

function stillHeld(
  use: ReturnType<typeof placeholders>,
  { epoch, by }: Pick<Lease, 'epoch' | 'by'>,
): string {
  return `${use.name('epoch')} = ${use.value(epoch)} AND ${use.name('by')} = ${use.value(by)}`;
}

/** The leases of the port. */
export function createLeases(
  sender: Sender,
  tableName: string,
): Pick<StorageBackend, 'takeLease' | 'renewLease' | 'releaseLease'> {
  /** Writes a lease where it is still as it was seen; false where somebody else was faster. */
  const put = async (
    { shard, epoch, by, until }: Lease,
    before: Pick<Lease, 'epoch' | 'by'> | undefined,
  ): Promise<boolean> => {
    const use = placeholders();
    const ConditionExpression =
      before === undefined
        ? `attribute_not_exists(${use.name(PARTITION_KEY)})`
        : stillHeld(use, before);
    const set = { format: FORMAT, epoch, by, until };
    const changes = Object.entries(set).map(
      ([name, value]) => `${use.name(name)} = ${use.value(value)}`,
    );
    const input = {
      TableName: tableName,
      Key: { ...leaseKey(shard) },
      ConditionExpression,
      UpdateExpression: `SET ${changes.join(', ')}`,
      ...use.tables(),
    };
    const result = await sender.write(
      (send) => send(new UpdateCommand(input)).then(() => 'kept' as const),
      sender.ownDeadlineMs(),
      conditionFailed,
    );
    return result === 'kept';
  };

  return {
    takeLease: async (shard, by, { now, until }) => {
      const input = { TableName: tableName, Key: { ...leaseKey(shard) }, ConsistentRead: true };
      const { Item } = await sender.read((send) => send(new GetCommand(input)));
      const before = Item as Omit<Lease, 'shard'> | undefined;
      if (before !== undefined && before.by !== by && isAhead(before.until, now, until - now))
        return undefined;
      const lease = { shard, epoch: (before?.epoch ?? 0) + 1, by, until };
      return (await put(lease, before)) ? lease : undefined;
    },
    renewLease: async (lease, until) => {
      const renewed = { ...lease, until };
      return (await put(renewed, lease)) ? renewed : undefined;
    },
    releaseLease: (lease) => put({ ...lease, until: 0 }, lease),
  };
}
