// Delivers outbox rows: claims the head of a lane, hands it to its sink, and takes it out of the table.
// Invariants: I3 (a row is deleted only after its sink accepted it, on the claimer's own claim), I5.
// A failed sink holds up its own lane of one aggregate and nothing else.
import { isDamage, isFault, type Fault } from '../fault.ts';
import { inParallel } from '../in-parallel.ts';
import type { OutboxRow } from '../model/workflow.ts';
import type { Clock, Random } from '../ports/runtime.ts';
import { isDeliveryError, type NotificationSink } from '../ports/sink.ts';
import type { DueItem, StorageBackend, Write } from '../ports/storage.ts';
import { duePages } from '../reconcile/due-shards.ts';
import { notifyLane, ORCHESTRATE } from './new-row.ts';
import {
  afterFailure,
  behindHead,
  delivered,
  DELIVERY,
  nextFor,
  type Failure,
  type Lane,
} from './row.ts';

/** What became of an attempt; `lost`: somebody else had claimed the row before it could be settled. */
export type DeliveryResult = 'delivered' | 'failed' | 'parked' | 'lost';

/**
 * Hears of every attempt, for logs and metrics. `row` is as it was claimed; a row that was parked
 * without another attempt has no failure.
 */
export type OnDelivery = (row: OutboxRow, result: DeliveryResult, failure?: Failure) => void;

/** How many rows a drain delivered, postponed after a failure, parked, or lost to another dispatcher. */
export type DrainCounts = { readonly [R in DeliveryResult]: number };

/** What the dispatcher is made of. */
export interface DispatcherParts {
  readonly store: StorageBackend;
  readonly sinks: readonly NotificationSink[];
  /** Where the lane `orchestrate` leads to. */
  readonly starter?: NotificationSink;
  readonly clock: Clock;
  readonly random: Random;
  readonly onDelivery?: OnDelivery;
}

/** Delivers rows. Nothing more is begun once `goOn` answers false. */
export interface Dispatcher {
  /** Delivers what may leave of one lane; answers when its head is due, where one still waits. */
  drainLane(lane: Lane, goOn: () => boolean): Promise<LaneDrained>;
  /**
   * Delivers what is due in a shard, `lanes` lanes at a time. A row that cannot be read or written
   * holds up its own lane, and its fault is thrown once all the others had their turn.
   */
  drainDue(shard: number, goOn: () => boolean, lanes: number): Promise<DrainCounts>;
}

/** What became of a lane, and what it waits for where something is left. */
export interface LaneDrained {
  readonly counts: DrainCounts;
  readonly waits?: { readonly for: 'claimer' | 'due_time'; readonly until: number };
}

type RowKey = Extract<DueItem['key'], { readonly kind: 'outbox' }>;

/** Builds a dispatcher; every one in the world has a name of its own. */
export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { store, clock, random } = parts;
  const by = random.id();
  const sinks = new Map(parts.sinks.map((sink) => [notifyLane(sink.name), sink]));
  if (parts.starter !== undefined) sinks.set(ORCHESTRATE, parts.starter);

  const keep = async (write: Write): Promise<boolean> =>
    (await store.keep(write, clock.now() + DELIVERY.attemptMs)).ok;

  const attempt = async (row: OutboxRow): Promise<Failure | undefined> => {
    const sink = sinks.get(row.lane);
    if (sink === undefined) return { kind: 'retryable', message: 'no such sink is configured' };
    try {
      const { id, tenant, payload } = row;
      await sink.deliver({ id, tenant, payload }, clock.now() + DELIVERY.attemptMs);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  };

  const settle = async (row: OutboxRow): Promise<DeliveryResult> => {
    const failure = await attempt(row);
    const after =
      failure === undefined
        ? undefined
        : afterFailure(row, failure, clock.now(), random.fraction());
    const kept = await keep(after?.write ?? delivered(row));
    const settled =
      after === undefined ? 'delivered' : after.row.parked_at === undefined ? 'failed' : 'parked';
    const result = kept ? settled : 'lost';
    parts.onDelivery?.(row, result, failure);
    return result;
  };

  const drainLane: Dispatcher['drainLane'] = async (lane, goOn) => {
    const counts = noCounts();
    while (goOn()) {
      const head = await store.laneHead(lane.tenant, lane.workflow, lane.lane);
      if (head === undefined) return { counts };
      const next = nextFor(head, clock.now(), by);
      if (next.do === 'wait') return { counts, waits: { for: next.for, until: next.until } };
      // Whoever was faster may have claimed the row or only moved it: the next look tells.
      if (!(await keep(next.write))) continue;
      if (next.do === 'park') {
        counts.parked += 1;
        parts.onDelivery?.(next.row, 'parked');
      } else counts[await settle(next.row)] += 1;
    }
    return { counts };
  };

  /** Rows that were listed and lie behind a head that waits for its time are due with it. */
  const postpone = async (items: readonly RowKey[], until: number): Promise<void> => {
    const rows = await store.snapshot(items);
    for (const row of rows) {
      if (row === undefined || row.parked_at !== undefined || row.claim !== undefined) continue;
      if (row.due_at < until) await keep(behindHead(row, until).write);
    }
  };

  const drainDue: Dispatcher['drainDue'] = async (shard, goOn, lanes) => {
    const counts = noCounts();
    const dueAt = clock.now();
    const damage: Error[] = [];
    for await (const items of duePages(store, shard, dueAt, goOn)) {
      const groups = byLane(items);
      await inParallel(groups, lanes, async (rows) => {
        const [first] = rows;
        if (first === undefined) return;
        const drained = await drainLane(first, goOn).catch((error: unknown) => {
          if (!isHopeless(error)) throw error;
          damage.push(error);
        });
        if (drained === undefined) return;
        add(counts, drained.counts);
        // A claimer goes on with the lane by itself.
        const { waits } = drained;
        if (waits?.for === 'due_time') await postpone(rows, waits.until);
      });
    }
    const [first] = damage;
    if (first !== undefined) throw first;
    return counts;
  };

  return { drainLane, drainDue };
}

/** Whether a lane cannot go on, whatever the store does: its head cannot be read, or not be written. */
export function isHopeless(error: unknown): error is Fault {
  return isDamage(error) || (isFault(error) && error.kind === 'terminal');
}

function failureOf(error: unknown): Failure {
  if (isDeliveryError(error)) {
    const { kind, message, retryAfterMs } = error;
    return { kind, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  if (isFault(error)) return { kind: error.kind, message: error.code };
  return { kind: 'unknown', message: 'the sink failed in a way that it does not know' };
}

/** The outbox rows among what is due, by lane. */
function byLane(items: readonly DueItem[]): readonly (readonly RowKey[])[] {
  const rows = items.flatMap(({ key }) => (key.kind === 'outbox' ? [key] : []));
  const groups = Map.groupBy(rows, ({ tenant, workflow, lane }) =>
    JSON.stringify([tenant, workflow, lane]),
  );
  return [...groups.values()];
}

function noCounts(): { -readonly [R in DeliveryResult]: number } {
  return { delivered: 0, failed: 0, parked: 0, lost: 0 };
}

function add(to: { -readonly [R in DeliveryResult]: number }, more: DrainCounts): void {
  to.delivered += more.delivered;
  to.failed += more.failed;
  to.parked += more.parked;
  to.lost += more.lost;
}
