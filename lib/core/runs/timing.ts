// Times of runs, in milliseconds.

/** How long each part of a run may take. */
export const RUN = {
  /** How long the work of one attempt takes at most, before it counts as overdue. */
  workMs: 300_000,
  /** How long one call of a planner, a tool or a provider may take. */
  callMs: 20_000,
  /** How long one step of a worker may take in the store. */
  stepMs: 10_000,
  /** How long a proposal can be approved. */
  approveMs: 3_600_000,
  /** How long after that its write may still be sent. */
  sendMs: 900_000,
  /** How long a keyless repeat of a creation attaches to the run it created. */
  attachMs: 600_000,
  /** How long a run at its end waits for its last look. */
  lastCheckMs: 60_000,
} as const;
