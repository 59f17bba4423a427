// Bookkeeping of the store in memory: leases, people, digests of procedures and the book of sweeps.
import { isAhead } from '../../../lib/core/ahead.ts';
import { LIMITS } from '../../../lib/core/limits.ts';
import type { Profile } from '../../../lib/core/model/workflow.ts';
import { foldName } from '../../../lib/core/names.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../../lib/core/pages.ts';
import type { Lease, StorageBackend } from '../../../lib/core/ports/storage.ts';
import type {
  RuleCount,
  ShardSweeps,
  SweepBook,
  SweepFindings,
} from '../../../lib/core/ports/sweeps.ts';
import { summed, SWEEP_PART } from '../../../lib/core/sweep-book.ts';

/** Leases, and whether one is still its holder's. */
export type Leases = Pick<StorageBackend, 'takeLease' | 'renewLease' | 'releaseLease'> & {
  readonly holds: (lease: Lease) => boolean;
};

/** One lease a shard, whose epoch grows with every taking. */
export function createLeases(): Leases {
  const leases = new Map<number, Lease>();
  const holds = ({ shard, epoch, by }: Lease): boolean => {
    const found = leases.get(shard);
    return found?.epoch === epoch && found.by === by;
  };
  return {
    holds,
    takeLease: async (shard, by, { now, until }) => {
      const before = leases.get(shard);
      if (before !== undefined && before.by !== by && isAhead(before.until, now, until - now)) {
        return undefined;
      }
      const lease = { shard, epoch: (before?.epoch ?? 0) + 1, by, until };
      leases.set(shard, lease);
      return lease;
    },
    renewLease: async (lease, until) => {
      if (!holds(lease)) return undefined;
      leases.set(lease.shard, { ...lease, until });
      return { ...lease, until };
    },
    releaseLease: async (lease) => {
      if (!holds(lease)) return false;
      leases.set(lease.shard, { ...lease, until: 0 });
      return true;
    },
  };
}

/** People and digests. */
export function createBookkeeping(): Pick<
  StorageBackend,
  'noteProfile' | 'findProfiles' | 'registerProcedure'
> {
  const profiles = new Map<string, Profile>();
  const digests = new Map<string, string>();
  return {
    noteProfile: async ({ tenant, subject, name }) => {
      profiles.set(JSON.stringify([tenant, subject]), { tenant, subject, name });
    },
    findProfiles: async (tenant, text, limit) => {
      const own = [...profiles.values()].filter((one) => one.tenant === tenant);
      const exact = own.filter(({ subject }) => subject === text);
      const named = own.filter(
        ({ subject, name }) => subject !== text && foldName(name) === foldName(text),
      );
      const sorted = named.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
      return [...exact, ...sorted].slice(0, limit);
    },
    registerProcedure: async (id, version, digest) => {
      const key = JSON.stringify([id, version]);
      const first = digests.get(key) ?? digest;
      digests.set(key, first);
      return first;
    },
  };
}

interface Counts {
  readonly rows: number;
  readonly counts: readonly RuleCount[];
}

/** The book of sweeps, by day and part. */
export function createSweepBook(): SweepBook {
  const days = new Map<string, Map<string, object>>();
  const list = <T>(day: string, prefix: string): readonly (readonly [string, T])[] =>
    [...(days.get(day) ?? [])]
      .filter(([part]) => part.startsWith(prefix))
      .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([part, body]) => [part, body as T]);

  return {
    noteSweep: async ({ day, at, shard, end, tenants, keptMost, keptFrom }) => {
      for (const old of [...days.keys()].filter((one) => one < keptFrom)) days.delete(old);
      const parts = days.get(day) ?? new Map<string, object>();
      days.set(day, parts);
      const own = SWEEP_PART.shard(shard);
      const sweeps = ((parts.get(own) as ShardSweeps | undefined)?.sweeps ?? 0) + 1;
      parts.set(own, { shard, sweeps, last_at: at, last_end: end });
      for (const { tenant, counts, findings } of tenants) {
        const part = SWEEP_PART.countsOf(tenant, shard);
        const before = (parts.get(part) as Counts | undefined) ?? { rows: 0, counts: [] };
        const rows = before.rows + 1;
        parts.set(part, { rows, counts: summed([...before.counts, ...counts]) });
        if (rows > keptMost || findings.length === 0) continue;
        parts.set(SWEEP_PART.findingsAt(tenant, at, shard), { at, shard, findings });
      }
    },
    listSweeps: async (day) =>
      list<ShardSweeps>(day, SWEEP_PART.shards).map(([, sweeps]) => sweeps),
    countFindings: async (tenant, day) =>
      summed(list<Counts>(day, SWEEP_PART.counts(tenant)).flatMap(([, { counts }]) => counts)),
    listFindings: async (tenant, day, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const name = ['findings', tenant, day];
      const prefix = SWEEP_PART.findings(tenant);
      const from = after === undefined ? prefix : readCursor(name, after)[0];
      if (!from.startsWith(prefix)) throw foreignCursor();
      const found = list<SweepFindings>(day, prefix).filter(([part]) => part > from);
      const shown = found.slice(0, limit);
      const items = shown.map(([, findings]) => findings);
      const last = shown.at(-1);
      if (found.length <= limit || last === undefined) return { items };
      return { items, next: writeCursor(name, [last[0], '']) };
    },
  };
}
