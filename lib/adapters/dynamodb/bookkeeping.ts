// Bookkeeping beside the business: people and tenants that were seen, digests of procedures.
// A person has two rows that change together: one by subject, one by folded name, so that both are
// found by a consistent read; a list by an index may lag, and a hand-over must not.
import { GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { FORMAT, type Profile } from '../../core/model/workflow.ts';
import { foldName } from '../../core/names.ts';
import type { Random } from '../../core/ports/runtime.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { LIMITS } from '../../core/limits.ts';
import { cancellationReasons, failingCodes, unavailable } from './faults.ts';
import { nameKey, procedureKey, profileKey, tenantKey, type PrimaryKey } from './keys.ts';
import { conditionFailed, fits } from './single.ts';
import type { Sender } from './send.ts';
import { PARTITION_KEY } from './table.ts';
import { placeholders } from './write-item.ts';

type Bookkeeping = Pick<StorageBackend, 'noteProfile' | 'findProfiles' | 'registerProcedure'> & {
  /** Remembers that a tenant has started something; does nothing where this process did so before. */
  readonly noteTenant: (tenant: string, deadlineMs: number) => Promise<void>;
};

/** What bookkeeping works with. */
export interface BookkeepingParts {
  readonly sender: Sender;
  readonly random: Random;
  readonly tableName: string;
}

/** The bookkeeping of the port. */
export function createBookkeeping({ sender, random, tableName }: BookkeepingParts): Bookkeeping {
  const noted = new Set<string>();

  const get = async (key: PrimaryKey) => {
    const input = { TableName: tableName, Key: key, ConsistentRead: true };
    const { Item } = await sender.read((send) => send(new GetCommand(input)));
    return Item;
  };

  /** Creates a row unless there is one; answers the one that was there. */
  const putFirst = (
    item: PrimaryKey & { readonly [name: string]: unknown },
    deadlineMs: number,
  ) => {
    const use = placeholders();
    const ConditionExpression = `attribute_not_exists(${use.name(PARTITION_KEY)})`;
    const input = {
      TableName: tableName,
      Item: { format: FORMAT, ...item },
      ConditionExpression,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      ...use.tables(),
    };
    return sender.write((send) => send(new PutCommand(input)), deadlineMs, conditionFailed);
  };

  const noteProfile: Bookkeeping['noteProfile'] = async ({ tenant, subject, name }) => {
    const key = profileKey(tenant, subject);
    for (let n = 1; n <= LIMITS.conflictTries.max; n++) {
      const before = (await get(key))?.['name'] as string | undefined;
      if (before === name) return;
      const input = {
        TransactItems: profileWrites(tableName, { tenant, subject, name }, before),
        ClientRequestToken: random.id(),
      };
      const lost = await sender.write(
        (send) => send(new TransactWriteCommand(input)),
        sender.ownDeadlineMs(),
        (error) =>
          failingCodes(cancellationReasons(error)).includes('ConditionalCheckFailed')
            ? 'lost'
            : undefined,
      );
      if (lost !== 'lost') return;
    }
    throw unavailable('a profile is being written by others');
  };

  return {
    noteProfile,
    findProfiles: async (tenant, text, limit) => {
      const byName = nameKey(tenant, foldName(text), '').pk;
      const key = profileKey(tenant, text);
      if (!fits(key) || !fits({ pk: byName, sk: '' })) return [];
      const use = placeholders();
      const query = {
        TableName: tableName,
        KeyConditionExpression: `${use.name(PARTITION_KEY)} = ${use.value(byName)}`,
        ConsistentRead: true,
        // The person whose subject it is may be among those of the name.
        Limit: limit + 1,
        ...use.tables(),
      };
      const [exact, named] = await Promise.all([
        get(key),
        sender.read((send) => send(new QueryCommand(query))),
      ]);
      const others = (named.Items ?? []).filter(({ subject }) => subject !== text);
      return [...(exact === undefined ? [] : [exact]), ...others]
        .slice(0, limit)
        .map(({ subject, name }): Profile => ({
          tenant,
          subject: String(subject),
          name: String(name),
        }));
    },
    registerProcedure: async (id, version, digest) => {
      const key = procedureKey(id, version);
      const known = (await get(key))?.['digest'];
      if (known !== undefined) return String(known);
      const lost = await putFirst({ ...key, id, version, digest }, sender.ownDeadlineMs());
      return 'item' in lost ? String(lost.item['digest']) : digest;
    },
    noteTenant: async (tenant, deadlineMs) => {
      if (noted.has(tenant)) return;
      await putFirst({ ...tenantKey(tenant), tenant }, deadlineMs);
      noted.add(tenant);
    },
  };
}

/** The rows of a person as they shall be, provided that the name is still the one that was read. */
function profileWrites(tableName: string, profile: Profile, before: string | undefined) {
  const { tenant, subject, name } = profile;
  const use = placeholders();
  const ConditionExpression =
    before === undefined
      ? `attribute_not_exists(${use.name(PARTITION_KEY)})`
      : `${use.name('name')} = ${use.value(before)}`;
  const row = { format: FORMAT, tenant, subject, name };
  const now = nameKey(tenant, foldName(name), subject);
  const then = before === undefined ? now : nameKey(tenant, foldName(before), subject);
  const Item = { ...profileKey(tenant, subject), ...row };
  return [
    { Put: { TableName: tableName, Item, ConditionExpression, ...use.tables() } },
    { Put: { TableName: tableName, Item: { ...now, ...row } } },
    ...(then.pk === now.pk ? [] : [{ Delete: { TableName: tableName, Key: { ...then } } }]),
  ];
}
