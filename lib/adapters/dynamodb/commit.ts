// A plan as one TransactWriteItems, and the reasons of a cancelled one as failed conditions.
// Invariants kept here: all of a plan is written or nothing; an existing item is changed by an update of
// named attributes; no item of a newer format is touched.
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { checkTransaction } from '../../core/check-transaction.ts';
import type { Random } from '../../core/ports/runtime.ts';
import type {
  CommitResult,
  FailedCondition,
  Transaction,
  Write,
} from '../../core/ports/storage.ts';
import { cancellationReasons, failingCodes, type CancellationReason } from './faults.ts';
import { parseItem } from './items.ts';
import type { Attributes } from './keys.ts';
import { leaseCheck } from './leases.ts';
import type { Sender } from './send.ts';
import { writeItem } from './write-item.ts';

const FAILED = 'ConditionalCheckFailed';
const CONFLICT = 'TransactionConflict';

/** What commits work with. */
export interface CommitParts {
  readonly sender: Sender;
  readonly random: Random;
  readonly tableName: string;
}

/** Sends a checked transaction. `shards` is the number of shards of due work. */
export async function commitTransaction(
  { sender, random, tableName }: CommitParts,
  { writes, lease }: Transaction,
  deadlineMs: number,
  shards: number | undefined,
): Promise<CommitResult> {
  checkTransaction(writes);
  const input: TransactWriteCommandInput = {
    TransactItems: [
      ...writes.map((write) => writeItem(tableName, write, shards)),
      // Last, so that the reasons of the writes keep their places.
      ...(lease === undefined ? [] : [leaseCheck(tableName, lease)]),
    ],
    // One plan, one token: a repeat of this very call has one effect, a plan decided again another.
    ClientRequestToken: random.id(),
  };
  const result = await sender.write<unknown, CommitResult>(
    (send) => send(new TransactWriteCommand(input)),
    deadlineMs,
    (error) => refusal(writes, cancellationReasons(error)),
  );
  return isRefusal(result) ? result : { ok: true };
}

function isRefusal(result: unknown): result is CommitResult & { readonly ok: false } {
  return typeof result === 'object' && result !== null && 'failed' in result;
}

/**
 * The conditions that did not hold. Where others were writing at that moment, what was handed back may
 * be half of their transaction, and that is said; where something else stood in the way, nothing is
 * known of all conditions, and only a row of the ledger counts: it cannot become free again.
 */
function refusal(
  writes: readonly Write[],
  reasons: readonly CancellationReason[] | undefined,
): CommitResult | undefined {
  const codes = failingCodes(reasons);
  if (reasons === undefined || !codes.includes(FAILED)) return undefined;
  if (reasons[writes.length]?.Code === FAILED) return { ok: false, failed: [], leaseLost: true };
  const failed = writes.flatMap((write, i) => failure(write, reasons[i]));
  const others = codes.filter((code) => code !== FAILED);
  if (others.length === 0) return { ok: false, failed };
  if (others.every((code) => code === CONFLICT)) return { ok: false, failed, contended: true };
  const ledger = failed.filter(({ key }) => key.kind === 'ledger');
  return ledger.length === 0 ? undefined : { ok: false, failed: ledger, contended: true };
}

function failure(
  { key }: Write,
  { Code, Item }: CancellationReason = {},
): readonly FailedCondition[] {
  if (Code !== FAILED) return [];
  if (Item === undefined) return [{ key }];
  // The document client leaves the items of reasons in the form of the wire.
  const attributes = unmarshall(Item as Parameters<typeof unmarshall>[0]) as Attributes;
  return [{ key, item: parseItem(key.kind, attributes) }];
}
