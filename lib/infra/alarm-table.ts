/**
 * The alarms of a stage in one table: what each watches, when it rings, and the page that says what to do.
 * Own metrics stand under the names of `lib/settings/metric-names.ts`; the rest are the platform's. Plain
 * data.
 */
import type { FunctionName, METRICS } from '../settings/metric-names.ts';

/** What is measured: a metric of ours by the functions that emit it, or one of the platform. */
export type Watched =
  | {
      readonly metric: keyof typeof METRICS;
      readonly of: readonly FunctionName[];
      readonly statistic: 'Sum' | 'Maximum' | 'p99';
    }
  | { readonly platform: 'failedExecutions' | 'unfinishedRuns' | 'throttles' | 'failedBatches' };

/** One alarm. */
export interface AlarmRow {
  /** The page below `docs/runbooks`, without its ending. */
  readonly page: string;
  readonly says: string;
  readonly watches: Watched;
  readonly rings: 'at_or_above' | 'below';
  readonly threshold: number;
  readonly periodMinutes: number;
  /** How many of how many periods have to be past the threshold. */
  readonly periods: { readonly of: number; readonly past: number };
  /** Whether silence counts as trouble. */
  readonly silence: 'well' | 'trouble';
}

const often = { periodMinutes: 5, periods: { of: 1, past: 1 }, silence: 'well' } as const;

/** Every alarm by its name. */
export const ALARMS = {
  OldestOutboxRow: {
    ...often,
    page: 'oldest-outbox-row',
    says: 'A notification or other due work has waited for more than 15 minutes.',
    watches: { metric: 'oldestWaiting', of: ['reconcile'], statistic: 'Maximum' },
    rings: 'at_or_above',
    threshold: 900_000,
    // A failing row is tried every half hour at least, so one such period keeps the alarm on.
    periods: { of: 6, past: 1 },
  },
  ParkedRows: {
    ...often,
    page: 'parked-rows',
    says: 'Notifications were given up and wait for a person.',
    watches: { metric: 'parked', of: ['relay', 'reconcile'], statistic: 'Sum' },
    rings: 'at_or_above',
    threshold: 1,
  },
  SweepsFailed: {
    page: 'sweeps-failed',
    says: 'Executions of the reconciler failed or ran out of time.',
    watches: { platform: 'failedExecutions' },
    rings: 'at_or_above',
    threshold: 1,
    periodMinutes: 1,
    periods: { of: 5, past: 3 },
    silence: 'well',
  },
  RunsUnfinished: {
    ...often,
    page: 'runs-unfinished',
    says: 'The work of runs did not come to its end, again and again.',
    watches: { platform: 'unfinishedRuns' },
    rings: 'at_or_above',
    threshold: 1,
    // The next attempt of one run comes after a few minutes, so one bad attempt alone is not told.
    periods: { of: 4, past: 2 },
  },
  SweepsMissing: {
    ...often,
    page: 'sweeps-missing',
    says: 'The reconciler has not looked for due work for five minutes.',
    watches: { metric: 'ticks', of: ['reconcile'], statistic: 'Sum' },
    rings: 'below',
    threshold: 1,
    silence: 'trouble',
  },
  BrokenTrail: {
    page: 'broken-trail',
    says: 'An audit trail does not verify; its work is frozen.',
    watches: { metric: 'brokenTrails', of: ['reconcile'], statistic: 'Sum' },
    rings: 'at_or_above',
    threshold: 1,
    // Frozen work is found again every hour.
    periodMinutes: 60,
    periods: { of: 2, past: 1 },
    silence: 'well',
  },
  LeaseLost: {
    page: 'lease-lost',
    says: 'Sweeps were overtaken again and again.',
    watches: { metric: 'leasesLost', of: ['reconcile'], statistic: 'Sum' },
    rings: 'at_or_above',
    threshold: 1,
    periodMinutes: 5,
    periods: { of: 3, past: 2 },
    silence: 'well',
  },
  ServerErrors: {
    page: 'server-errors',
    says: 'Callers were answered with a status of 500 or more.',
    watches: { metric: 'serverErrors', of: ['http'], statistic: 'Sum' },
    rings: 'at_or_above',
    threshold: 5,
    periodMinutes: 5,
    periods: { of: 2, past: 2 },
    silence: 'well',
  },
  Throttles: {
    ...often,
    page: 'throttles',
    says: 'Calls of the functions were throttled.',
    watches: { platform: 'throttles' },
    rings: 'at_or_above',
    threshold: 1,
    periods: { of: 3, past: 2 },
  },
  SlowAnswers: {
    ...often,
    page: 'slow-answers',
    says: 'One of a hundred tool calls took more than two seconds.',
    watches: { metric: 'toolLatency', of: ['http'], statistic: 'p99' },
    rings: 'at_or_above',
    threshold: 2_000,
    periods: { of: 3, past: 3 },
  },
  FailedBatches: {
    ...often,
    page: 'failed-batches',
    says: 'Batches of the stream were given up; their rows wait for a sweep.',
    watches: { platform: 'failedBatches' },
    rings: 'at_or_above',
    threshold: 1,
  },
} as const satisfies Readonly<Record<string, AlarmRow>>;
