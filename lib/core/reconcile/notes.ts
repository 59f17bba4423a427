// The book of sweeps: what goes into it, what is read from it, and for how long it is kept.
import { cutAtChars } from '../cut.ts';
import { dayOf } from '../instant.ts';
import { LIMITS } from '../limits.ts';
import type { RuleCount, ShardSweeps, SweepFindings, SweepNote } from '../ports/sweeps.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { Finding, Rule } from './rules.ts';

const DAY_MS = 86_400_000;

/** The first day that is kept at a time in epoch milliseconds. */
export const keptFrom = (now: number): string => dayOf(now - LIMITS.sweepDays.max * DAY_MS);

/** Yesterday and today, at a time in epoch milliseconds. */
export const recentDays = (now: number): readonly string[] => [dayOf(now - DAY_MS), dayOf(now)];

interface TenantTally {
  readonly counts: Map<Rule, RuleCount>;
  readonly findings: Finding[];
}

const emptyTally = (): TenantTally => ({ counts: new Map(), findings: [] });

/**
 * Collects the findings of one sweep: all are counted, and the first ones of each tenant kept. What is
 * left for a person goes before what was repaired.
 */
export class SweepTally {
  readonly #tenants = new Map<string, TenantTally>();

  add(finding: Finding): void {
    const { tenant, rule, repaired } = finding;
    const of = this.#tenants.get(tenant) ?? emptyTally();
    this.#tenants.set(tenant, of);
    const before = of.counts.get(rule) ?? { rule, found: 0, repaired: 0 };
    const { found, repaired: many } = before;
    of.counts.set(rule, { rule, found: found + 1, repaired: many + Number(repaired) });
    const { findings } = of;
    if (findings.length >= LIMITS.sweepFindings.max) {
      const place = repaired ? -1 : findings.findLastIndex((one) => one.repaired);
      if (place === -1) return;
      findings.splice(place, 1);
    }
    findings.push(finding);
  }

  /** How much each rule found, of all tenants. */
  found(): { readonly [R in Rule]?: number } {
    const sums: { [R in Rule]?: number } = {};
    for (const { counts } of this.#tenants.values()) {
      for (const [rule, { found }] of counts) sums[rule] = (sums[rule] ?? 0) + found;
    }
    return sums;
  }

  /** The note of the sweep; `now` is in epoch milliseconds. */
  note(about: Pick<SweepNote, 'shard' | 'end'>, now: number): SweepNote {
    const tenants = [...this.#tenants].map(([tenant, { counts, findings }]) => ({
      tenant,
      counts: [...counts.values()],
      findings: findings.map(({ rule, workflow, what, repaired }) => {
        const short = cutAtChars(what, LIMITS.findingChars.max);
        return { rule, workflow, what: short, repaired };
      }),
    }));
    return {
      ...about,
      tenants,
      day: dayOf(now),
      at: new Date(now).toISOString(),
      keptMost: LIMITS.notedSweeps.max,
      keptFrom: keptFrom(now),
      expires_at: Math.ceil(now / 1_000) + LIMITS.sweepDays.max * 86_400,
    };
  }
}

/** A day of the reconciler as one tenant sees it. */
export interface SweepDay {
  readonly day: string;
  readonly shards: readonly ShardSweeps[];
  readonly counts: readonly RuleCount[];
}

/** Reads a day; one that is not kept any more is empty, whatever is still stored of it. */
export async function sweepDay(
  store: StorageBackend,
  tenant: string,
  day: string,
  now: number,
): Promise<SweepDay> {
  if (day < keptFrom(now)) return { day, shards: [], counts: [] };
  const shards = await store.listSweeps(day);
  return { day, shards, counts: await store.countFindings(tenant, day) };
}

/** A page of findings; one of a day that is not kept any more is empty. */
export async function findingsOf(
  store: StorageBackend,
  tenant: string,
  at: { readonly day: string; readonly now: number },
  page: { readonly after?: string; readonly limit: number },
): Promise<{ readonly items: readonly SweepFindings[]; readonly next?: string }> {
  if (at.day < keptFrom(at.now)) return { items: [] };
  return store.listFindings(tenant, at.day, page);
}
