// What happens next to one outbox row: pure rules from a row and the time to one conditional write.
// Invariants: an attempt is counted when it is claimed; every write expects the revision it was
// decided on, so of two dispatchers one wins, and a dead one changes nothing when it wakes (I5).
import { isAhead } from '../ahead.ts';
import type { OutboxRow } from '../model/workflow.ts';
import type { ItemKey, Write } from '../ports/storage.ts';

/** Times and counts of delivery. */
export const DELIVERY = {
  /** How long a row is left to the fast path before a sweep looks at it. */
  fastPathMs: 30_000,
  /** The longest that one delivery may take. */
  attemptMs: 10_000,
  /** How long a claim lasts: three deliveries and the skew of two clocks. */
  claimMs: 90_000,
  /** After this many attempts a row is parked for a person. */
  attempts: 20,
  firstPauseMs: 1_000,
  longestPauseMs: 1_800_000,
  errorChars: 300,
} as const;

/** One lane of an aggregate: rows of a lane leave in order, lanes never wait for each other. */
export interface Lane {
  readonly tenant: string;
  readonly workflow: string;
  readonly lane: string;
}

/** Why a delivery failed; `message` is kept with the row and shown to people. */
export interface Failure {
  readonly kind: 'retryable' | 'unknown' | 'terminal';
  readonly message: string;
  /** The receiver asked for a pause of at least this long. */
  readonly retryAfterMs?: number;
}

/** What to do with the head of a lane. */
export type Next =
  | { readonly do: 'wait'; readonly for: 'claimer' | 'due_time'; readonly until: number }
  | { readonly do: 'claim' | 'park'; readonly row: OutboxRow; readonly write: Write };

/** The key of a row. */
export const rowKey = ({ tenant, workflow, lane, seq }: OutboxRow) =>
  ({ kind: 'outbox', tenant, workflow, lane, seq }) as const satisfies ItemKey;

/** Decides on the head of a lane at `now` (epoch milliseconds), for the dispatcher `by`. */
export function nextFor(row: OutboxRow, now: number, by: string): Next {
  const { claim, attempts } = row;
  if (claim !== undefined && isAhead(claim.until, now, DELIVERY.claimMs)) {
    return { do: 'wait', for: 'claimer', until: claim.until };
  }
  // A row that was never tried is the fast path's; any other waits for its time.
  if (attempts > 0 && isAhead(row.due_at, now, DELIVERY.longestPauseMs)) {
    return { do: 'wait', for: 'due_time', until: row.due_at };
  }
  if (attempts >= DELIVERY.attempts) {
    const error = row.error ?? 'no attempt to deliver it came to an end';
    return { do: 'park', ...changed(row, { parked_at: isoTime(now), error }, ['claim']) };
  }
  const claimed = { claim: { by, until: now + DELIVERY.claimMs }, attempts: attempts + 1 };
  return { do: 'claim', ...changed(row, claimed) };
}

/** A delivered row leaves the table, unless somebody else has claimed it since. */
export const delivered = (row: OutboxRow): Write => ({
  op: 'delete',
  key: rowKey(row),
  expect: { rev: row.rev },
});

/** After a failed attempt: due again after a pause with full jitter (`fraction` in [0, 1)), or parked. */
export function afterFailure(
  row: OutboxRow,
  failure: Failure,
  now: number,
  fraction: number,
): { readonly row: OutboxRow; readonly write: Write } {
  const error = [...failure.message].slice(0, DELIVERY.errorChars).join('');
  if (failure.kind === 'terminal' || row.attempts >= DELIVERY.attempts) {
    return changed(row, { parked_at: isoTime(now), error }, ['claim']);
  }
  const most = Math.min(DELIVERY.firstPauseMs * 2 ** row.attempts, DELIVERY.longestPauseMs);
  const asked = Math.min(failure.retryAfterMs ?? 0, DELIVERY.longestPauseMs);
  const pause = Math.max(asked, Math.ceil(fraction * most));
  return changed(row, { due_at: now + pause, error }, ['claim']);
}

/** A row behind a head that waits is due when its head is, so that a sweep meets it once per attempt. */
export const behindHead = (row: OutboxRow, until: number) => changed(row, { due_at: until });

/** A parked row is sent again, from the first attempt on. */
export const redriven = (row: OutboxRow, now: number) =>
  changed(row, { attempts: 0, due_at: now }, ['parked_at', 'error']);

function changed(
  row: OutboxRow,
  set: Partial<OutboxRow>,
  remove: readonly ('claim' | 'parked_at' | 'error')[] = [],
): { readonly row: OutboxRow; readonly write: Write } {
  const rev = row.rev + 1;
  const after: Record<string, unknown> = { ...row, ...set, rev };
  for (const name of remove) delete after[name];
  const gone = remove.filter((name) => row[name] !== undefined);
  const write: Write = {
    op: 'update',
    key: rowKey(row),
    expect: { rev: row.rev },
    set: { ...set, rev } as unknown as Extract<Write, { op: 'update' }>['set'],
    ...(gone.length > 0 && { remove: gone }),
  };
  return { row: after as unknown as OutboxRow, write };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
