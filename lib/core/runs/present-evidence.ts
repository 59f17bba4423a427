// The observations of a run's present gathering. Rows of one before it are kept, and no part of it.
import { LIMITS } from '../limits.ts';
import type { EvidenceRow, Run } from '../model/run.ts';
import type { StorageBackend } from '../ports/storage.ts';

/** All of them as of the record, oldest first. */
export async function presentEvidence(
  store: Pick<StorageBackend, 'listEvidence'>,
  { tenant, id, evidence, head_seq }: Run,
): Promise<readonly EvidenceRow[]> {
  if (evidence.length === 0) return [];
  const limit = LIMITS.pageItems.max;
  const rows: EvidenceRow[] = [];
  for (let after = 0; ;) {
    const page = await store.listEvidence(tenant, id, { after, limit });
    rows.push(...page);
    after = page.at(-1)?.seq ?? after;
    if (page.length < limit) break;
  }
  // The record may have been read before its last observations: what lies beyond its head is later.
  return rows.filter(({ seq }) => seq <= head_seq).slice(-evidence.length);
}
