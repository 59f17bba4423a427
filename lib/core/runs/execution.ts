// Starts of the work of runs: what executions are called, and the target of the lane that starts them.
import { sha256Hex } from '../canonical.ts';
import { LIMITS } from '../limits.ts';
import { WORKING } from '../model/run.ts';
import type { Orchestrator, RunWork } from '../ports/orchestrator.ts';
import type { Clock } from '../ports/runtime.ts';
import { DeliveryError, isDeliveryError, type NotificationSink } from '../ports/sink.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { ORCHESTRATE } from '../dispatch/new-row.ts';
import { RUN } from './timing.ts';

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

/**
 * Begins again, under its own name, the work that a process that is gone has left: the same attempt, as a
 * second delivery of its row would. What cannot be begun now is left to the reconciler. Answers how many.
 */
export async function takeUp(
  store: Pick<StorageBackend, 'snapshot' | 'listDue' | 'shards'>,
  orchestrator: Pick<Orchestrator, 'start'>,
  clock: Pick<Clock, 'now'>,
  goOn: () => boolean,
): Promise<number> {
  let begun = 0;
  // Whoever is at work is due by the end of that work.
  const until = clock.now() + RUN.workMs;
  const shards = await store.shards();
  for (let shard = 0; shard < shards; shard++) {
    for (let after: string | undefined; goOn();) {
      const at = { until, limit: LIMITS.pageItems.max };
      const page = await store.listDue(shard, { ...at, ...(after !== undefined && { after }) });
      for (const { key } of page.items) {
        if (key.kind !== 'run' || !goOn()) continue;
        const [run] = await store.snapshot([key]);
        if (run === undefined || !WORKING.has(run.state) || run.frozen !== undefined) continue;
        const work = { tenant: run.tenant, run: run.id, attempt: run.attempt };
        try {
          await orchestrator.start(executionName(work), work, clock.now() + RUN.stepMs);
          begun += 1;
        } catch (error) {
          if (!isDeliveryError(error)) throw error;
        }
      }
      after = page.next;
      if (after === undefined) break;
    }
  }
  return begun;
}
