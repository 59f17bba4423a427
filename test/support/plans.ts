/** Commit plans for names that no procedure would accept, built from the parts of the core. */
import { commitChange, endings, type DecideContext } from '../../lib/core/decide/decision.ts';
import { appendEvent, GENESIS } from '../../lib/core/events.ts';
import {
  FORMAT,
  type LedgerRow,
  type Lock,
  type OutboxRow,
  type Workflow,
} from '../../lib/core/model/workflow.ts';
import { compilePlan, type CommitPlan } from '../../lib/core/plan.ts';
import type { Transaction } from '../../lib/core/ports/storage.ts';
import { principal, START_MS, testRegistry } from './harness.ts';

/** The names in a plan. */
export interface Names {
  readonly tenant: string;
  readonly id?: string;
  readonly asset?: string;
  readonly subject?: string;
}

/** A workflow that has just been started. */
export function workflowOf({ tenant, id = 'w1', asset = 'A-1', subject = 'dev:ana' }: Names) {
  const at = new Date(START_MS).toISOString();
  const { event, head } = appendEvent(
    { tenant, workflow: id, head: { seq: 0, hash: GENESIS } },
    {
      type: 'workflow_started',
      at,
      actor: { subject, name: 'Ana', kind: 'person', via: 'mcp' },
      data: { command: 'start_workflow', result: 'started' },
    },
  );
  const workflow: Workflow = {
    format: FORMAT,
    tenant,
    id,
    version: 1,
    procedure: 'short',
    procedure_version: 1,
    asset,
    state: 'CREATED',
    holder: { subject, name: 'Ana' },
    tenure: 1,
    offered: false,
    fence: 1,
    steps: {},
    head_seq: head.seq,
    head_hash: head.hash,
    created_at: at,
    updated_at: at,
  };
  return { workflow, event };
}

/** A ledger row under `key` that expires at `expiresAt` (epoch seconds). */
export function ledgerOf(tenant: string, key: string, expiresAt: number): LedgerRow {
  const at = new Date(START_MS).toISOString();
  return {
    format: FORMAT,
    tenant,
    key,
    operation: 'start_workflow',
    digest: 'd'.repeat(64),
    fields: {},
    receipt: { command: 'start_workflow', workflow: 'w1', seq: 1, at, result: 'started' },
    expires_at: expiresAt,
  };
}

/** A held lock. */
export function lockOf({ tenant, id = 'w1', asset = 'A-1', subject = 'dev:ana' }: Names): Lock {
  const since = new Date(START_MS).toISOString();
  const held = { workflow: id, procedure: 'short', subject, name: 'Ana', since };
  return { format: FORMAT, tenant, asset, fence: 1, held: true, ...held };
}

/** The plan of a start; `part` replaces parts of it. */
export function startPlan(names: Names, part: Partial<CommitPlan> = {}): CommitPlan {
  const { workflow, event } = workflowOf(names);
  const { tenant, id, asset, procedure } = workflow;
  const { subject } = workflow.holder;
  const since = workflow.created_at;
  return {
    tenant,
    now: START_MS,
    aggregate: { op: 'create', state: workflow },
    events: [event],
    locks: [{ op: 'take', lock: lockOf(names), freeAt: undefined }],
    pointers: [
      {
        op: 'add',
        pointer: { format: FORMAT, tenant, subject, workflow: id, asset, procedure, since },
      },
    ],
    vault: [],
    outbox: [],
    guards: [],
    ...part,
  };
}

/** The transaction of a start. */
export function startTransaction(names: Names, part: Partial<CommitPlan> = {}): Transaction {
  return compilePlan(startPlan(names, part));
}

/** The plan that ends a workflow as abandoned. */
export function endPlan(workflow: Workflow): CommitPlan {
  const registry = testRegistry();
  const procedure = registry.find('short');
  if (procedure === undefined) throw new Error('the test domain has a short procedure');
  const { tenant, holder } = workflow;
  const context: DecideContext = {
    principal: principal({ tenant, subject: holder.subject }),
    now: START_MS,
    registry,
    confirmationSecret: 'unused',
    sinks: [],
    fresh: { workflow: 'unused', vaultKey: 'unused' },
  };
  const decision = commitChange(context, {
    workflow,
    procedure,
    event: { type: 'workflow_abandoned', data: {} },
    receipt: { command: 'abandon_workflow', result: 'abandoned' },
    change: (seq) => ({ set: { state: 'COMPLETED', result: 'abandoned', ended_seq: seq } }),
    ...endings(workflow, START_MS),
  });
  if (decision.kind !== 'commit') throw new Error('a change is a commit');
  return decision.plan;
}

/** An outbox row of the lane `notify:log`; `part` replaces attributes. */
export function outboxOf(
  { tenant, id = 'w1' }: Pick<Names, 'tenant' | 'id'>,
  part: Partial<OutboxRow> = {},
): OutboxRow {
  const { lane = 'notify:log', seq = 1 } = part;
  return {
    format: FORMAT,
    tenant,
    workflow: id,
    lane,
    seq,
    id: `${tenant} ${id} ${lane} ${seq}`,
    payload: { kind: 'block', workflow: id },
    rev: 0,
    attempts: 0,
    due_at: START_MS + 30_000,
    ...part,
  };
}
