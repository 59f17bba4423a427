/** Times of the reconciler, in milliseconds. */
export const RECONCILE = {
  /** How often an active workflow is looked at. */
  checkMs: 3_600_000,
  /** How long after its end a workflow is looked at for the last time. */
  lastCheckMs: 60_000,
  /** How often the whole of what is due is looked for. */
  tickMs: 60_000,
  /** How long the lease of a shard lasts: three batches and the skew of two clocks. */
  leaseMs: 240_000,
  /** How long somebody outside has to answer a question of a sweep. */
  askMs: 10_000,
  /** No look and no delivery is put off further than this; what lies beyond was written by a clock ahead. */
  furthestMs: 7_200_000,
  /** The minute of each hour in which is looked for what lies beyond. */
  aheadMinute: 17,
  /** How long a workflow waits that cannot be looked at now. */
  laterMs: 300_000,
} as const;
