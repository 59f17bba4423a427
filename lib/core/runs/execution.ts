// Starts of the work of runs: what executions are called, and the target of the lane that starts them.
import { sha256Hex } from '../canonical.ts';
import { WORKING } from '../model/run.ts';
import type { Orchestrator, RunWork } from '../ports/orchestrator.ts';
import { DeliveryError, type NotificationSink } from '../ports/sink.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { ORCHESTRATE } from '../dispatch/new-row.ts';

/** The name of an attempt's execution: at most 80 characters of letters, digits and `-`. */
export function executionName({ tenant, run, attempt }: RunWork): string {
  return `run-${sha256Hex(JSON.stringify([tenant, run])).slice(0, 40)}-${attempt}`;
}

/**
 * The target of the lane `orchestrate`. A row of an attempt that is over, or of a run that waits for
 * nobody's work, starts nothing, however late it is delivered or sent again.
 */
export function starter(
  store: Pick<StorageBackend, 'snapshot'>,
  orchestrator: Orchestrator,
): NotificationSink {
  return {
    name: ORCHESTRATE,
    deliver: async ({ tenant, payload }, deadlineMs) => {
      const { run: id, attempt } = payload;
      if (typeof id !== 'string' || typeof attempt !== 'number') {
        throw new DeliveryError('terminal', 'the row names no run');
      }
      const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
      if (run?.attempt !== attempt || !WORKING.has(run.state)) return;
      if (run.frozen !== undefined) throw new DeliveryError('retryable', 'the run is frozen');
      const work = { tenant, run: id, attempt };
      await orchestrator.start(executionName(work), work, deadlineMs);
    },
  };
}
