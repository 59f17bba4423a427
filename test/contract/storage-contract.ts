/**
 * The contract of the storage port. Every backend runs these cases unchanged; they use the port,
 * compiled plans and the service only, and know nothing about how a backend stores anything.
 */
import { afterEach, beforeEach, describe } from '@jest/globals';
import { atomicityCases } from './storage/atomicity.ts';
import type { Bench, OpenedStore } from './storage/bench.ts';
import { bookkeepingCases } from './storage/bookkeeping.ts';
import { conditionCases } from './storage/conditions.ts';
import { deadlineCases } from './storage/deadlines.ts';
import { erasingCases } from './storage/erasing.ts';
import { dispatchCases } from './storage/dispatch.ts';
import { expiryCases } from './storage/expiry.ts';
import { keyCases } from './storage/keys.ts';
import { limitCases } from './storage/limits.ts';
import { listCases } from './storage/lists.ts';
import { lockCases } from './storage/locks.ts';
import { outboxCases } from './storage/outbox.ts';
import { overviewCases } from './storage/overview.ts';
import { proposalCases } from './storage/proposals.ts';
import { purgeCases } from './storage/purge.ts';
import { raceCases } from './storage/races.ts';
import { reasonCases } from './storage/reasons.ts';
import { reconcileCases } from './storage/reconcile.ts';
import { runReconcileCases } from './storage/reconcile-runs.ts';
import { recordCases } from './storage/records.ts';
import { refusalCases } from './storage/refusals.ts';
import { replayCases } from './storage/replays.ts';
import { runEdgeCases } from './storage/run-edges.ts';
import { runCases } from './storage/runs.ts';
import { snapshotCases } from './storage/snapshots.ts';
import { sweepBookCases } from './storage/sweep-book.ts';
import { tenancyCases } from './storage/tenancy.ts';
import { trailCases } from './storage/trails.ts';
import { timeCases } from './storage/times.ts';
import { valueCases } from './storage/values.ts';

/** How the cases get at a backend. */
export interface StorageHarness {
  /** Opens a store. It may hold items of earlier tests, whose tenants are never used again. */
  open(): Promise<OpenedStore>;
}

/** Declares the cases for one backend. */
export function storageContract(name: string, harness: StorageHarness): void {
  describe(name, () => {
    let bench: Bench | undefined;
    let n = 0;

    beforeEach(async () => {
      const opened = await harness.open();
      n += 1;
      bench = {
        ...opened,
        tenant: `t${n}`,
        otherTenant: `u${n}`,
        commit: (...writes) => opened.store.commit({ writes }, opened.clock.now() + 10_000),
      };
    });

    afterEach(async () => {
      await bench?.close();
      bench = undefined;
    });

    const use = (): Bench => {
      if (bench === undefined) throw new Error('a case runs inside a test');
      return bench;
    };

    describe('conditions', () => conditionCases(use));
    describe('atomicity', () => atomicityCases(use));
    describe('locks', () => lockCases(use));
    describe('replays', () => replayCases(use));
    describe('order of reasons', () => reasonCases(use));
    describe('races', () => raceCases(use));
    describe('tenancy', () => tenancyCases(use));
    describe('keys', () => keyCases(use));
    describe('lists', () => listCases(use));
    describe('overview', () => overviewCases(use));
    describe('outbox', () => outboxCases(use));
    describe('dispatch', () => dispatchCases(use));
    describe('reconciler', () => reconcileCases(use));
    describe('book of sweeps', () => sweepBookCases(use));
    describe('trails', () => trailCases(use));
    describe('times of a workflow', () => timeCases(use));
    describe('proposals of blocks', () => proposalCases(use));
    describe('erasing', () => erasingCases(use));
    describe('purge', () => purgeCases(use));
    describe('limits', () => limitCases(use));
    describe('refused transactions', () => refusalCases(use));
    describe('expiry', () => expiryCases(use));
    describe('values', () => valueCases(use));
    describe('runs', () => runCases(use));
    describe('edges of runs', () => runEdgeCases(use));
    describe('reconciler of runs', () => runReconcileCases(use));
    describe('records', () => recordCases(use));
    describe('bookkeeping', () => bookkeepingCases(use));
    describe('snapshots', () => snapshotCases(use));
    describe('deadlines', () => deadlineCases(use));
  });
}
