// The orchestrator port: where the work of a run is done, in short executions that have names.

/** What an execution is given: ids only, everything else is read from the store. */
export interface RunWork {
  readonly tenant: string;
  readonly run: string;
  readonly attempt: number;
}

/** `ended`: it is over, whichever way. `absent`: nothing of that name was ever begun, or it is forgotten. */
export type ExecutionStatus = 'running' | 'ended' | 'absent';

/**
 * Starts work. Both calls settle before `deadlineMs` (epoch milliseconds) and throw a `DeliveryError`
 * where they cannot: retryable for a service that is busy or full, unknown where it may have begun.
 */
export interface Orchestrator {
  /** Begins an execution; a name that was begun before is a success and begins nothing. */
  start(name: string, work: RunWork, deadlineMs: number): Promise<void>;
  /** What has become of an execution; asked only about work that is overdue. */
  describe(name: string, deadlineMs: number): Promise<ExecutionStatus>;
}
