// The orchestrator of a local process: a few executions at a time, others wait, and more are refused. What
// crashes or is cut off leaves its run as it was: the reconciler finds it, overdue, and begins it again.
import { LIMITS } from '../../core/limits.ts';
import type { Orchestrator, RunWork } from '../../core/ports/orchestrator.ts';
import { DeliveryError } from '../../core/ports/sink.ts';

/** What the pool does. */
export interface WorkPoolParts {
  /** Does the work of one attempt; it ends soon after `signal` is aborted. */
  readonly work: (work: RunWork, signal: AbortSignal) => Promise<void>;
  /** Told of work that crashed. */
  readonly onError: (error: unknown) => void;
  /** How many executions go on at a time; as many as the limits allow where left out. */
  readonly width?: number;
}

/** A running pool. */
export interface WorkPool extends Orchestrator {
  /**
   * Begins nothing more, and waits for what goes on, at most `withinMs`; then it is told to end. What
   * waited is forgotten.
   */
  stop(withinMs: number): Promise<void>;
}

/** Starts a pool. */
export function createWorkPool({
  work,
  onError,
  width = LIMITS.localExecutions.max,
}: WorkPoolParts): WorkPool {
  const waiting = new Map<string, RunWork>();
  const running = new Map<string, Promise<void>>();
  const ended = new Set<string>();
  const abort = new AbortController();
  let stopped = false;

  const next = (): void => {
    for (const [name, of] of waiting) {
      if (stopped || running.size >= width) return;
      waiting.delete(name);
      const going = Promise.resolve()
        .then(() => work(of, abort.signal))
        .catch(onError)
        .finally(() => {
          running.delete(name);
          remember(name);
          next();
        });
      running.set(name, going);
    }
  };

  /** Only the last ones: whatever is older is no attempt of a run any more. */
  const remember = (name: string): void => {
    ended.add(name);
    const [oldest] = ended;
    if (ended.size > LIMITS.endedExecutions.max && oldest !== undefined) ended.delete(oldest);
  };

  return {
    start: (name, of) => {
      if (waiting.has(name) || running.has(name) || ended.has(name)) return Promise.resolve();
      if (stopped) return refuse('the process is ending');
      if (waiting.size >= LIMITS.waitingExecutions.max) return refuse('too much work is waiting');
      waiting.set(name, of);
      next();
      return Promise.resolve();
    },
    describe: (name) => {
      if (waiting.has(name) || running.has(name)) return Promise.resolve('running');
      return Promise.resolve(ended.has(name) ? 'ended' : 'absent');
    },
    stop: async (withinMs) => {
      stopped = true;
      waiting.clear();
      const timer = setTimeout(() => {
        abort.abort();
      }, withinMs);
      await Promise.all(running.values());
      clearTimeout(timer);
    },
  };
}

const refuse = (why: string): Promise<never> => Promise.reject(new DeliveryError('retryable', why));
