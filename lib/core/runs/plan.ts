// Commit plans of runs as data, and their compiler to one conditional transaction.
// Invariants: a run moves along an edge of its table or not at all; sizes are checked before anything
// is sent.
import { canonicalJson } from '../canonical.ts';
import { checkTransaction, planRefused } from '../check-transaction.ts';
import { Fault } from '../fault.ts';
import type { Json } from '../json.ts';
import { itemBytes } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { recordKey } from '../model/aggregate.ts';
import { RUN_EDGES, type EvidenceRow, type Run } from '../model/run.ts';
import type { LedgerRow, OutboxRow, StoredEvent } from '../model/workflow.ts';
import { distinct, eventWrite, ledgerWrite, outboxWrite } from '../plan.ts';
import type { Transaction, Write } from '../ports/storage.ts';

/** Attributes that a run can lose. */
export type RunAttribute = 'work_by' | 'deadline_at' | 'proposal' | 'end' | 'resumed';

/** The change of an existing run: named attributes only. */
export interface RunChange {
  readonly set: Partial<Omit<Run, 'tenant' | 'id'>>;
  readonly remove?: readonly RunAttribute[];
}

/** One atomic change of a run, decided but not yet written. */
export interface RunPlan {
  /** Epoch milliseconds of the decision. */
  readonly now: number;
  readonly aggregate:
    | { readonly op: 'create'; readonly state: Run }
    | { readonly op: 'update'; readonly before: Run; readonly change: RunChange };
  readonly events: readonly StoredEvent[];
  readonly ledger?: LedgerRow;
  readonly evidence: readonly EvidenceRow[];
  readonly outbox: readonly OutboxRow[];
}

/** The run as it is after the plan. */
export function runAfter({ aggregate }: RunPlan): Run {
  if (aggregate.op === 'create') return aggregate.state;
  const { before, change } = aggregate;
  const after: Record<string, unknown> = { ...before, ...change.set };
  for (const name of change.remove ?? []) delete after[name];
  return after as unknown as Run;
}

/**
 * Compiles a plan to one transaction. Throws a terminal fault: `PLAN_REFUSED` for a move that is no edge
 * and for what no backend takes, `STATE_TOO_LARGE` for an action or a state beyond its bound.
 */
export function compileRunPlan(plan: RunPlan): Transaction {
  checkEdge(plan);
  checkSizes(plan);
  const writes = [
    aggregateWrite(plan),
    ...plan.events.map(eventWrite),
    ...(plan.ledger === undefined ? [] : [ledgerWrite(plan.ledger, plan.now)]),
    ...plan.evidence.map(evidenceWrite),
    ...plan.outbox.map(outboxWrite),
  ];
  const compiled = [...distinct(writes).values()];
  checkTransaction(compiled);
  return { writes: compiled };
}

function aggregateWrite({ aggregate }: RunPlan): Write {
  if (aggregate.op === 'create') {
    const { state } = aggregate;
    return { op: 'create', key: recordKey(state.tenant, state.id), item: state };
  }
  const { before, change } = aggregate;
  const { tenant, id, version, head_seq, head_hash } = before;
  const remove = (change.remove ?? []).filter((name) => before[name] !== undefined);
  return {
    op: 'update',
    key: recordKey(tenant, id),
    expect: { version, head_seq, head_hash },
    set: change.set as unknown as { readonly [name: string]: Json },
    ...(remove.length > 0 && { remove }),
  };
}

function evidenceWrite(row: EvidenceRow): Write {
  const { tenant, run, seq } = row;
  return { op: 'create', key: { kind: 'evidence', tenant, run, seq }, item: row };
}

function checkEdge({ aggregate }: RunPlan): void {
  if (aggregate.op === 'create') {
    if (aggregate.state.state !== 'created') throw planRefused('a run that begins elsewhere');
    return;
  }
  const { state: from } = aggregate.before;
  const { state: to = from } = aggregate.change.set;
  if (to !== from && !RUN_EDGES[from].includes(to)) {
    throw planRefused(`a run that moves from ${from} to ${to}`);
  }
}

function checkSizes(plan: RunPlan): void {
  const after = runAfter(plan);
  const { proposal } = after;
  const bytes = proposal === undefined ? 0 : Buffer.byteLength(canonicalJson(proposal.action));
  const tooLarge = bytes > LIMITS.actionBytes.max || itemBytes(after) > LIMITS.stateBytes.max;
  if (tooLarge)
    throw new Fault('terminal', 'STATE_TOO_LARGE', 'an action or a run beyond its bound');
}
