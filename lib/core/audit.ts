// Verification of audit trails: walks chains in pages and reports every broken one.
import { ChainVerifier, type ChainFault } from './events.ts';
import type { Workflow } from './model/workflow.ts';
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
  let after = 0;
  for (;;) {
    const page = await store.listEvents(tenant, id, { after, limit: 100 });
    for (const event of page) verifier.add(event);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const fault = verifier.finish({ seq: head_seq, hash: head_hash });
  return { tenant, workflow: id, events: head_seq, ...(fault !== undefined && { fault }) };
}

/** Verifies every trail of the store, one report each. */
export async function* verifyAll(store: StorageBackend): AsyncGenerator<ChainReport> {
  let after: string | undefined;
  do {
    const page = await store.scanWorkflows({ limit: 100, ...(after !== undefined && { after }) });
    for (const workflow of page.items) yield await verifyWorkflow(store, workflow);
    after = page.next;
  } while (after !== undefined);
}
