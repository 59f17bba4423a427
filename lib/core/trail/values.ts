// Sensitive values against their commitments. The chain proves what was committed to; this holds what
// is stored beside it against that. It cannot tell what an erased value was.
import { sameDigest } from '../canonical.ts';
import { isDamage } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import type { EventBody, VaultRow } from '../model/workflow.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { commitment } from '../redact.ts';

/** What is wrong with one sensitive value; `seq` is the event it is kept for. */
export interface ValueFault {
  readonly seq: number;
  readonly what:
    'value_changed' | 'value_missing' | 'value_not_erased' | 'value_unnamed' | 'value_unreadable';
  /** The event by which a person said that they have looked at it; it stays a fault. */
  readonly acknowledged?: number;
}

/** The aggregate whose values are meant. */
interface Aggregate {
  readonly tenant: string;
  readonly workflow: string;
}

/** What the events of one trail say about its sensitive values. */
export class ValueClaims {
  /** Commitments to the value of a record: its own, and those of whoever confirmed it. */
  readonly #commitments = new Map<number, string[]>();
  readonly #erased = new Set<number>();

  /** Takes an event. */
  add({ seq, type, data }: EventBody): void {
    if (typeof data['commitment'] === 'string') {
      // A second person's event commits to the record it confirms.
      const record = Number(data['confirms'] ?? seq);
      const known = this.#commitments.get(record) ?? [];
      this.#commitments.set(record, [...known, data['commitment']]);
    }
    const erases = type === 'value_erased' || type === 'stray_event_moved';
    if (erases && Array.isArray(data['records'])) {
      for (const record of data['records']) this.#erased.add(Number(record));
    }
  }

  /** Records whose value the trail says is kept. */
  kept(): readonly number[] {
    return [...this.#commitments.keys()].filter((seq) => !this.#erased.has(seq));
  }

  /** What is wrong with a value that is kept for a record, if anything is. */
  faultOf(seq: number, row: VaultRow | 'damaged'): ValueFault | undefined {
    const commitments = this.#commitments.get(seq);
    if (commitments === undefined) return { seq, what: 'value_unnamed' };
    if (this.#erased.has(seq)) return { seq, what: 'value_not_erased' };
    const stored = row === 'damaged' ? undefined : commitmentOf(row);
    if (stored === undefined) return { seq, what: 'value_unreadable' };
    const same = commitments.every((one) => sameDigest(one, stored));
    return same ? undefined : { seq, what: 'value_changed' };
  }
}

/** The commitment to what a row holds; undefined where it holds no key and value. */
function commitmentOf({ key, value }: VaultRow): string | undefined {
  try {
    return commitment(key, value);
  } catch {
    return undefined;
  }
}

/** The records for which a workflow keeps a value, ascending. */
export async function* keptValues(
  store: StorageBackend,
  { tenant, workflow }: Aggregate,
): AsyncGenerator<readonly number[]> {
  for (let after = 0; ;) {
    const page = await store.listVault(tenant, workflow, { after, limit: LIMITS.pageItems.max });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last;
  }
}

/** Every fault of the values that are kept for a trail, by record. Throws faults of the store. */
export async function valueFaults(
  store: StorageBackend,
  aggregate: Aggregate,
  claims: ValueClaims,
): Promise<readonly ValueFault[]> {
  const faults: ValueFault[] = [];
  const missing = new Set(claims.kept());
  for await (const seqs of keptValues(store, aggregate)) {
    const rows = await rowsOf(store, aggregate, seqs);
    seqs.forEach((seq, i) => {
      const row = rows[i];
      // A row that went between the two reads is looked at as missing.
      if (row === undefined) return;
      missing.delete(seq);
      const fault = claims.faultOf(seq, row);
      if (fault !== undefined) faults.push(fault);
    });
  }
  for (const seq of missing) faults.push({ seq, what: 'value_missing' });
  return faults.toSorted((a, b) => a.seq - b.seq);
}

async function rowsOf(
  store: StorageBackend,
  { tenant, workflow }: Aggregate,
  seqs: readonly number[],
): Promise<readonly (VaultRow | 'damaged' | undefined)[]> {
  const keys = seqs.map((seq) => ({ kind: 'vault', tenant, workflow, seq }) as const);
  try {
    return await store.snapshot(keys);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // One damaged row spoils its snapshot: alone it says which.
    if (keys.length === 1) return ['damaged'];
    const rows: (VaultRow | 'damaged' | undefined)[] = [];
    for (const seq of seqs) rows.push(...(await rowsOf(store, { tenant, workflow }, [seq])));
    return rows;
  }
}
