// The chain around a batch of the table's stream: the lane of every new outbox row is drained.
// Invariants: a delivery that fails is recorded on its row and fails no batch, because a failed batch
// holds up every aggregate of its shard; only a store that cannot be used does. What is left over, for
// whatever reason, is due to the sweep.
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import type { Dispatcher } from '../core/dispatch/dispatcher.ts';
import { DELIVERY } from '../core/dispatch/row.ts';
import { isFault } from '../core/fault.ts';
import { inParallel } from '../core/in-parallel.ts';
import type { Observers } from './observers.ts';
import { lanesOf, type LaneOf } from './stream-lanes.ts';
import { toldStart } from './told-start.ts';

/** What drains lanes, and how a row is known by its keys. */
export interface RelayApp {
  readonly dispatcher: Pick<Dispatcher, 'drainLane'>;
  readonly laneOf: LaneOf;
}

/** The handler, and its start. */
export interface RelayFunction {
  readonly handler: (event: unknown, context: Context) => Promise<void>;
  /** Resolves when the first start has ended, whichever way. */
  readonly started: Promise<unknown>;
}

/** How many lanes are worked on at a time. */
const WIDTH = 4;
/** No delivery is begun that may not come to its end, with the writes around it. */
const MARGIN_MS = DELIVERY.attemptMs + 5_000;

/** Builds the function and starts it. `open` is called again by the next batch after it failed. */
export function createRelayFunction(
  observers: Observers,
  open: () => Promise<RelayApp>,
): RelayFunction {
  const { logger, metrics, log, count } = observers;
  const app = toldStart(observers, open);

  const relay = async (event: unknown, context: Context): Promise<void> => {
    const opened = await app();
    if (opened === undefined) throw new Error('the function cannot start');
    const { lanes, foreign } = lanesOf(event, opened.laneOf);
    if (foreign > 0) {
      count('foreignRecords', foreign);
      log({ level: 'warn', msg: 'records that name no outbox row', records: foreign });
    }
    const goOn = (): boolean => context.getRemainingTimeInMillis() > MARGIN_MS;
    let unusable = false;
    await inParallel(lanes, WIDTH, async (lane) => {
      try {
        await opened.dispatcher.drainLane(lane, goOn);
      } catch (error) {
        unusable ||= isUnusable(error);
        count('faults');
        log({ level: 'error', msg: 'a lane cannot be drained', ...lane, err: error });
      }
    });
    // The platform writes an error's message into the log, so it is our own.
    if (unusable) throw new Error('the store cannot be used');
  };

  const handler = middy<unknown, void, Error, Context>(relay)
    .use(injectLambdaContext(logger))
    .use(logMetrics(metrics, { captureColdStartMetric: true }));
  return { handler, started: app() };
}

/** Whether the same batch may do better later: a single row that cannot be read never does. */
function isUnusable(error: unknown): boolean {
  return isFault(error) && ['BACKEND_UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(error.code);
}
