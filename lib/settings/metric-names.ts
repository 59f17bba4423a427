/**
 * The metrics that the functions emit: the one table for the code that counts and for the alarms that
 * watch. Plain data.
 */

/** Where CloudWatch keeps them. */
export const METRIC_NAMESPACE = 'Checkpoint';

/** The dimension of every metric: which function counted, and for which stage. */
export const METRIC_DIMENSIONS = { service: 'service', tool: 'tool' } as const;

/** The functions of a stage. */
export type FunctionName = 'http' | 'relay' | 'reconcile' | 'run';

/** The value of the dimension `service` of a function of a stage. */
export function serviceName(stage: string, name: FunctionName): string {
  return `checkpoint-${stage}-${name}`;
}

/** Every metric: its name, its unit, and what one of it means. */
export const METRICS = {
  toolLatency: {
    name: 'ToolLatency',
    unit: 'Milliseconds',
    means: 'time from a tool call to its answer, by tool as well',
  },
  duplicates: {
    name: 'Duplicates',
    unit: 'Count',
    means: 'a command that had taken effect before and was answered with its first receipt',
  },
  conflicts: {
    name: 'IdempotencyConflicts',
    unit: 'Count',
    means: 'a key that came again with other arguments',
  },
  lockContention: {
    name: 'AssetBusy',
    unit: 'Count',
    means: 'a start that was refused because somebody has the asset',
  },
  faults: {
    name: 'Faults',
    unit: 'Count',
    means: 'a command or a read that was answered BACKEND_UNAVAILABLE',
  },
  serverErrors: {
    name: 'ServerErrors',
    unit: 'Count',
    means: 'an answer with a status of 500 or more',
  },
  timeouts: {
    name: 'Timeouts',
    unit: 'Count',
    means: 'an answer 504: the work took longer than the function has',
  },
  failedStarts: {
    name: 'FailedStarts',
    unit: 'Count',
    means: 'a process that could not read its settings, secrets or procedures; it tries again',
  },
  delivered: {
    name: 'Delivered',
    unit: 'Count',
    means: 'a notification that its receiver accepted',
  },
  failed: {
    name: 'DeliveryFailed',
    unit: 'Count',
    means: 'an attempt that failed; the row is due again later',
  },
  parked: {
    name: 'DeliveryParked',
    unit: 'Count',
    means: 'a row that waits for a person, because it was refused or failed too often',
  },
  lost: {
    name: 'DeliveryLost',
    unit: 'Count',
    means: 'an attempt whose claim ran out and was taken over before it was settled',
  },
  deliveryAge: {
    name: 'DeliveryAge',
    unit: 'Milliseconds',
    means: 'time from an event to the acceptance of its notification',
  },
  foreignRecords: {
    name: 'ForeignRecords',
    unit: 'Count',
    means: 'a record of the stream that names no outbox row',
  },
  ticks: {
    name: 'Ticks',
    unit: 'Count',
    means: 'a look at all shards for what is due',
  },
  oldestWaiting: {
    name: 'OldestWaiting',
    unit: 'Milliseconds',
    means:
      'how long the oldest thing waits: due work at each look, a row after each failed attempt',
  },
  brokenTrails: {
    name: 'BrokenTrails',
    unit: 'Count',
    means:
      'a look at work whose trail does not verify; again at each look until a person has looked',
  },
  sweeps: {
    name: 'Sweeps',
    unit: 'Count',
    means: 'a shard with due work that was swept',
  },
  shardsFailed: {
    name: 'ShardsFailed',
    unit: 'Count',
    means: 'a shard that was not swept in a tick after every retry',
  },
  leasesLost: {
    name: 'LeasesLost',
    unit: 'Count',
    means: 'a sweep that ended because somebody else took the lease over',
  },
  repairs: {
    name: 'Repairs',
    unit: 'Count',
    means: 'drift that was found and repaired',
  },
  overdue: {
    name: 'Overdue',
    unit: 'Count',
    means: 'a deadline, a reminder or an escalation whose time had come, and that was told',
  },
  drift: {
    name: 'DriftLeft',
    unit: 'Count',
    means: 'drift that was found and is left for a person or a later sweep',
  },
  coldStart: {
    name: 'ColdStart',
    unit: 'Count',
    means: 'the first call of a process',
  },
} as const satisfies Readonly<
  Record<string, { readonly name: string; readonly unit: string; readonly means: string }>
>;
