// What sweeps did, day by day, kept for people: bookkeeping beside the business, for a bounded time.
// Findings of one tenant are listed to that tenant alone; when a shard was swept concerns everybody.

/** One finding, of the tenant it is listed for. */
export interface NotedFinding {
  readonly rule: string;
  readonly workflow: string;
  readonly what: string;
  readonly repaired: boolean;
}

/** How often a rule found something on a day, and how often that was put right. */
export interface RuleCount {
  readonly rule: string;
  readonly found: number;
  readonly repaired: number;
}

/** What one sweep of a shard did. */
export interface SweepNote {
  /** The day in UTC, as `2026-03-01`. */
  readonly day: string;
  readonly at: string;
  readonly shard: number;
  readonly end: string;
  readonly tenants: readonly {
    readonly tenant: string;
    readonly counts: readonly RuleCount[];
    /** The first of them. */
    readonly findings: readonly NotedFinding[];
  }[];
  /** Findings of more sweeps than this of one shard and tenant are counted on a day, and not kept. */
  readonly keptMost: number;
  /** The first day that is still kept, and when this note goes, in epoch seconds. */
  readonly keptFrom: string;
  readonly expires_at: number;
}

/** The sweeps of one shard on a day, as far as there was work. */
export interface ShardSweeps {
  readonly shard: number;
  readonly sweeps: number;
  readonly last_at: string;
  readonly last_end: string;
}

/** Findings of one sweep. */
export interface SweepFindings {
  readonly at: string;
  readonly shard: number;
  readonly findings: readonly NotedFinding[];
}

/** The book of sweeps. Notes may be counted twice after a lost answer; nothing is decided by them. */
export interface SweepBook {
  /** Adds a sweep to its day. */
  noteSweep(note: SweepNote): Promise<void>;
  /** The sweeps of a day by shard. */
  listSweeps(day: string): Promise<readonly ShardSweeps[]>;
  /** What the rules found in a tenant on a day, by rule. */
  countFindings(tenant: string, day: string): Promise<readonly RuleCount[]>;
  /** Findings in a tenant on a day, the earliest first. */
  listFindings(
    tenant: string,
    day: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly items: readonly SweepFindings[]; readonly next?: string }>;
}
