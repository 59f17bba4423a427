// The work of runs in a local process: a bounded pool, and what starts it, looks after it and ends it.
import { createWorkPool } from '../adapters/runtime/work-pool.ts';
import { systemClock } from '../adapters/runtime/system.ts';
import type { RunWork } from '../core/ports/orchestrator.ts';
import type { NotificationSink } from '../core/ports/sink.ts';
import type { RunPorts } from '../core/reconcile/run-look.ts';
import { starter, takeUp } from '../core/runs/execution.ts';
import type { Evidence } from './evidence.ts';
import { workOn, type RunWorkParts } from './run-work.ts';

/** What the work is done with. */
export interface LocalRunsParts extends RunWorkParts {
  /** Asked for with the first work, because an MCP client takes longer to load than a server to start. */
  readonly evidence: () => Promise<Evidence>;
  /** Told of work that was cut off; its run stays as it is, and is begun again. */
  readonly onError: (error: unknown) => void;
}

/** The work of runs. */
export interface LocalRuns {
  /** The target of the lane `orchestrate`. */
  readonly starter: NotificationSink;
  /** Whom a sweep asks about runs. */
  readonly ports: RunPorts;
  /** Begins again what an earlier process has left at work. */
  takeUp(): Promise<number>;
  /** Begins nothing more, waits a moment for what goes on, then cuts it off: the store keeps its place. */
  stop(): Promise<void>;
}

/** How long work may go on once the process is asked to stop, in milliseconds. */
const GRACE_MS = 3_000;

/** Starts it. */
export function startLocalRuns(parts: LocalRunsParts): LocalRuns {
  const { store, tickets, onError } = parts;
  let stopped = false;
  const work = async (of: RunWork, signal: AbortSignal): Promise<void> =>
    workOn(parts, await parts.evidence(), of, signal);
  const pool = createWorkPool({ work, onError });
  return {
    starter: starter(store, pool),
    ports: { orchestrator: pool, tickets },
    takeUp: () => takeUp(store, pool, systemClock, () => !stopped),
    stop: async () => {
      stopped = true;
      await pool.stop(GRACE_MS);
    },
  };
}
