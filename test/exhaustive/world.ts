// A state of the world as a value, and what a call makes of it. Everything that a store, a sink and a
// ticket provider do to the world happens here, one call at a time.
import { isAhead } from '../../lib/core/ahead.ts';
import type { OutboxRow, StoredEvent } from '../../lib/core/model/workflow.ts';
import type {
  CommitResult,
  DueItem,
  ItemKey,
  Lease,
  StorageBackend,
  Transaction,
  Write,
} from '../../lib/core/ports/storage.ts';
import type { Message } from '../../lib/core/ports/sink.ts';
import type { Ticket, TicketOrder } from '../../lib/core/ports/tickets.ts';
import { applied, itemAt, itemsOf, type Attributes, type Table } from './items.ts';
import type { Answer, Call } from './replay.ts';

/** What the outside keeps: it is never taken back. */
export interface Outside {
  /** Ids that a sink has accepted, each with what it was given first. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Tickets by key, and how often somebody asked for one. */
  readonly tickets: ReadonlyMap<string, Ticket>;
}

/** Stored items, the lease of the one shard, the time, and the outside. */
export interface World {
  readonly table: Table;
  readonly lease: Lease | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly outside: Outside;
}

/** What a call made of the world, and what it is answered. */
export interface Done {
  readonly world: World;
  readonly answer: Answer;
  /** The writes that took effect. */
  readonly wrote: readonly Write[];
}

/** Changes a transaction before it is applied: how a guard is taken away. */
export type Alter = (transaction: Transaction) => Transaction;

const value = (answered: unknown): Answer => ({ kind: 'value', value: answered });

/** Carries out a call. */
export function perform(world: World, { port, name, args }: Call, alter: Alter): Done {
  if (port === 'sink') return delivered(world, args[0] as Message);
  if (port === 'desk') return atDesk(world, name, args);
  const { table, lease } = world;
  if (name === 'commit' || name === 'keep') {
    const sent = name === 'commit' ? (args[0] as Transaction) : { writes: [args[0] as Write] };
    const altered = port === 'store' ? alter(sent) : sent;
    const { table: after, result } = applied(table, lease, altered);
    return {
      world: after === table ? world : { ...world, table: after },
      answer: value(result satisfies CommitResult),
      wrote: result.ok ? altered.writes : [],
    };
  }
  if (name === 'takeLease') return taken(world, args as Parameters<StorageBackend['takeLease']>);
  if (name === 'renewLease' || name === 'releaseLease') {
    const [held, until = 0] = args as [Lease, number?];
    if (lease?.epoch !== held.epoch || lease.by !== held.by) {
      return { world, answer: value(name === 'renewLease' ? undefined : false), wrote: [] };
    }
    const renewed = { ...held, until };
    const answered = name === 'renewLease' ? renewed : true;
    return { world: { ...world, lease: renewed }, answer: value(answered), wrote: [] };
  }
  return { world, answer: value(read(world, name, args)), wrote: [] };
}

function taken(
  world: World,
  [shard, by, { now, until }]: Parameters<StorageBackend['takeLease']>,
): Done {
  const before = world.lease;
  if (before !== undefined && before.by !== by && isAhead(before.until, now, until - now)) {
    return { world, answer: value(undefined), wrote: [] };
  }
  const lease: Lease = { shard, by, until, epoch: (before?.epoch ?? 0) + 1 };
  return { world: { ...world, lease }, answer: value(lease), wrote: [] };
}

function delivered(world: World, { id, payload }: Message): Done {
  const { accepted } = world.outside;
  if (accepted.has(id)) return { world, answer: value(undefined), wrote: [] };
  const outside = {
    ...world.outside,
    accepted: new Map(accepted).set(id, JSON.stringify(payload)),
  };
  return { world: { ...world, outside }, answer: value(undefined), wrote: [] };
}

function atDesk(world: World, name: string, args: readonly unknown[]): Done {
  const { tickets } = world.outside;
  if (name === 'find') return { world, answer: value(tickets.get(String(args[1]))), wrote: [] };
  const { tenant: _, ...order } = args[0] as TicketOrder;
  const there = tickets.get(order.key);
  if (there !== undefined) return { world, answer: value(there.reference), wrote: [] };
  const reference = `T-${tickets.size + 1}`;
  const outside = {
    ...world.outside,
    tickets: new Map(tickets).set(order.key, { ...order, reference }),
  };
  return { world: { ...world, outside }, answer: value(reference), wrote: [] };
}

type Paged = { readonly after?: number; readonly limit?: number };

/** Everything that is only read. A read that is not known here fails the check. */
function read({ table }: World, name: string, args: readonly unknown[]): unknown {
  const [tenant, id] = args as [string, string];
  switch (name) {
    case 'snapshot':
      return (args[0] as readonly ItemKey[]).map((key) => itemAt(table, key));
    case 'listEvents':
      return eventsOf(table, tenant, id).filter(({ seq }) => seq > ((args[2] as Paged).after ?? 0));
    case 'listEvidence':
      return itemsOf(table, 'evidence').filter((row) => row.tenant === tenant && row.run === id);
    case 'listVault':
      return [];
    case 'listOutbox':
      return rowsOf(table, tenant, id);
    case 'laneHead':
      return rowsOf(table, tenant, id).find(
        ({ lane, parked_at }) => lane === args[2] && parked_at === undefined,
      );
    case 'listDue':
      return { items: dueAt(table, (args[1] as { readonly until: number }).until) };
    case 'shards':
      return 1;
    case 'listPointers':
      return itemsOf(table, 'pointer').filter((row) => row.tenant === tenant && row.subject === id);
    case 'findProfiles':
      return [{ tenant, subject: id, name: id.replace('dev:', '') }];
    case 'noteSweep':
      return undefined;
    default:
      throw new Error(`the check has no ${name}`);
  }
}

/** The events under one aggregate, ascending. */
export const eventsOf = (table: Table, tenant: string, id: string): readonly StoredEvent[] =>
  itemsOf(table, 'event').filter((row) => row.tenant === tenant && row.workflow === id);

const rowsOf = (table: Table, tenant: string, id: string): readonly OutboxRow[] =>
  itemsOf(table, 'outbox').filter((row) => row.tenant === tenant && row.workflow === id);

function dueAt(table: Table, until: number): readonly DueItem[] {
  const due = [...table.values()].flatMap(({ key, item }): readonly DueItem[] => {
    if (key.kind !== 'outbox' && key.kind !== 'workflow' && key.kind !== 'run') return [];
    const { due_at, parked_at } = item as Attributes & { readonly due_at?: number };
    return due_at === undefined || due_at > until || parked_at !== undefined
      ? []
      : [{ key, due_at }];
  });
  return due.toSorted((a, b) => a.due_at - b.due_at);
}
