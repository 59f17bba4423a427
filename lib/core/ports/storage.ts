// The storage port: what every backend must do, and nothing about how.
// Business items are written by `commit` alone; `keep`, `noteProfile` and `registerProcedure` are
// single-row bookkeeping. A backend throws `Fault`s and never lets a driver error out.
import type { Json } from '../json.ts';
import type { EvidenceRow, Run, RunState, TicketRow } from '../model/run.ts';
import type { SweepBook } from './sweeps.ts';
import type {
  LedgerRow,
  Lock,
  OutboxRow,
  Pointer,
  Profile,
  StoredEvent,
  VaultRow,
  Workflow,
  WorkflowState,
} from '../model/workflow.ts';

/** The stored items by kind. */
export interface Items {
  readonly workflow: Workflow;
  readonly event: StoredEvent;
  readonly ledger: LedgerRow;
  readonly lock: Lock;
  readonly pointer: Pointer;
  readonly vault: VaultRow;
  readonly outbox: OutboxRow;
  readonly run: Run;
  readonly evidence: EvidenceRow;
  readonly ticket: TicketRow;
}

/** The kind of a stored item. */
export type ItemKind = keyof Items;

/**
 * The identity of a stored item; every key starts with its tenant. `workflow` is the id of the workflow
 * or the run that a row belongs to.
 */
export type ItemKey =
  | { readonly kind: 'workflow'; readonly tenant: string; readonly id: string }
  | {
      readonly kind: 'event';
      readonly tenant: string;
      readonly workflow: string;
      readonly seq: number;
    }
  | { readonly kind: 'ledger'; readonly tenant: string; readonly key: string }
  | { readonly kind: 'lock'; readonly tenant: string; readonly asset: string }
  | {
      readonly kind: 'pointer';
      readonly tenant: string;
      readonly subject: string;
      readonly workflow: string;
    }
  | {
      readonly kind: 'vault';
      readonly tenant: string;
      readonly workflow: string;
      readonly seq: number;
    }
  | {
      readonly kind: 'outbox';
      readonly tenant: string;
      readonly workflow: string;
      readonly lane: string;
      readonly seq: number;
    }
  | { readonly kind: 'run'; readonly tenant: string; readonly id: string }
  | {
      readonly kind: 'evidence';
      readonly tenant: string;
      readonly run: string;
      readonly seq: number;
    }
  | { readonly kind: 'ticket'; readonly tenant: string; readonly key: string };

/** Attribute values an item must have at the moment of the write. */
export type Expectation = { readonly [attribute: string]: Json };

/**
 * One conditional write. `create` wants the key to be free, or its row expired at `expiredAt`
 * (epoch seconds), or, for a row that is only derived from others, `replace`s whatever is there.
 * `update` changes named attributes only and keeps unknown ones; `put_in` replaces single members of
 * a map attribute. `check` writes nothing. `update` and `check` want the item to be there even where
 * they expect nothing else; `delete` does not. `absent` writes nothing and wants the key to be free.
 */
export type Write =
  | {
      readonly op: 'create';
      readonly key: ItemKey;
      readonly item: Items[ItemKind];
      readonly expiredAt?: number;
      readonly replace?: true;
    }
  | {
      readonly op: 'update';
      readonly key: ItemKey;
      readonly expect: Expectation;
      readonly set: { readonly [attribute: string]: Json };
      readonly put_in?: { readonly [attribute: string]: { readonly [member: string]: Json } };
      readonly remove?: readonly string[];
    }
  | { readonly op: 'delete'; readonly key: ItemKey; readonly expect: Expectation }
  | { readonly op: 'check'; readonly key: ItemKey; readonly expect: Expectation }
  | { readonly op: 'absent'; readonly key: ItemKey };

/**
 * The right to repair what is due in one shard. Every taking raises the epoch; `until` is in epoch
 * milliseconds.
 */
export interface Lease {
  readonly shard: number;
  readonly epoch: number;
  readonly by: string;
  readonly until: number;
}

/**
 * A compiled plan: writes of distinct items, within the limits of every backend. With a lease, nothing
 * is written unless its epoch is still that holder's.
 */
export interface Transaction {
  readonly writes: readonly Write[];
  readonly lease?: Lease;
}

/** One condition that did not hold, with the item that was in the way (absent: there was none). */
export interface FailedCondition {
  readonly key: ItemKey;
  readonly item?: Items[ItemKind];
}

/**
 * The answer to a commit: all of it happened, or none of it and why. `contended` says that others were
 * writing at that moment, so that not every condition could be looked at, and items that were handed
 * back may be half of what they write.
 */
export type CommitResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly failed: readonly FailedCondition[];
      readonly contended?: true;
      /** The lease of the transaction is somebody else's by now. */
      readonly leaseLost?: true;
    };

/** The items of a snapshot, in the order of their keys. */
export type Snapshot<K extends readonly ItemKey[]> = {
  -readonly [I in keyof K]: Items[K[I]['kind']] | undefined;
};

/** Something whose time has come; `due_at` is in epoch milliseconds. */
export interface DueItem {
  readonly key: Extract<ItemKey, { readonly kind: 'outbox' | 'workflow' | 'run' }>;
  readonly due_at: number;
}

/** A stretch of due times in epoch milliseconds, both ends included; from the beginning where it has none. */
export interface DueWindow {
  readonly from?: number;
  readonly until: number;
}

/** A page of a list; `next` continues it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/**
 * The storage port. Every read is strongly consistent unless it says otherwise. Lists throw
 * `InputError` for a limit outside 1 to 100 and for a cursor that the same list did not give.
 */
export interface StorageBackend extends SweepBook {
  /** Reads several items as of one moment. Expired rows are returned: the caller has the clock. */
  snapshot<const K extends readonly ItemKey[]>(keys: K): Promise<Snapshot<K>>;
  /** Applies all writes or none. `deadlineMs` is in epoch milliseconds; nothing is sent after it. */
  commit(transaction: Transaction, deadlineMs: number): Promise<CommitResult>;
  /**
   * Applies one conditional write of bookkeeping, which changes no business state: an update or a
   * delete of an outbox row, or another due time of a workflow or a run. Throws `PLAN_REFUSED` for anything else.
   */
  keep(write: Write, deadlineMs: number): Promise<CommitResult>;
  /** Events of a workflow or a run with `seq` above `after`, ascending. */
  listEvents(
    tenant: string,
    workflow: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly StoredEvent[]>;
  /** Sequences above `after` under which a workflow keeps sensitive values, ascending. */
  listVault(
    tenant: string,
    workflow: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly number[]>;
  /** Outbox rows of a workflow or a run in order of lane and sequence. */
  listOutbox(tenant: string, workflow: string, limit: number): Promise<readonly OutboxRow[]>;
  /** The first outbox row of a lane that is not parked. */
  laneHead(tenant: string, workflow: string, lane: string): Promise<OutboxRow | undefined>;
  /** How many shards due work is kept in. */
  shards(): Promise<number>;
  /**
   * What is due in a shard (0 and up) at `until` (epoch milliseconds) and not before `from`, the earliest
   * first. The list may lag: it only finds candidates.
   */
  listDue(
    shard: number,
    page: DueWindow & { readonly after?: string; readonly limit: number },
  ): Promise<Page<DueItem>>;
  /**
   * Takes the lease of a shard that is free, over at `now`, or held by the same holder; answers
   * undefined where somebody else has it. One that lasts longer than `until` and the skew of two clocks
   * was taken by a clock that was wrong, and is over: its holder changes nothing, by its epoch. Times are
   * in epoch milliseconds.
   */
  takeLease(
    shard: number,
    by: string,
    at: { readonly now: number; readonly until: number },
  ): Promise<Lease | undefined>;
  /** Prolongs a lease; undefined where it is somebody else's by now. */
  renewLease(lease: Lease, until: number): Promise<Lease | undefined>;
  /** Gives a lease back; false where it is somebody else's by now. */
  releaseLease(lease: Lease): Promise<boolean>;
  /** Parked outbox rows of a tenant, oldest first; the list may lag, each row is read from its record. */
  listParked(
    tenant: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<Page<OutboxRow>>;
  /** Active workflows of a person, oldest first. */
  listPointers(tenant: string, subject: string, limit: number): Promise<readonly Pointer[]>;
  /** Workflows in one state, oldest first; the list may lag, each item is read from its record. */
  listWorkflows(
    tenant: string,
    state: WorkflowState,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<Page<Workflow>>;
  /** Runs in one state, oldest first; the list may lag, each item is read from its record. */
  listRuns(
    tenant: string,
    state: RunState,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<Page<Run>>;
  /** Observations of a run with `seq` above `after`, ascending. */
  listEvidence(
    tenant: string,
    run: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly EvidenceRow[]>;
  /**
   * Assets of the tenant that have ever had a lock, in order of their UTF-8 bytes; the list may lag.
   * Its limit is 1 to 1,000.
   */
  listAssets(tenant: string, limit: number): Promise<readonly string[]>;
  /** Every trail of the store, by aggregate: those with events but without a record included. */
  scanTrails(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<Page<{ readonly tenant: string; readonly workflow: string }>>;
  /** Every aggregate of the store, for an audit run by hand. */
  scanWorkflows(page: { readonly after?: string; readonly limit: number }): Promise<Page<Workflow>>;
  /** Tenants that have a workflow or a run, by name; for commands run by hand. */
  listTenants(page: { readonly after?: string; readonly limit: number }): Promise<Page<string>>;
  /** Held locks of a tenant, oldest first; the list may lag, each item is read from its record. */
  listLocks(
    tenant: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<Page<Lock>>;
  /** How many workflows are in a state, counted up to `most` (1 to 10,000); the count may lag. */
  countWorkflows(tenant: string, state: WorkflowState, most: number): Promise<number>;
  /** How many runs are in a state, counted in the same way. */
  countRuns(tenant: string, state: RunState, most: number): Promise<number>;
  /** Outbox rows of a tenant that are not parked, the earliest due first. */
  listTenantOutbox(tenant: string, limit: number): Promise<readonly OutboxRow[]>;
  /** Remembers that the tenant has seen a subject; repeating it changes only the name. */
  noteProfile(profile: Profile): Promise<void>;
  /** People of the tenant whose subject or folded name is exactly `text`. */
  findProfiles(tenant: string, text: string, limit: number): Promise<readonly Profile[]>;
  /** Registers the digest of `id@version` once; answers the digest that is registered. */
  registerProcedure(id: string, version: number, digest: string): Promise<string>;
  /**
   * Takes deleted values out of the backend's own logs. Answers false where somebody who reads at the
   * moment keeps it from doing so; it happens later then.
   */
  purge(): Promise<boolean>;
  /** Throws a fault when the store cannot be used now. */
  check(): Promise<void>;
  close(): Promise<void>;
}
