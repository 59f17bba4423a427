// What is going on in a tenant, at a glance: counts, held locks, blocked work, what waits to be sent.
// Every part is bounded, and says so where there is more.
import { LIMITS } from './limits.ts';
import {
  WORKFLOW_STATES,
  type Lock,
  type OutboxRow,
  type Workflow,
  type WorkflowState,
} from './model/workflow.ts';
import { RUN_STATES, type Proposal, type RunState } from './model/run.ts';
import { recordKey } from './model/aggregate.ts';
import { everyItem } from './pages.ts';
import type { StorageBackend } from './ports/storage.ts';
import type { NotedFinding } from './ports/sweeps.ts';
import { proposing } from './queries.ts';
import { findingsOf, recentDays } from './reconcile/notes.ts';
import { deadlinesOf } from './timers.ts';

/** A bounded list. */
export interface Some<T> {
  readonly items: readonly T[];
  readonly more: boolean;
}

/** An action that waits for a decision: that of a run on a service, or that of blocked work on an asset. */
export interface Undecided {
  readonly kind: 'run' | 'workflow';
  readonly id: string;
  readonly about: string;
  /** The last moment to decide. */
  readonly expires_at: string;
}

/** A tenant at a glance. */
export interface Overview {
  readonly tenant: string;
  /** Workflows by state; `LIMITS.countedWorkflows` stands for that many or more. */
  readonly counts: { readonly [S in WorkflowState]: number };
  /** Runs by state, bounded in the same way. */
  readonly runs: { readonly [S in RunState]: number };
  /** Of the oldest that wait for a decision, those that have to be decided first. */
  readonly undecided: Some<Undecided>;
  /** Held locks, oldest first. */
  readonly locks: Some<Lock>;
  /** Blocked workflows, those that were started first first. */
  readonly blocked: Some<Workflow>;
  /** Those of the oldest active workflows that have a deadline, the earliest due first. */
  readonly timed: Some<Workflow>;
  /** Rows that still have to leave, the earliest due first. */
  readonly outbox: Some<OutboxRow>;
  /** Rows that wait for a person, oldest first. */
  readonly parked: Some<OutboxRow>;
  /** What sweeps found today and the day before and did not repair, each once. */
  readonly findings: Some<NotedFinding>;
  /** When something was swept last, where that was today or the day before. */
  readonly sweptAt: string | undefined;
}

/** Reads the overview of a tenant, with at most `most` entries in each list (1 to 99). */
export async function overviewOf(
  store: StorageBackend,
  tenant: string,
  most: number,
  now: number,
): Promise<Overview> {
  const { max } = LIMITS.countedWorkflows;
  const counts: Partial<Record<WorkflowState, number>> = {};
  for (const state of WORKFLOW_STATES)
    counts[state] = await store.countWorkflows(tenant, state, max);
  const runs: Partial<Record<RunState, number>> = {};
  for (const state of RUN_STATES) runs[state] = await store.countRuns(tenant, state, max);
  const undecided = await undecidedOf(store, tenant, most);
  const locks = await store.listLocks(tenant, { limit: most });
  const blocked = await store.listWorkflows(tenant, 'BLOCKED', { limit: most });
  const timed = await timedOf(store, tenant);
  const outbox = await store.listTenantOutbox(tenant, most + 1);
  const parked = await store.listParked(tenant, { limit: most });
  const findings = await openFindings(store, tenant, now, most + 1);
  return {
    tenant,
    counts: counts as Overview['counts'],
    runs: runs as Overview['runs'],
    undecided,
    locks: { items: locks.items, more: locks.next !== undefined },
    blocked: { items: blocked.items, more: blocked.next !== undefined },
    timed: { items: timed.slice(0, most), more: timed.length > most },
    outbox: { items: outbox.slice(0, most), more: outbox.length > most },
    parked: { items: parked.items, more: parked.next !== undefined },
    findings: { items: findings.slice(0, most), more: findings.length > most },
    sweptAt: await sweptAt(store, now),
  };
}

async function undecidedOf(
  store: StorageBackend,
  tenant: string,
  most: number,
): Promise<Some<Undecided>> {
  const limit = LIMITS.pageItems.max;
  const runs = await store.listRuns(tenant, 'awaiting_approval', { limit });
  const work = await proposing(store, tenant, { limit });
  const told = (
    proposal: Proposal | undefined,
    what: Omit<Undecided, 'expires_at'>,
  ): readonly Undecided[] =>
    proposal === undefined ? [] : [{ ...what, expires_at: proposal.action.expires_at }];
  const items = [
    ...runs.items.flatMap(({ id, service: about, proposal }) =>
      told(proposal, { kind: 'run', id, about }),
    ),
    ...work.items.flatMap(({ id, asset: about, block }) =>
      told(block?.proposal, { kind: 'workflow', id, about }),
    ),
  ].toSorted((a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at));
  const left = runs.next !== undefined || work.next !== undefined;
  return { items: items.slice(0, most), more: left || items.length > most };
}

async function timedOf(store: StorageBackend, tenant: string): Promise<readonly Workflow[]> {
  const limit = LIMITS.pageItems.max;
  const pages = [];
  for (const state of ['CREATED', 'RUNNING', 'BLOCKED'] as const) {
    pages.push(...(await store.listWorkflows(tenant, state, { limit })).items);
  }
  return pages
    .flatMap((workflow) => {
      const [first] = deadlinesOf(workflow.timers);
      return first === undefined ? [] : [{ workflow, due_at: first.due_at }];
    })
    .toSorted((a, b) => a.due_at - b.due_at)
    .map(({ workflow }) => workflow);
}

/** What was found and not repaired, as it was said last of each workflow and rule; the first `most` of it. */
async function openFindings(
  store: StorageBackend,
  tenant: string,
  now: number,
  most: number,
): Promise<readonly NotedFinding[]> {
  const last = new Map<string, { readonly finding: NotedFinding; readonly at: string }>();
  for (const day of recentDays(now)) {
    const at = { day, now };
    for await (const sweep of everyItem((page) => findingsOf(store, tenant, at, page))) {
      for (const finding of sweep.findings) {
        last.set(JSON.stringify([finding.rule, finding.workflow]), { finding, at: sweep.at });
      }
    }
  }
  const open: NotedFinding[] = [];
  for (const { finding, at } of last.values()) {
    if (open.length === most) break;
    if (finding.repaired) continue;
    const [record] = await store.snapshot([recordKey(tenant, finding.workflow)]);
    // What changed since, and is not frozen, is as the next look finds it.
    const settled = record !== undefined && record.frozen === undefined && record.updated_at > at;
    if (!settled) open.push(finding);
  }
  return open;
}

async function sweptAt(store: StorageBackend, now: number): Promise<string | undefined> {
  const days = await Promise.all(recentDays(now).map((day) => store.listSweeps(day)));
  return days
    .flat()
    .map(({ last_at }) => last_at)
    .toSorted()
    .at(-1);
}
