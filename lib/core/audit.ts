// Verification of audit trails: walks chains in pages, holds the sensitive values that are kept beside
// them against their commitments, and reports every broken trail.
import { ChainVerifier, eventBody, type ChainFault } from './events.ts';
import { isDamage } from './fault.ts';
import { isRunId, recordKey, type Trailed } from './model/aggregate.ts';
import type { StoredEvent } from './model/workflow.ts';
import { everyItem } from './pages.ts';
import type { StorageBackend } from './ports/storage.ts';
import { ValueClaims, valueFaults, type ValueFault } from './trail/values.ts';

/** What is wrong with a trail: its chain, or a value that is kept beside it. */
export type TrailFault = ChainFault | ValueFault;

/** The result of verifying one trail; `workflow` is the id of its workflow or run. */
export interface ChainReport {
  readonly tenant: string;
  readonly workflow: string;
  readonly events: number;
  /** Sensitive values that the trail says are kept. */
  readonly values: number;
  /**
   * The faults of the chain: the first, and those before it that were acknowledged. Every fault of the
   * values where the chain verifies.
   */
  readonly faults: readonly TrailFault[];
  /** The digest of all rows as they were found, for whoever acknowledges a fault. */
  readonly rows: string;
}

/** The faults that nobody has acknowledged. */
export const openFaults = ({ faults }: Pick<ChainReport, 'faults'>): readonly TrailFault[] =>
  faults.filter(({ acknowledged }) => acknowledged === undefined);

/**
 * Verifies the trail of one workflow or run against the head that its record keeps. A trail that grows while
 * it is read is read again, so that work in progress is not reported as damage.
 */
export async function verifyRecord(store: StorageBackend, record: Trailed): Promise<ChainReport> {
  let seen = record;
  for (let n = 0; n < 5; n++) {
    const report = await walk(store, seen);
    const [fault] = openFaults(report);
    if (fault === undefined) return report;
    await settled(store, seen, fault.seq);
    const [now] = await store.snapshot([recordKey(seen.tenant, seen.id)]);
    if (now === undefined || now.version === seen.version) return walk(store, now ?? seen);
    seen = now;
  }
  return walk(store, seen);
}

/** More rows than this never belong to one transaction. */
const ROWS_SETTLED = 50;

/**
 * Waits for whoever is writing what a plain read may have seen half of: a transactional read of those
 * rows comes after it, and so does every plain read that follows.
 */
async function settled(
  store: StorageBackend,
  { tenant, id: workflow, head_seq }: Trailed,
  from: number,
): Promise<void> {
  const first = Math.max(1, from);
  const count = Math.min(ROWS_SETTLED, Math.max(1, head_seq - first + 1));
  const keys = Array.from({ length: count }, (_, i) => ({ tenant, workflow, seq: first + i }));
  try {
    await store.snapshot([
      ...keys.map((key) => ({ kind: 'event', ...key }) as const),
      ...(isRunId(workflow) ? [] : keys.map((key) => ({ kind: 'vault', ...key }) as const)),
    ]);
  } catch (error) {
    // What cannot be read is no half of anything.
    if (!isDamage(error)) throw error;
  }
}

async function walk(store: StorageBackend, record: Trailed): Promise<ChainReport> {
  const { tenant, id, head_seq, head_hash } = record;
  const verifier = new ChainVerifier(tenant, id);
  const claims = new ValueClaims();
  let after = 0;
  for (let limit = 100; ;) {
    let page: readonly StoredEvent[];
    try {
      page = await store.listEvents(tenant, id, { after, limit });
    } catch (error) {
      if (!isDamage(error)) throw error;
      // One damaged row spoils its page: the walk of single rows names it and goes on behind it.
      if (limit === 1) verifier.addUnreadable(++after);
      limit = 1;
      if (after > head_seq) break;
      continue;
    }
    for (const event of page) if (verifier.add(event)) claims.add(eventBody(event));
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const chain = verifier.finish({ seq: head_seq, hash: head_hash });
  const report = { tenant, workflow: id, events: head_seq, rows: verifier.rows() };
  // A chain that does not verify says nothing about values.
  if (chain.length > 0) return { ...report, values: 0, faults: chain };
  const faults = (await valueFaults(store, { tenant, workflow: id }, claims)).map((fault) => {
    const acknowledged = verifier.acknowledgedAt(fault);
    return acknowledged === undefined ? fault : { ...fault, acknowledged };
  });
  return { ...report, values: claims.kept().length, faults };
}

/** Verifies every trail of the store, one report each; a damaged one never hides the others. */
export async function* verifyAll(store: StorageBackend): AsyncGenerator<ChainReport> {
  for await (const trail of everyItem((page) => store.scanTrails(page))) {
    yield await verifyTrail(store, trail);
  }
}

async function verifyTrail(
  store: StorageBackend,
  { tenant, workflow }: { readonly tenant: string; readonly workflow: string },
): Promise<ChainReport> {
  let record: Trailed | undefined;
  try {
    [record] = await store.snapshot([recordKey(tenant, workflow)]);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  if (record !== undefined) return verifyRecord(store, record);
  const faults = [{ seq: 1, what: 'no_record' }] as const;
  return { tenant, workflow, events: 0, values: 0, faults, rows: '' };
}
