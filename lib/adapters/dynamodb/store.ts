// The storage port on one DynamoDB table. Business items are written by one transaction per plan;
// everything else here reads, or keeps single rows of bookkeeping. Holds no rule of the business.
import { TransactGetCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { checkSnapshot, checkTransaction } from '../../core/check-transaction.ts';
import { keyFault, tableKey } from '../../core/keys.ts';
import type { Clock, Random } from '../../core/ports/runtime.ts';
import type {
  ItemKey,
  Snapshot,
  StorageBackend,
  Transaction,
  Write,
} from '../../core/ports/storage.ts';
import { createBookkeeping } from './bookkeeping.ts';
import { commitTransaction } from './commit.ts';
import { parseItem } from './items.ts';
import { tooLate } from './faults.ts';
import { createLeases } from './leases.ts';
import { createIndexLists } from './index-lists.ts';
import { createPartitionLists } from './partition-lists.ts';
import { createOutbox } from './outbox.ts';
import { createWalks } from './query.ts';
import { createScans } from './scans.ts';
import { createSender } from './send.ts';
import { createTableSettings } from './settings.ts';
import { createSweepBook } from './sweeps.ts';

/** How a store is opened. */
export interface DynamoStoreOptions {
  /** A client of the table's region; closing the store destroys it. */
  readonly client: DynamoDBDocumentClient;
  /** A table as `createTableInput` describes it. */
  readonly tableName: string;
  readonly clock: Clock;
  /** For the jitter of waits and the tokens of transactions. */
  readonly random: Random;
  /** How long a read may take, and bookkeeping that no command waits for; 3,000 unless given. */
  readonly ownTimeoutMs?: number;
}

const OWN_TIMEOUT_MS = 3_000;

/** Opens a store. Sends nothing before its first call. */
export function createDynamoStore(options: DynamoStoreOptions): StorageBackend {
  const { client, tableName, clock, random, ownTimeoutMs = OWN_TIMEOUT_MS } = options;
  const sender = createSender({ ...options, ownTimeoutMs });
  const parts = { sender, random, tableName };
  const settings = createTableSettings(sender, tableName);
  const walks = createWalks(sender, tableName);
  const { noteTenant, ...bookkeeping } = createBookkeeping(parts);

  /** Always a transaction: a plain read, even of one item, may see half of what is being written. */
  const snapshot = async <const K extends readonly ItemKey[]>(keys: K): Promise<Snapshot<K>> => {
    checkSnapshot(keys);
    const possible = keys.filter((key) => keyFault(key) === undefined);
    if (possible.length === 0) return keys.map(() => undefined) as Snapshot<K>;
    const TransactItems = possible.map((key) => ({
      Get: { TableName: tableName, Key: { ...tableKey(key) } },
    }));
    const { Responses = [] } = await sender.read((send) =>
      send(new TransactGetCommand({ TransactItems })),
    );
    const found = new Map(possible.map((key, i) => [key, Responses[i]?.Item]));
    return keys.map((key) => {
      const item = found.get(key);
      return item === undefined ? undefined : parseItem(key.kind, item);
    }) as Snapshot<K>;
  };

  const commit = async (transaction: Transaction, deadlineMs: number) => {
    checkTransaction(transaction.writes);
    if (clock.now() >= deadlineMs) throw tooLate();
    const shards = transaction.writes.some(isDue) ? await settings.shards() : undefined;
    const [result] = await Promise.all([
      commitTransaction(parts, transaction, deadlineMs, shards),
      ...tenantsStartedBy(transaction).map((tenant) =>
        // A list for people by hand must not fail a command; the next start notes it.
        noteTenant(tenant, deadlineMs).catch(() => undefined),
      ),
    ]);
    return result;
  };

  return {
    snapshot,
    commit,
    ...createPartitionLists(walks, tableName),
    ...createIndexLists(walks, tableName, settings.shards),
    ...createOutbox({ sender, walks, tableName, shards: settings.shards }),
    ...createLeases(sender, tableName),
    ...createScans(walks, tableName),
    ...createSweepBook(sender, walks, tableName),
    ...bookkeeping,
    // The table has no log of its own; what its backups keep ends with their retention.
    purge: () => Promise.resolve(true),
    check: async () => {
      await settings.load();
    },
    close: async () => {
      sender.close();
      client.destroy();
      return Promise.resolve();
    },
  };
}

/** Whether a write concerns due work, whose place depends on the settings of the table. */
function isDue(write: Write): boolean {
  if (write.op === 'check' || write.op === 'absent' || write.op === 'delete') return false;
  if (write.key.kind === 'outbox') return true;
  const attributes = write.op === 'create' ? write.item : write.set;
  return isRecord(write) && 'due_at' in attributes;
}

const isRecord = ({ key }: Write): boolean => key.kind === 'workflow' || key.kind === 'run';

/** Tenants that get a workflow or a run, each once. */
function tenantsStartedBy({ writes }: Transaction): readonly string[] {
  const started = writes.filter((write) => write.op === 'create' && isRecord(write));
  return [...new Set(started.map(({ key }) => key.tenant))];
}
