// One look at what is due in a shard: delivers outbox rows, and repairs what has drifted, under a lease
// whose epoch every repair carries. Invariant I5: whoever was overtaken changes nothing.
import { isHopeless, type Dispatcher, type DrainCounts } from '../dispatch/dispatcher.ts';
import type { RepairContext } from '../decide/lost-lock.ts';
import { isFault } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import { compilePlan } from '../plan.ts';
import type { Clock, Random } from '../ports/runtime.ts';
import type { StorageBackend, Transaction } from '../ports/storage.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import { createAfterLook, type Looked, type LookOptions } from './after-look.ts';
import { books } from './books.ts';
import { duePages, isDue } from './due-shards.ts';
import { nextLook } from './due-time.ts';
import { lostLock } from './lost-lock.ts';
import { observe } from './observe.ts';
import { orphanLock } from './orphan-lock.ts';
import { SweepTally } from './notes.ts';
import { overdue } from './overdue.ts';
import { undecided } from './undecided.ts';
import { reconciler } from './reconciler.ts';
import type { Finding, Repair, Rule, RuleFunction } from './rules.ts';
import { createRunLook, type RunPorts } from './run-look.ts';
import { RECONCILE } from './timing.ts';

/** What a sweep works with. */
export interface SweepParts {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: Random;
  /** The sinks that notifications of repairs are written for. */
  readonly sinks: readonly string[];
  readonly onFinding?: (finding: Finding) => void;
  /** Whom it asks about runs; left out, runs are looked at as far as the store alone can tell. */
  readonly runPorts?: RunPorts;
}

/** How a sweep is made. Nothing more is begun once `goOn` answers false. */
export interface SweepOptions {
  readonly goOn: () => boolean;
  /** The holder of the lease; whoever comes back under the same name takes it over from its former self. */
  readonly by?: string;
  /** Takes no lease and writes nothing. */
  readonly dryRun?: boolean;
  /** Only these rules; all where left out. */
  readonly rules?: readonly Rule[];
}

/** What one sweep of a shard did. */
export interface SweepReport {
  readonly shard: number;
  /** `idle`: nothing was due. `held`: somebody else has the lease. `lost`: somebody took it over. */
  readonly end: 'done' | 'idle' | 'held' | 'lost' | 'out_of_time';
  readonly delivered: DrainCounts;
  /** Workflows that were looked at. */
  readonly looked: number;
  /** Those that could not be judged now; they are looked at again soon. */
  readonly postponed: number;
  /** How much each rule found, also beyond the findings that are carried. */
  readonly counts: { readonly [R in Rule]?: number };
  readonly findings: readonly Finding[];
}

/** Sweeps shards. */
export interface Sweeper {
  sweep(shard: number, options: SweepOptions): Promise<SweepReport>;
}

const ORDER: readonly (readonly [Rule, RuleFunction])[] = [
  ['R4', orphanLock],
  ['R5', lostLock],
  ['R7', undecided],
  ['R6', overdue],
  ['R8', books],
];
const NOTHING: DrainCounts = { delivered: 0, failed: 0, parked: 0, lost: 0 };
/** How often one workflow is looked at anew in one sweep, because it moved or was repaired. */
const LOOKS = 8;
/** What is told of a look that fails by an error of this program. */
const UNJUDGED = { rule: 'R8', what: 'a look at it failed in a way that is not known' } as const;
/** How many lanes are worked on at a time. */
const LANES = 4;

/** Builds a sweeper; every one in the world has a name of its own. */
export function createSweeper(parts: SweepParts): Sweeper {
  const { store, registry, dispatcher, clock, random, sinks } = parts;
  const ownName = random.id();
  const lookAtRun = createRunLook(parts);
  const { settle, putOff } = createAfterLook(parts);

  return {
    sweep: async (shard, { goOn, by = ownName, dryRun = false, rules }) => {
      const runs = (rule: Rule): boolean => rules === undefined || rules.includes(rule);
      const report = { shard, delivered: NOTHING, looked: 0, postponed: 0, counts: {} };
      const findings: Finding[] = [];
      const now = clock.now();
      if (!(await isDue(store, shard, now))) return { ...report, end: 'idle', findings };
      let lease = dryRun
        ? undefined
        : await store.takeLease(shard, by, { now, until: now + RECONCILE.leaseMs });
      if (lease === undefined && !dryRun) return { ...report, end: 'held', findings };
      const tally = new SweepTally();
      const found = (finding: Finding): void => {
        tally.add(finding);
        if (findings.length < LIMITS.sweepFindings.max) findings.push(finding);
        parts.onFinding?.(finding);
      };
      let damage: Error | undefined;
      // What stands damaged in the outbox keeps no work from being repaired; it is told at the end.
      const damaged = (error: unknown): DrainCounts => {
        if (!isHopeless(error)) throw error;
        damage = error;
        return NOTHING;
      };
      const ended = async (end: SweepReport['end']): Promise<SweepReport> => {
        if (!dryRun) await store.noteSweep(tally.note({ shard, end }, clock.now()));
        if (end === 'done' && damage !== undefined) throw damage;
        return { ...report, counts: tally.found(), end, findings };
      };
      try {
        if (!dryRun && (runs('R2') || runs('R3'))) {
          report.delivered = await dispatcher.drainDue(shard, goOn, LANES).catch(damaged);
        }
        if (!ORDER.some(([rule]) => runs(rule))) return await ended('done');
        for await (const items of duePages(store, shard, now, goOn)) {
          if (lease !== undefined) {
            lease = await store.renewLease(lease, clock.now() + RECONCILE.leaseMs);
            if (lease === undefined) return await ended('lost');
          }
          for (const { key } of items) {
            if (key.kind === 'outbox') continue;
            if (!goOn()) return await ended('out_of_time');
            const { tenant, id } = key;
            const options: LookOptions = { lease, runs, found };
            const lookAt = key.kind === 'run' ? lookAtRun : look;
            // What fails over one of them keeps no other from being looked at; it is told at the end.
            const looked = await lookAt(tenant, id, options).catch((error: unknown) => {
              if (isFault(error)) throw error;
              damage ??= error as Error;
              return putOff(tenant, id, options, UNJUDGED);
            });
            if (looked === 'lost') return await ended('lost');
            report.looked += 1;
            if (looked === 'later') report.postponed += 1;
          }
        }
        return await ended(goOn() ? 'done' : 'out_of_time');
      } finally {
        if (lease !== undefined) await store.releaseLease(lease).catch(() => false);
      }
    },
  };

  /** Looks at one workflow until nothing is wrong with it, and sets the time of the next look. */
  async function look(tenant: string, id: string, options: LookOptions): Promise<Looked> {
    const { lease, runs, found } = options;
    let stuck: Repair | undefined;
    for (let n = 1; n <= LOOKS; n++) {
      try {
        const seen = await observe(store, registry, tenant, id);
        if (seen === undefined) continue;
        const { workflow } = seen;
        const next = (now: number): number | undefined => nextLook(workflow, now);
        const context: RepairContext = { principal: reconciler(tenant), now: clock.now(), sinks };
        let repair: Repair | undefined;
        for (const [rule, find] of ORDER) {
          if (workflow.frozen !== undefined || !runs(rule)) continue;
          repair ??= find(seen, context);
        }
        if (repair === undefined) return await settle(workflow, next, options);
        const { rule, finding: what, work } = repair;
        const about = { rule, tenant, workflow: id, what };
        if (lease === undefined) {
          found({ ...about, repaired: false });
          return 'well';
        }
        const transaction: Transaction =
          work.kind === 'plan' ? compilePlan(work.plan) : { writes: work.writes };
        const deadline = clock.now() + RECONCILE.tickMs;
        const result = await store.commit({ ...transaction, lease }, deadline);
        if (result.ok) {
          found({ ...about, repaired: true });
          continue;
        }
        if (result.leaseLost === true) return 'lost';
        stuck = repair;
        // An event where the next one belongs is no race: only the trail can tell what it is.
        const kinds = result.failed.map(({ key }) => key.kind);
        if (kinds.includes('event') && !kinds.includes('workflow')) {
          return await settle(workflow, next, options);
        }
      } catch (error) {
        if (!isFault(error) || error.kind === 'unknown') throw error;
        return putOff(tenant, id, options, { rule: 'R8', what: error.code });
      }
    }
    const why = stuck && { rule: stuck.rule, what: stuck.finding };
    return putOff(tenant, id, options, why);
  }
}
