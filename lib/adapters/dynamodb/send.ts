// One call of the table at a time: nothing is sent after its deadline, contention is tried again in
// place with full jitter, and every other error leaves as a fault.
import type { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { LIMITS } from '../../core/limits.ts';
import type { Clock, Random } from '../../core/ports/runtime.ts';
import {
  isContention,
  isInProgress,
  isUncertain,
  tooLate,
  translated,
  unavailable,
} from './faults.ts';

/** Sends one command of the document client. */
export type Send = DynamoDBDocumentClient['send'];

/** Sends calls until they are answered, refused, or late. Throws faults. */
export interface Sender {
  /** A read; it may be sent again whatever became of it. */
  read<Output>(call: (send: Send) => Promise<Output>): Promise<Output>;
  /**
   * A write, sent again as long as others are in its way. What `settled` makes of an error is an
   * answer too. `deadlineMs` is in epoch milliseconds.
   */
  write<Output, Settled = never>(
    call: (send: Send) => Promise<Output>,
    deadlineMs: number,
    settled?: (error: unknown) => Settled | undefined,
  ): Promise<Output | Settled>;
  /** When bookkeeping that begins now has to be over, in epoch milliseconds. */
  ownDeadlineMs(): number;
  /** Waits before the `n`th repeat. */
  pause(n: number): Promise<void>;
  /** Answers every later call with a fault. */
  close(): void;
}

/** What a sender works with. */
export interface SenderParts {
  readonly client: DynamoDBDocumentClient;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a read, or bookkeeping that has no deadline of a caller, may take. */
  readonly ownTimeoutMs: number;
}

/** How long an answer is waited for, at least and at most: the longest that a timer can wait. */
const SHORTEST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 2_147_483_647;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;

/** Builds a sender. */
export function createSender({ client, clock, random, ownTimeoutMs }: SenderParts): Sender {
  let closed = false;

  const pause: Sender['pause'] = (n) =>
    clock.sleep(random.fraction() * Math.min(FIRST_PAUSE_MS * 2 ** n, LONGEST_PAUSE_MS));

  const repeated = async <Output, Settled>(
    call: (send: Send) => Promise<Output>,
    deadlineMs: number,
    settled: (error: unknown) => Settled | undefined,
    writes: boolean,
  ): Promise<Output | Settled> => {
    const fate = { uncertain: false };
    for (let n = 1; ; n++) {
      if (closed) throw unavailable('the store is closed');
      try {
        return await call(sendUntil(client, clock, deadlineMs, fate));
      } catch (error) {
        const settledAs = settled(error);
        if (settledAs !== undefined) return settledAs;
        if (isInProgress(error)) fate.uncertain = true;
        const again = isInProgress(error) || isContention(error);
        if (!again || n >= LIMITS.conflictTries.max) {
          throw translated(error, writes && fate.uncertain);
        }
        await pause(n);
      }
    }
  };

  const ownDeadlineMs = (): number => clock.now() + ownTimeoutMs;

  return {
    read: <Output>(call: (send: Send) => Promise<Output>) =>
      repeated<Output, never>(call, ownDeadlineMs(), () => undefined, false),
    write: (call, deadlineMs, settled = () => undefined) =>
      repeated(call, deadlineMs, settled, true),
    ownDeadlineMs,
    pause,
    close: () => {
      closed = true;
    },
  };
}

/**
 * Sends up to a deadline that is looked at right before every single send, those that the SDK repeats
 * included: a container that was frozen may go on at any point. Notes sends whose fate is not known.
 */
function sendUntil(
  client: DynamoDBDocumentClient,
  clock: Clock,
  deadlineMs: number,
  fate: { uncertain: boolean },
): Send {
  const send = (command: GetCommand): Promise<unknown> => {
    const leftMs = deadlineMs - clock.now();
    if (leftMs <= 0) throw tooLate();
    command.middlewareStack.add(
      (next) => async (args) => {
        if (clock.now() >= deadlineMs) throw tooLate();
        try {
          const result = await next(args);
          const { statusCode = 0 } = result.response as { readonly statusCode?: number };
          if (statusCode >= 500) fate.uncertain = true;
          return result;
        } catch (error) {
          if (isUncertain(error)) fate.uncertain = true;
          throw error;
        }
      },
      { step: 'deserialize', priority: 'low', name: 'nothingAfterTheDeadline', override: true },
    );
    // What was sent just in time is worth a short wait: without an answer nobody knows what it did.
    const waitMs = Math.min(Math.max(leftMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
    const abortSignal = AbortSignal.timeout(waitMs);
    return client.send(command, { abortSignal });
  };
  return send as Send;
}
