// What works on one attempt of a run: the worker on a store, with the planner and what it asks.
import type { RunWork } from '../core/ports/orchestrator.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { TicketProvider } from '../core/ports/tickets.ts';
import type { RunService } from '../core/runs/service.ts';
import { createWorker } from '../core/runs/worker.ts';
import { systemClock } from '../adapters/runtime/system.ts';
import { incidentPlanner } from '../policies/incident-tickets/planner.ts';
import type { Evidence } from './evidence.ts';

/** What the work is done with. */
export interface RunWorkParts {
  readonly store: StorageBackend;
  readonly runs: Pick<RunService, 'advance'>;
  readonly tickets: TicketProvider;
}

/** Works on it with the given evidence until its end; a signal closes what is waited for. */
export async function workOn(
  { store, runs, tickets }: RunWorkParts,
  { source, allowlist, bounds }: Evidence,
  of: RunWork,
  signal?: AbortSignal,
): Promise<void> {
  // A tool that is waited for would hold up the end of the process.
  const cutOff = (): void => void source.close();
  signal?.addEventListener('abort', cutOff, { once: true });
  const works = createWorker({
    store,
    service: runs,
    clock: systemClock,
    planner: incidentPlanner(allowlist),
    evidence: { source, allowlist, bounds, clock: systemClock },
    tickets,
  });
  try {
    await works(of, signal);
  } finally {
    signal?.removeEventListener('abort', cutOff);
  }
}
