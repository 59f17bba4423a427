// Verification of audit trails: walks chains in pages and reports every broken one.
import { ChainVerifier, type ChainFault } from './events.ts';
import { isFault } from './fault.ts';
import type { StoredEvent, Workflow } from './model/workflow.ts';
import type { StorageBackend } from './ports/storage.ts';

/** The result of verifying one trail. */
export interface ChainReport {
  readonly tenant: string;
  readonly workflow: string;
  readonly events: number;
  readonly fault?: ChainFault;
}

/**
 * Verifies one workflow's trail against the head that its record keeps. A trail that grows while
 * it is read is read again, so that work in progress is not reported as damage.
 */
export async function verifyWorkflow(
  store: StorageBackend,
  workflow: Workflow,
): Promise<ChainReport> {
  let seen = workflow;
  for (let n = 0; n < 5; n++) {
    const report = await walk(store, seen);
    if (report.fault === undefined) return report;
    const key = { kind: 'workflow', tenant: seen.tenant, id: seen.id } as const;
    const [now] = await store.snapshot([key]);
    if (now === undefined || now.version === seen.version) return report;
    seen = now;
  }
  return walk(store, seen);
}

async function walk(store: StorageBackend, workflow: Workflow): Promise<ChainReport> {
  const { tenant, id, head_seq, head_hash } = workflow;
  const verifier = new ChainVerifier(tenant, id);
  const report = { tenant, workflow: id, events: head_seq };
  let after = 0;
  for (let limit = 100; ;) {
    let page: readonly StoredEvent[];
    try {
      page = await store.listEvents(tenant, id, { after, limit });
    } catch (error) {
      if (!isDamage(error)) throw error;
      // One damaged row spoils its page: the next walk of single rows names it.
      if (limit === 1) return { ...report, fault: { seq: after + 1, what: 'unreadable' } };
      limit = 1;
      continue;
    }
    for (const event of page) verifier.add(event);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const fault = verifier.finish({ seq: head_seq, hash: head_hash });
  return { ...report, ...(fault !== undefined && { fault }) };
}

/** Verifies every trail of the store, one report each; a damaged one never hides the others. */
export async function* verifyAll(store: StorageBackend): AsyncGenerator<ChainReport> {
  let after: string | undefined;
  do {
    const page = await store.scanTrails({ limit: 100, ...(after !== undefined && { after }) });
    for (const trail of page.items) yield await verifyTrail(store, trail);
    after = page.next;
  } while (after !== undefined);
}

async function verifyTrail(
  store: StorageBackend,
  { tenant, workflow }: { readonly tenant: string; readonly workflow: string },
): Promise<ChainReport> {
  let record: Workflow | undefined;
  try {
    [record] = await store.snapshot([{ kind: 'workflow', tenant, id: workflow }]);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  if (record !== undefined) return verifyWorkflow(store, record);
  return { tenant, workflow, events: 0, fault: { seq: 1, what: 'no_record' } };
}

function isDamage(error: unknown): boolean {
  return isFault(error) && ['ITEM_DAMAGED', 'FORMAT_TOO_NEW'].includes(error.code);
}
