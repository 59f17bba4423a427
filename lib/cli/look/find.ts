// Which workflow is meant by what was typed: an id, or an asset that only one workflow was on.
import { LIMITS } from '../../core/limits.ts';
import { isRunId } from '../../core/model/aggregate.ts';
import { canonicalAsset } from '../../core/names.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { tenantsOf } from '../../core/tenants.ts';
import { CliProblem } from '../failure.ts';

/** A workflow by its full name. */
export interface WorkflowName {
  readonly tenant: string;
  readonly id: string;
}

/** Finds a run by its id, and otherwise a workflow as above. */
export async function findTrail(
  store: StorageBackend,
  text: string,
  tenant: string | undefined,
): Promise<WorkflowName> {
  if (!isRunId(text)) return findWorkflow(store, text, tenant);
  const found: WorkflowName[] = [];
  for await (const name of tenantsOf(store, tenant)) {
    const [run] = await store.snapshot([{ kind: 'run', tenant: name, id: text }]);
    if (run !== undefined) found.push({ tenant: name, id: run.id });
  }
  if (found.length === 0) throw new CliProblem(`There is no run ${text}.`);
  return only(found, text);
}

/** How many workflows are looked through for an asset that nobody holds. */
const LOOKED_THROUGH = LIMITS.countedWorkflows.max;

/** Finds one workflow, in one tenant or in all. Throws a problem where there is none or several. */
export async function findWorkflow(
  store: StorageBackend,
  text: string,
  tenant: string | undefined,
): Promise<WorkflowName> {
  const tenants: string[] = [];
  for await (const name of tenantsOf(store, tenant)) tenants.push(name);
  const byId: WorkflowName[] = [];
  for (const name of tenants) {
    const [workflow] = await store.snapshot([{ kind: 'workflow', tenant: name, id: text }]);
    if (workflow !== undefined) byId.push({ tenant: name, id: workflow.id });
  }
  if (byId.length > 0) return only(byId, text);
  const held: WorkflowName[] = [];
  for (const name of tenants) {
    const asset = canonicalAsset(text);
    const [lock] = await store.snapshot([{ kind: 'lock', tenant: name, asset }]);
    if (lock?.held === true && lock.workflow !== undefined) {
      held.push({ tenant: name, id: lock.workflow });
    }
  }
  return only(held.length > 0 ? held : await pastOn(store, text, tenant), text);
}

/** Workflows of the past on an asset. */
async function pastOn(
  store: StorageBackend,
  text: string,
  tenant: string | undefined,
): Promise<readonly WorkflowName[]> {
  const asset = canonicalAsset(text);
  const found: WorkflowName[] = [];
  let after: string | undefined;
  for (let seen = 0; seen < LOOKED_THROUGH;) {
    const at = { limit: LIMITS.pageItems.max, ...(after !== undefined && { after }) };
    const page = await store.scanWorkflows(at);
    seen += page.items.length;
    for (const workflow of page.items) {
      if (workflow.asset !== asset) continue;
      if (tenant !== undefined && workflow.tenant !== tenant) continue;
      found.push({ tenant: workflow.tenant, id: workflow.id });
    }
    after = page.next;
    if (after === undefined) return found;
  }
  throw new CliProblem(
    `Nobody holds ${text}, and there are too many workflows to look through: name one by its id.`,
  );
}

function only(found: readonly WorkflowName[], text: string): WorkflowName {
  const [first] = found;
  if (first === undefined) {
    throw new CliProblem(`There is no workflow ${text}, and none on an asset of that name.`);
  }
  if (found.length === 1) return first;
  const several = new Set(found.map(({ tenant }) => tenant)).size > 1;
  const names = found
    .slice(0, 5)
    .map(({ tenant, id }) => (several ? `${id} (tenant ${tenant})` : id));
  const rest = found.length > names.length ? ` and ${found.length - names.length} more` : '';
  const hint = several ? 'with --tenant' : 'by its id';
  throw new CliProblem(
    `${found.length} workflows fit ${text}; name one ${hint}: ${names.join(', ')}${rest}.`,
  );
}
