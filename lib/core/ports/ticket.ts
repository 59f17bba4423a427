// The ticket port: where the exact write of a run goes, and where it is read back from.
import type { Json } from '../json.ts';
import type { Action } from '../model/run.ts';

/** A ticket as a read finds it, under the names that actions know. */
export interface Ticket {
  /** What the provider calls it. */
  readonly reference: string;
  readonly type: string;
  readonly arguments: { readonly [name: string]: Json };
}

/**
 * A provider of tickets. Calls settle before `deadlineMs` (epoch milliseconds) and throw a
 * `DeliveryError` where they cannot: `retryable` was not taken, `unknown` may have been, `terminal` will
 * never be.
 */
export interface TicketProvider {
  /** The name by which actions name it as their target. */
  readonly name: string;
  /**
   * How far its idempotency reaches. `unlimited`: a key writes once for good. `while_open`: only while
   * the ticket is open, so that every attempt after the first looks the key up first.
   */
  readonly reach: 'unlimited' | 'while_open';
  /** How long a write can be under way after it was sent, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the write under the key of the action; the same key again makes no second one. */
  write(action: Action, deadlineMs: number): Promise<{ readonly reference: string }>;
  /** Reads by key, on another path than the write's; undefined where there is none, or none to be seen yet. */
  find(key: string, deadlineMs: number): Promise<Ticket | undefined>;
}
