// Reads for people: one workflow, one's own, the blocked ones. Never a guess between several.
import {
  refusalForAuditing,
  refusalForLooking,
  refusalForProposals,
  refusalForReading,
  refusalForSupervising,
} from './authorize.ts';
import { readableEvent, type ReadableEvent } from './events.ts';
import { isFault, unavailable, type Fault } from './fault.ts';
import { LIMITS } from './limits.ts';
import type { Principal } from './model/principal.ts';
import type { Profile, Workflow } from './model/workflow.ts';
import { canonicalAsset } from './names.ts';
import type { Choice, Refusal } from './outcome.ts';
import type { Page, StorageBackend } from './ports/storage.ts';
import type { ProcedureRegistry } from './procedures.ts';
import { procedureOf } from './procedure-of.ts';
import { suggestAssets } from './suggest-assets.ts';
import { bareView, viewOf, type WorkflowView } from './view.ts';

/** A read that found what was asked for. */
export interface Found<T> {
  readonly code: 'FOUND';
  readonly value: T;
}

/** A list with the number of entries there are beyond those shown. */
export interface ViewList {
  readonly workflows: readonly WorkflowView[];
  readonly more: boolean;
}

/** A page of an audit trail, and the sequence of its last event as of the read. */
export interface TrailPage {
  readonly workflow: WorkflowView;
  readonly events: readonly ReadableEvent[];
  readonly head: number;
}

/**
 * The query side of Checkpoint. Operational faults are answered `BACKEND_UNAVAILABLE`; `requestId`
 * names the request in the log line about one.
 */
export interface Queries {
  /** One workflow by id, by asset, or the caller's only active one. */
  getWorkflow(
    principal: Principal,
    which: { readonly workflow?: string; readonly asset?: string },
    requestId?: string,
  ): Promise<Found<WorkflowView> | Refusal>;
  /** The caller's active workflows, oldest first. */
  listMine(principal: Principal, requestId?: string): Promise<Found<ViewList> | Refusal>;
  /** The tenant's blocked workflows, oldest first, for supervisors. */
  listBlocked(principal: Principal, requestId?: string): Promise<Found<ViewList> | Refusal>;
  /**
   * The tenant's blocked workflows that propose something, oldest first, for whoever decides. A page may hold
   * fewer than asked for and still have a next one.
   */
  listProposals(
    principal: Principal,
    page: { readonly after?: string; readonly limit: number },
    requestId?: string,
  ): Promise<Found<Page<WorkflowView>> | Refusal>;
  /** The events of a workflow after a sequence, for auditors. Never a sensitive value. */
  listEvents(
    principal: Principal,
    workflow: string,
    after: number,
    requestId?: string,
  ): Promise<Found<TrailPage> | Refusal>;
}

/** Builds the query side. */
export function createQueries(
  store: StorageBackend,
  registry: ProcedureRegistry,
  onFault?: (fault: Fault, operation: string, requestId?: string) => void,
): Queries {
  const guarded = async <T>(
    operation: string,
    refusal: Refusal | undefined,
    requestId: string | undefined,
    read: () => Promise<Found<T> | Refusal>,
  ): Promise<Found<T> | Refusal> => {
    if (refusal !== undefined) return refusal;
    try {
      return await read();
    } catch (error) {
      if (!isFault(error)) throw error;
      onFault?.(error, operation, requestId);
      return unavailable(error);
    }
  };
  const view = (workflow: Workflow): WorkflowView =>
    viewOf(workflow, procedureOf(registry, workflow));
  /** One entry that this process cannot serve must not hide the others. */
  const entry = (workflow: Workflow): WorkflowView => {
    const known = registry.find(workflow.procedure, workflow.procedure_version);
    return known === undefined ? bareView(workflow) : viewOf(workflow, known);
  };

  return {
    getWorkflow: (principal, which, requestId) =>
      guarded('get_workflow', refusalForLooking(principal), requestId, async () => {
        const { tenant } = principal;
        let id = which.workflow;
        if (id === undefined && which.asset !== undefined) {
          const asset = canonicalAsset(which.asset);
          const [lock] = await store.snapshot([{ kind: 'lock', tenant, asset }]);
          if (lock?.held !== true || lock.workflow === undefined) {
            const refusal = { code: 'NOT_FOUND', what: 'asset', name: which.asset } as const;
            if (lock !== undefined) return refusal;
            const near = await suggestAssets(store, tenant, which.asset, registry.list());
            return { ...refusal, ...near };
          }
          id = lock.workflow;
        }
        if (id === undefined) {
          const mine = await activeOf(store, principal);
          const only = mine.length === 1 ? mine[0] : undefined;
          if (only === undefined) return choices(mine, registry);
          return { code: 'FOUND', value: view(only) };
        }
        const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id }]);
        if (workflow === undefined) return { code: 'NOT_FOUND', what: 'workflow', name: id };
        return { code: 'FOUND', value: view(workflow) };
      }),
    listMine: (principal, requestId) =>
      guarded('list_my_workflows', refusalForReading(principal), requestId, async () => {
        const mine = await activeOf(store, principal);
        const more = mine.length >= LIMITS.pageItems.max;
        return { code: 'FOUND', value: { workflows: mine.map(entry), more } };
      }),
    listBlocked: (principal, requestId) =>
      guarded('list_blocked', refusalForSupervising(principal), requestId, async () => {
        const shown = LIMITS.blockedShown.max;
        const page = await store.listWorkflows(principal.tenant, 'BLOCKED', { limit: shown + 1 });
        const workflows = page.items.slice(0, shown).map(entry);
        return { code: 'FOUND', value: { workflows, more: page.items.length > shown } };
      }),
    listProposals: (principal, page, requestId) =>
      guarded('list_proposals', refusalForProposals(principal), requestId, async () => {
        const { items, ...rest } = await proposing(store, principal.tenant, page);
        return { code: 'FOUND', value: { items: items.map(entry), ...rest } };
      }),
    listEvents: (principal, id, after, requestId) =>
      guarded('list_events', refusalForAuditing(principal), requestId, async () => {
        const { tenant } = principal;
        const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id }]);
        if (workflow === undefined) return { code: 'NOT_FOUND', what: 'workflow', name: id };
        const events = await store.listEvents(tenant, id, { after, limit: LIMITS.pageItems.max });
        // The trail may have grown since the record was read: a page never passes its head.
        const known = events.filter(({ seq }) => seq <= workflow.head_seq).map(readableEvent);
        const head = workflow.head_seq;
        return { code: 'FOUND', value: { workflow: view(workflow), events: known, head } };
      }),
  };
}

/** How many pages of blocked work are looked through for one page of what it proposes. */
const PAGES = 10;

/**
 * Blocked work that proposes something, oldest first: what is blocked waits for people, so it is little, and
 * is looked through. A page may hold fewer than asked for and still have a next one.
 */
export async function proposing(
  store: StorageBackend,
  tenant: string,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<Page<Workflow>> {
  const items: Workflow[] = [];
  let next = after;
  for (let n = 0; n < PAGES; n++) {
    const at = { limit: limit - items.length, ...(next !== undefined && { after: next }) };
    const page = await store.listWorkflows(tenant, 'BLOCKED', at);
    items.push(...page.items.filter(({ block }) => block?.proposal !== undefined));
    next = page.next;
    if (next === undefined || items.length === limit) break;
  }
  return { items, ...(next !== undefined && { next }) };
}

/** The active workflows of a person, each read from its record. */
async function activeOf(store: StorageBackend, principal: Principal): Promise<readonly Workflow[]> {
  const { tenant, subject } = principal;
  const pointers = await store.listPointers(tenant, subject, LIMITS.pageItems.max);
  const items = await store.snapshot(
    pointers.map(({ workflow }) => ({ kind: 'workflow' as const, tenant, id: workflow })),
  );
  return items.filter(
    (workflow): workflow is Workflow =>
      workflow !== undefined &&
      workflow.state !== 'COMPLETED' &&
      workflow.holder.subject === subject,
  );
}

function choices(workflows: readonly Workflow[], registry: ProcedureRegistry): Refusal {
  const shown = workflows.slice(0, LIMITS.spokenChoices.max);
  return {
    code: 'AMBIGUOUS',
    about: 'workflow',
    choices: shown.map(({ id, asset, procedure }): Choice => ({
      workflow: id,
      asset,
      procedure,
      title: registry.find(procedure)?.title ?? procedure,
    })),
    total: workflows.length,
  };
}

/** The caller's active workflows as choices to speak; used where a command names none. */
export async function activeChoices(
  store: StorageBackend,
  registry: ProcedureRegistry,
  principal: Principal,
): Promise<Refusal> {
  return choices(await activeOf(store, principal), registry);
}

/** The one person of the tenant that is meant, or why there is not exactly one. */
export async function resolvePerson(
  store: StorageBackend,
  tenant: string,
  text: string,
): Promise<Profile | Refusal> {
  const all = await store.findProfiles(tenant, text, LIMITS.spokenChoices.max + 1);
  // A text in the form of an account is never taken for somebody's name.
  const found = text.includes(':') ? all.filter(({ subject }) => subject === text) : all;
  const exact = found.find(({ subject }) => subject === text);
  const only = exact ?? (found.length === 1 ? found[0] : undefined);
  if (only !== undefined) return only;
  if (found.length === 0) return { code: 'NOT_FOUND', what: 'person', name: text };
  const people = found
    .slice(0, LIMITS.spokenChoices.max)
    .map(({ subject, name }) => ({ subject, name }));
  return { code: 'AMBIGUOUS', about: 'person', choices: [], people, total: found.length };
}
