// Delivery in a local process: at once where a commit wrote, and by a sweep for what is due.
import type { Dispatcher } from '../../core/dispatch/dispatcher.ts';
import { DELIVERY, type Lane } from '../../core/dispatch/row.ts';
import type { Clock } from '../../core/ports/runtime.ts';

/** What the loop works with. */
export interface DeliveryLoopParts {
  readonly dispatcher: Dispatcher;
  readonly shards: () => Promise<number>;
  readonly clock: Clock;
  /** Told of what the store answers while it cannot be used. */
  readonly onError: (error: unknown) => void;
  /** How often a sweep looks for what is due, in milliseconds. */
  readonly everyMs?: number;
}

/** A running loop. */
export interface DeliveryLoop {
  wake(lanes: readonly Lane[]): void;
  /** Begins nothing more and waits for deliveries that are under way, at most `withinMs`. */
  stop(withinMs?: number): Promise<void>;
}

/** How many lanes are worked on at a time. */
const WIDTH = 4;
/** The longest pause between two sweeps while the store fails. */
const LONGEST_PAUSE_MS = 30_000;
/** How long one lane or one sweep goes on at most. */
const TURN_MS = 30_000;

/** Starts the loop. Its timer does not keep a process alive. */
export function startDeliveryLoop(parts: DeliveryLoopParts): DeliveryLoop {
  const { dispatcher, clock, everyMs = 1_000 } = parts;
  const waiting = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  /** A turn that ends with the loop, and after a while, so that every lane gets one. */
  const turn = (): (() => boolean) => {
    const until = clock.now() + TURN_MS;
    return () => !stopped && clock.now() < until;
  };

  const track = (work: () => Promise<void>): Promise<void> => {
    const ended = work().finally(() => running.delete(ended));
    running.add(ended);
    return ended;
  };

  const drainWaiting = async (): Promise<void> => {
    for (const [name, lane] of waiting) {
      if (stopped) return;
      waiting.delete(name);
      // What does not leave now is due later, and then a sweep finds it.
      await dispatcher.drainLane(lane, turn()).catch(parts.onError);
    }
  };

  const sweep = async (): Promise<boolean> => {
    try {
      const shards = await parts.shards();
      for (let shard = 0; shard < shards && !stopped; shard++) {
        await dispatcher.drainDue(shard, turn(), WIDTH);
      }
      return true;
    } catch (error) {
      parts.onError(error);
      return false;
    }
  };

  const schedule = (pause: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      void track(async () => {
        const well = await sweep();
        schedule(well ? everyMs : Math.min(pause * 2, LONGEST_PAUSE_MS));
      });
    }, pause).unref();
  };
  schedule(everyMs);

  let workers = 0;
  const work = (): void => {
    for (; !stopped && workers < Math.min(WIDTH, waiting.size); workers++) {
      void track(() =>
        drainWaiting().finally(() => {
          workers -= 1;
          work();
        }),
      );
    }
  };

  return {
    wake: (lanes) => {
      if (stopped) return;
      for (const lane of lanes) {
        waiting.set(JSON.stringify([lane.tenant, lane.workflow, lane.lane]), lane);
      }
      work();
    },
    stop: async (withinMs = DELIVERY.attemptMs) => {
      stopped = true;
      clearTimeout(timer);
      const over = new AbortController();
      await Promise.race([
        Promise.all(running),
        new Promise((resolve) => {
          const bound = setTimeout(resolve, withinMs);
          over.signal.addEventListener('abort', () => {
            clearTimeout(bound);
          });
        }),
      ]);
      over.abort();
    },
  };
}
