// The ticket port: where the exact write of an approved action goes, and where it is found again.
import type { Json } from '../json.ts';

/** What is written: the acting fields of an approved action, under its key. */
export interface TicketOrder {
  readonly tenant: string;
  /** The action's idempotency key: the same on every attempt. */
  readonly key: string;
  /** SHA-256 of the approved action, 64 lower-case hex digits. */
  readonly action_hash: string;
  readonly type: string;
  readonly target: string;
  readonly arguments: { readonly [name: string]: Json };
}

/** A ticket as its provider holds it. `reference` is the provider's own name of it. */
export interface Ticket extends Omit<TicketOrder, 'tenant'> {
  readonly reference: string;
}

/**
 * A ticket system. Both calls settle before `deadlineMs` (epoch milliseconds), whatever is at the other
 * end, and throw a `DeliveryError` where they fail: `retryable` has no effect, `unknown` may have had it,
 * `terminal` will never succeed.
 */
export interface TicketProvider {
  readonly name: string;
  /**
   * How far a repeated key reaches: `always` has one effect for good, `while_open` only until the ticket
   * is closed, so that every attempt after the first looks the key up before it writes.
   */
  readonly idempotency: 'always' | 'while_open';
  /** The longest that a write may take to show in a read after its call has ended, in milliseconds. */
  readonly settlesInMs: number;
  /** Writes the ticket, or finds the one that was written under the key; its reference. */
  create(order: TicketOrder, deadlineMs: number): Promise<string>;
  /** Reads what is there under a key, on another path than the write; undefined where nothing is. */
  find(tenant: string, key: string, deadlineMs: number): Promise<Ticket | undefined>;
}
