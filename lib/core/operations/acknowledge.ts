// The way back from frozen: a person who has looked at a trail that does not verify says so. Nothing of
// the trail is rewritten. The event names every fault that is open and the digest of all rows as they
// were found, so verification goes on from it, and keeps reporting the place.
import { canonicalJson, sha256Hex } from '../canonical.ts';
import { openFaults, verifyRecord, type TrailFault } from '../audit.ts';
import { appended, appendedWrites } from '../decide/appended.ts';
import { faultName } from '../events.ts';
import { LIMITS } from '../limits.ts';
import { recordKey } from '../model/aggregate.ts';
import type { OperationReceipt } from '../model/workflow.ts';
import { RECONCILE } from '../reconcile/timing.ts';
import { operate, type Asked, type OperationParts, type Repeated } from './operate.ts';
import { isTorn } from './torn.ts';

/** Enough to tell one finding from another; it is typed by hand. */
const SEEN_DIGITS = 12;

/** What became of it. */
export type Acknowledgement =
  | {
      readonly code: 'ACKNOWLEDGED';
      readonly faults: readonly TrailFault[];
      readonly receipt: OperationReceipt;
    }
  /** A look without a change: these are open, and `seen` names exactly what was found. */
  | { readonly code: 'FROZEN'; readonly faults: readonly TrailFault[]; readonly seen: string }
  /** The work is not frozen, and its trail has no open fault. */
  | { readonly code: 'WELL' }
  /** An event lies beyond the head: that is moved aside first. */
  | { readonly code: 'TORN' }
  | { readonly code: 'NOT_FOUND' }
  | Repeated;

/** What is to be acknowledged. `seen` is what an earlier look was answered; without it this is a look. */
export interface AcknowledgeCommand {
  readonly workflow: string;
  readonly reason: string;
  readonly seen?: string;
}

/**
 * Acknowledges every open fault and lets work go on, where they are the ones that were seen: whoever
 * looked has not looked at what came since. Throws faults of the store.
 */
export function acknowledgeFaults(
  parts: Pick<OperationParts, 'store' | 'clock'>,
  asked: Asked,
  command: AcknowledgeCommand,
): Promise<Acknowledgement> {
  const { store, clock } = parts;
  const { principal } = asked;
  const { tenant } = principal;
  const { workflow: id, reason, seen = '' } = command;
  const operation = 'acknowledge_faults';
  return operate<Acknowledgement>(
    parts,
    asked,
    { operation, args: { workflow_id: id, reason, seen } },
    async () => {
      const [record] = await store.snapshot([recordKey(tenant, id)]);
      if (record === undefined) return { do: 'end', answer: { code: 'NOT_FOUND' } };
      if (await isTorn(store, record)) {
        return { do: 'end', answer: { code: 'TORN' } };
      }
      const { frozen } = record;
      const report = await verifyRecord(store, record);
      const open = openFaults(report).slice(0, LIMITS.pageItems.max);
      if (frozen === undefined && open.length === 0) {
        return { do: 'end', answer: { code: 'WELL' } };
      }
      const faults = open.map(faultName);
      const found = { faults, rows: report.rows, frozen: frozen?.what ?? null };
      const name = sha256Hex(canonicalJson(found)).slice(0, SEEN_DIGITS);
      if (seen !== name) {
        return { do: 'end', answer: { code: 'FROZEN', faults: open, seen: name } };
      }
      const now = clock.now();
      const context = { ...asked, now };
      const appendix = appended(record, context, 'faults_acknowledged', {
        faults,
        rows: report.rows,
        reason,
        ...(frozen !== undefined && { frozen }),
      });
      const writes = appendedWrites(record, appendix, {
        also: { due_at: now + RECONCILE.lastCheckMs },
        remove: frozen === undefined ? [] : ['frozen'],
      });
      const receipt = { workflow: id, seq: appendix.head.seq, at: appendix.at };
      const answer: Acknowledgement = {
        code: 'ACKNOWLEDGED',
        faults: open,
        receipt: { operation, ...receipt },
      };
      return { do: 'commit', writes, receipt, answer };
    },
  );
}
