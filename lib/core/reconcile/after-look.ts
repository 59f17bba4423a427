// What follows a look at a workflow or a run: where nothing is to be repaired its trail is verified, and
// the time of its next look is set. A broken trail is frozen, and told until a person has looked.
import { recordKey, type Trailed } from '../model/aggregate.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Lease, StorageBackend } from '../ports/storage.ts';
import { dueNext } from './due-time.ts';
import type { Finding, Rule } from './rules.ts';
import { RECONCILE } from './timing.ts';
import { brokenTrail, frozenAt } from './trail-check.ts';

/** How a look is made: with a lease or, for a dry run, without one. */
export interface LookOptions {
  readonly lease: Lease | undefined;
  readonly runs: (rule: Rule) => boolean;
  readonly found: (finding: Finding) => void;
}

/** What became of a look; `later`: it could not be judged now. */
export type Looked = 'well' | 'later' | 'lost';

/** Builds the ends of looks. */
export function createAfterLook({
  store,
  clock,
}: {
  readonly store: StorageBackend;
  readonly clock: Clock;
}) {
  return {
    /** Nothing has drifted: the trail is verified, and the next look is when `next` says, if ever. */
    settle: async (
      record: Trailed & Pick<Workflow, 'frozen'>,
      next: (now: number) => number | undefined,
      { lease, runs, found }: LookOptions,
    ): Promise<Looked> => {
      const { tenant, id, frozen } = record;
      const told = (what: string): void => {
        found({ rule: 'R8', tenant, workflow: id, what, repaired: false, broken: true });
      };
      if (runs('R8') && frozen === undefined) {
        const what = await brokenTrail(store, record);
        if (what !== undefined) {
          told(what);
          if (lease === undefined) return 'well';
          const now = clock.now();
          const writes = [frozenAt(record, what, now)];
          const result = await store.commit({ lease, writes }, now + RECONCILE.tickMs);
          return result.ok ? 'well' : result.leaseLost === true ? 'lost' : 'later';
        }
      }
      // Somebody has to look, and is told until they have.
      if (runs('R8') && frozen !== undefined) told(frozen.what);
      if (lease === undefined) return 'well';
      const now = clock.now();
      await store.keep(dueNext(record, next(now)), now + RECONCILE.tickMs);
      return 'well';
    },

    /** What cannot be judged now must not stand first in every sweep. */
    putOff: async (
      tenant: string,
      id: string,
      { lease, found }: Pick<LookOptions, 'lease' | 'found'>,
      why: Pick<Finding, 'rule' | 'what'> | undefined,
    ): Promise<'later'> => {
      if (why !== undefined) found({ ...why, tenant, workflow: id, repaired: false });
      if (lease === undefined) return 'later';
      const [record] = await store.snapshot([recordKey(tenant, id)]).catch(() => []);
      if (record === undefined) return 'later';
      const now = clock.now();
      await store.keep(dueNext(record, now + RECONCILE.laterMs), now + RECONCILE.tickMs);
      return 'later';
    },
  };
}
