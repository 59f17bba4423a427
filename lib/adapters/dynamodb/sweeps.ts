// The book of sweeps: one partition for each day, whose rows the table deletes after their time.
import { PutCommand, UpdateCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { LIMITS } from '../../core/limits.ts';
import { FORMAT } from '../../core/model/workflow.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type { NotedFinding, RuleCount, SweepBook, SweepNote } from '../../core/ports/sweeps.ts';
import { summed, SWEEP_PART } from '../../core/sweep-book.ts';
import { sweepKey, type Attributes, type PrimaryKey } from './keys.ts';
import { taken, type Walks } from './query.ts';
import type { Sender } from './send.ts';
import { fits } from './single.ts';
import { PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE } from './table.ts';
import { placeholders } from './write-item.ts';

const EVERY = Number.POSITIVE_INFINITY;
/** The book of the port. */
export function createSweepBook(sender: Sender, walks: Walks, tableName: string): SweepBook {
  /** Adds numbers to a row and sets others; answers the row's numbers as they are then. */
  const add = async (key: PrimaryKey, numbers: Attributes, set: Attributes) => {
    const use = placeholders();
    const part = (attributes: Attributes, between: string): string =>
      Object.entries(attributes)
        .map(([name, value]) => `${use.name(name)}${between}${use.value(value)}`)
        .join(', ');
    const UpdateExpression = `SET ${part({ format: FORMAT, ...set }, ' = ')} ADD ${part(numbers, ' ')}`;
    const input = {
      TableName: tableName,
      Key: { ...key },
      UpdateExpression,
      ReturnValues: 'UPDATED_NEW' as const,
      ...use.tables(),
    };
    return sender.write(
      async (send) => (await send(new UpdateCommand(input))).Attributes ?? {},
      sender.ownDeadlineMs(),
      () => undefined,
    );
  };

  const put = async (key: PrimaryKey, item: Attributes) => {
    const input = { TableName: tableName, Item: { ...key, format: FORMAT, ...item } };
    await sender.write(
      (send) => send(new PutCommand(input)),
      sender.ownDeadlineMs(),
      () => undefined,
    );
  };

  const noteTenant = async (
    { day, at, shard, keptMost, expires_at }: SweepNote,
    { tenant, counts, findings }: SweepNote['tenants'][number],
  ): Promise<void> => {
    const numbers = Object.fromEntries(
      counts.flatMap(({ rule, found, repaired }) => [
        [`found_${rule}`, found],
        [`repaired_${rule}`, repaired],
      ]),
    );
    const key = sweepKey(day, SWEEP_PART.countsOf(tenant, shard));
    const after = await add(key, { rows: 1, ...numbers }, { [TTL_ATTRIBUTE]: expires_at });
    if (Number(after?.['rows']) > keptMost || findings.length === 0) return;
    const kept = sweepKey(day, SWEEP_PART.findingsAt(tenant, at, shard));
    await put(kept, { at, shard, findings, [TTL_ATTRIBUTE]: expires_at });
  };

  const walk = (day: string, prefix: string, rest: Partial<QueryCommandInput> = {}) => {
    const use = placeholders();
    const { pk } = sweepKey(day, prefix);
    const within = `begins_with(${use.name(SORT_KEY)}, ${use.value(prefix)})`;
    return walks.query({
      TableName: tableName,
      KeyConditionExpression: `${use.name(PARTITION_KEY)} = ${use.value(pk)} AND ${within}`,
      ConsistentRead: true,
      ...rest,
      ...use.tables(),
    });
  };

  return {
    noteSweep: async (note) => {
      const { day, at, shard, end, expires_at } = note;
      const last = { shard, last_at: at, last_end: end, [TTL_ATTRIBUTE]: expires_at };
      await add(sweepKey(day, SWEEP_PART.shard(shard)), { sweeps: 1 }, last);
      for (const tenant of note.tenants) await noteTenant(note, tenant);
    },
    listSweeps: async (day) => {
      const rows = await taken(walk(day, SWEEP_PART.shards), EVERY);
      return rows.map(({ shard, sweeps, last_at, last_end }) => ({
        shard: Number(shard),
        sweeps: Number(sweeps),
        last_at: String(last_at),
        last_end: String(last_end),
      }));
    },
    countFindings: async (tenant, day) => {
      const rows = await taken(walk(day, SWEEP_PART.counts(tenant)), EVERY);
      return summed(rows.flatMap(countsIn));
    },
    listFindings: async (tenant, day, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const name = ['findings', tenant, day];
      const prefix = SWEEP_PART.findings(tenant);
      const from = after === undefined ? undefined : readCursor(name, after)[0];
      const start = from === undefined ? undefined : sweepKey(day, from);
      if (start !== undefined && (!fits(start) || !start.sk.startsWith(prefix))) {
        throw foreignCursor();
      }
      const rows = walk(day, prefix, {
        Limit: limit + 1,
        ...(start !== undefined && { ExclusiveStartKey: { ...start } }),
      });
      const found = await taken(rows, limit + 1);
      const items = found.slice(0, limit).map(({ at, shard, findings }) => ({
        at: String(at),
        shard: Number(shard),
        findings: findings as readonly NotedFinding[],
      }));
      const last = found[limit - 1];
      if (found.length <= limit || last === undefined) return { items };
      return { items, next: writeCursor(name, [String(last[SORT_KEY]), '']) };
    },
  };
}

/** The counters of one row: a rule's two stand under their own names, so that each can be added to. */
function countsIn(row: Attributes): readonly RuleCount[] {
  return Object.entries(row).flatMap(([name, value]) => {
    const [, what, rule = ''] = /^(found|repaired)_(.+)$/.exec(name) ?? [];
    if (what === undefined) return [];
    return [{ rule, found: 0, repaired: 0, [what]: Number(value) }];
  });
}
