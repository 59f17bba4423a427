// Commit plans as data, and their compiler to one conditional transaction.
// Invariants: a guard merges into a write of the same item; no item is written twice; sizes, counts
// and key lengths are checked before anything is sent.
import { checkTransaction, planRefused } from './check-transaction.ts';
import { Fault } from './fault.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import type {
  LastValues,
  LedgerRow,
  Lock,
  OutboxRow,
  Pointer,
  StoredEvent,
  VaultRow,
  Workflow,
} from './model/workflow.ts';
import type { Expectation, ItemKey, Transaction, Write } from './ports/storage.ts';
import { itemBytes, keyText } from './keys.ts';

/** The change of an existing aggregate: named attributes only. */
export interface WorkflowChange {
  readonly set: Partial<Omit<Workflow, 'steps' | 'tenant' | 'id'>>;
  readonly steps?: Workflow['steps'];
  readonly remove?: readonly ('block' | 'result' | 'previous' | 'frozen' | 'timers')[];
}

/** What happens to a lock. `fence` is the one the plan relies on. */
export type LockPlan =
  | {
      readonly op: 'take';
      readonly lock: Lock;
      readonly freeAt: number | undefined;
      /** The workflow that left the lock behind; the plan guards that it has no claim to it. */
      readonly orphanOf?: string;
    }
  | {
      readonly op: 'release';
      readonly asset: string;
      readonly workflow: string;
      readonly fence: number;
      /** What the lock remembers from now on; left out, it keeps what it remembers. */
      readonly last?: LastValues;
    }
  | {
      /** By somebody else's hand: the fence grows, so that whatever carries the old one is refused. */
      readonly op: 'force_release';
      readonly asset: string;
      readonly workflow: string;
      readonly fence: number;
    }
  | {
      readonly op: 'hand_over';
      readonly asset: string;
      readonly workflow: string;
      readonly fence: number;
      readonly subject: string;
      readonly name: string;
    };

/** One atomic change, decided but not yet written. */
export interface CommitPlan {
  readonly tenant: string;
  /** Epoch milliseconds of the decision; expiry is compared with it. */
  readonly now: number;
  readonly aggregate:
    | { readonly op: 'create'; readonly state: Workflow }
    | { readonly op: 'update'; readonly before: Workflow; readonly change: WorkflowChange };
  readonly events: readonly StoredEvent[];
  readonly ledger?: LedgerRow;
  readonly locks: readonly LockPlan[];
  readonly pointers: readonly (
    | { readonly op: 'add'; readonly pointer: Pointer }
    | { readonly op: 'remove'; readonly subject: string }
  )[];
  readonly vault: readonly VaultRow[];
  /** Sequences of the aggregate's sensitive values that are deleted. */
  readonly erased?: readonly number[];
  readonly outbox: readonly OutboxRow[];
  /** Items that have to be as they were seen; `absent` ones must not be there. */
  readonly guards: readonly (
    | { readonly key: ItemKey; readonly expect: Expectation }
    | { readonly key: ItemKey; readonly absent: true }
  )[];
}

/** The aggregate as it is after a change; the one place that applies one. */
export function applyChange(before: Workflow, change: WorkflowChange): Workflow {
  const steps = { ...before.steps, ...change.steps };
  const after: Record<string, unknown> = { ...before, ...change.set, steps };
  for (const name of change.remove ?? []) delete after[name];
  return after as unknown as Workflow;
}

/** The aggregate as it is after the plan. */
export function aggregateAfter(plan: CommitPlan): Workflow {
  return plan.aggregate.op === 'create'
    ? plan.aggregate.state
    : applyChange(plan.aggregate.before, plan.aggregate.change);
}

/**
 * Compiles a plan to one transaction. Throws a terminal fault: `PLAN_REFUSED` for two writes of one
 * item, for more than 100 items or 4 MB, and for items or keys beyond what any backend takes;
 * `STATE_TOO_LARGE` for steps that would let the state outgrow its bound.
 */
export function compilePlan(plan: CommitPlan): Transaction {
  const writes = [
    aggregateWrite(plan),
    ...plan.events.map(eventWrite),
    ...(plan.ledger === undefined ? [] : [ledgerWrite(plan.ledger, plan.now)]),
    ...plan.locks.map((lock) => lockWrite(plan.tenant, lock)),
    ...plan.pointers.map((pointer) => pointerWrite(plan, pointer)),
    ...plan.vault.map((row): Write => ({ op: 'create', key: vaultKey(row), item: row })),
    ...(plan.erased ?? []).map((seq) => eraseWrite(plan, seq)),
    ...plan.outbox.map(outboxWrite),
  ];
  const compiled = withGuards(distinct(writes), plan.guards);
  checkTransaction(compiled);
  checkState(plan);
  return { writes: compiled };
}

/** The write of an event. */
export const eventWrite = (event: StoredEvent): Write => ({
  op: 'create',
  key: eventKey(event),
  item: event,
});

/** The write of a new outbox row. */
export const outboxWrite = (row: OutboxRow): Write => ({
  op: 'create',
  key: outboxKey(row),
  item: row,
});

const eventKey = ({ tenant, workflow, seq }: StoredEvent): ItemKey => ({
  kind: 'event',
  tenant,
  workflow,
  seq,
});
const vaultKey = ({ tenant, workflow, seq }: VaultRow): ItemKey => ({
  kind: 'vault',
  tenant,
  workflow,
  seq,
});
const outboxKey = ({ tenant, workflow, lane, seq }: OutboxRow): ItemKey => ({
  kind: 'outbox',
  tenant,
  workflow,
  lane,
  seq,
});

function aggregateWrite({ tenant, aggregate }: CommitPlan): Write {
  if (aggregate.op === 'create') {
    const key: ItemKey = { kind: 'workflow', tenant, id: aggregate.state.id };
    return { op: 'create', key, item: aggregate.state };
  }
  const { before, change } = aggregate;
  return {
    op: 'update',
    key: { kind: 'workflow', tenant, id: before.id },
    expect: { version: before.version, head_seq: before.head_seq, head_hash: before.head_hash },
    set: change.set as Record<string, Json>,
    ...(change.steps !== undefined && {
      put_in: { steps: change.steps as unknown as Record<string, Json> },
    }),
    ...(change.remove !== undefined && { remove: change.remove }),
  };
}

/** A transaction that only remembers what a key was answered. */
export function rememberKey(row: LedgerRow, now: number): Transaction {
  return { writes: [ledgerWrite(row, now)] };
}

/** The write of a ledger row, where there is none or one that is over at `now`. */
export function ledgerWrite(row: LedgerRow, now: number): Write {
  const key: ItemKey = { kind: 'ledger', tenant: row.tenant, key: row.key };
  return { op: 'create', key, item: row, expiredAt: Math.floor(now / 1000) };
}

/** The write of what happens to a lock. */
export function lockWrite(tenant: string, plan: LockPlan): Write {
  if (plan.op === 'take') {
    const key: ItemKey = { kind: 'lock', tenant, asset: plan.lock.asset };
    if (plan.freeAt === undefined) return { op: 'create', key, item: plan.lock };
    const { tenant: _t, asset: _a, ...set } = plan.lock;
    const { orphanOf } = plan;
    const free = orphanOf === undefined ? { held: false } : { held: true, workflow: orphanOf };
    return { op: 'update', key, expect: { ...free, fence: plan.freeAt }, set };
  }
  const key: ItemKey = { kind: 'lock', tenant, asset: plan.asset };
  const expect = { held: true, workflow: plan.workflow, fence: plan.fence };
  if (plan.op === 'hand_over') {
    return { op: 'update', key, expect, set: { subject: plan.subject, name: plan.name } };
  }
  const remove = ['workflow', 'procedure', 'subject', 'name', 'since'];
  if (plan.op === 'force_release') {
    return { op: 'update', key, expect, set: { held: false, fence: plan.fence + 1 }, remove };
  }
  const set = { held: false, ...(plan.last !== undefined && { last: plan.last }) };
  return { op: 'update', key, expect, set, remove };
}

function pointerWrite(plan: CommitPlan, pointer: CommitPlan['pointers'][number]): Write {
  const workflow = aggregateAfter(plan).id;
  const subject = pointer.op === 'add' ? pointer.pointer.subject : pointer.subject;
  const key: ItemKey = { kind: 'pointer', tenant: plan.tenant, subject, workflow };
  // A missing or stale pointer is drift for the reconciler, never a reason to refuse finishing the work.
  return pointer.op === 'add'
    ? { op: 'create', key, item: pointer.pointer, replace: true }
    : { op: 'delete', key, expect: {} };
}

/** The fence is the version of the aggregate: no value comes or goes without it. */
function eraseWrite(plan: CommitPlan, seq: number): Write {
  const workflow = aggregateAfter(plan).id;
  return { op: 'delete', key: { kind: 'vault', tenant: plan.tenant, workflow, seq }, expect: {} };
}

/** Writes by their items. Throws `PLAN_REFUSED` for two of one item. */
export function distinct(writes: readonly Write[]): Map<string, Write> {
  const byKey = new Map<string, Write>();
  for (const write of writes) {
    const text = keyText(write.key);
    if (byKey.has(text)) throw planRefused(`the plan writes ${write.key.kind} twice`);
    byKey.set(text, write);
  }
  return byKey;
}

function withGuards(writes: Map<string, Write>, guards: CommitPlan['guards']): readonly Write[] {
  for (const guard of guards) {
    const { key } = guard;
    const text = keyText(key);
    const write = writes.get(text);
    if ('absent' in guard) {
      if (write !== undefined) throw planRefused(`an absent ${key.kind} that is written`);
      writes.set(text, { op: 'absent', key });
      continue;
    }
    const { expect } = guard;
    if (write === undefined) writes.set(text, { op: 'check', key, expect });
    else if (write.op === 'create' || write.op === 'absent')
      throw planRefused(`a guard on a ${key.kind} that is created`);
    else writes.set(text, { ...write, expect: merged(write.expect, expect, key.kind) });
  }
  return [...writes.values()];
}

function merged(a: Expectation, b: Expectation, kind: string): Expectation {
  for (const [name, value] of Object.entries(b)) {
    if (name in a && a[name] !== value) throw planRefused(`two expectations of ${kind}.${name}`);
  }
  return { ...a, ...b };
}

/** A state may not outgrow its bound by steps; ending a workflow is never refused for its size. */
function checkState(plan: CommitPlan): void {
  if (plan.aggregate.op === 'update' && plan.aggregate.change.steps === undefined) return;
  const bytes = itemBytes(aggregateAfter(plan));
  if (bytes <= LIMITS.stateBytes.max) return;
  throw new Fault('terminal', 'STATE_TOO_LARGE', `a state of ${bytes} bytes`);
}
