// Which procedure versions active workflows run on, and which of them this release lacks: the check
// before a deployment. Costs one pass over what is active, never over what is stored.
import type { WorkflowState } from './model/workflow.ts';
import { everyItem } from './pages.ts';
import type { StorageBackend } from './ports/storage.ts';
import type { ProcedureRegistry } from './procedures.ts';
import { tenantsOf } from './tenants.ts';

const ACTIVE: readonly WorkflowState[] = ['CREATED', 'RUNNING', 'BLOCKED'];

/** A procedure version that active workflows run on. */
export interface ActiveVersion {
  readonly procedure: string;
  readonly version: number;
  readonly workflows: number;
  readonly tenants: readonly string[];
  /** Whether this release has it; its workflows cannot be served otherwise. */
  readonly known: boolean;
}

/** Every version in use, by procedure and version. */
export async function activeVersions(
  store: Pick<StorageBackend, 'listTenants' | 'listWorkflows'>,
  registry: Pick<ProcedureRegistry, 'find'>,
): Promise<readonly ActiveVersion[]> {
  const found = new Map<string, { count: number; tenants: Set<string> }>();
  for await (const tenant of tenantsOf(store)) {
    for (const state of ACTIVE) {
      const listed = everyItem((page) => store.listWorkflows(tenant, state, page));
      for await (const { procedure, procedure_version: version } of listed) {
        const name = JSON.stringify([procedure, version]);
        const entry = found.get(name) ?? { count: 0, tenants: new Set() };
        entry.count++;
        entry.tenants.add(tenant);
        found.set(name, entry);
      }
    }
  }
  return [...found]
    .map(([name, { count, tenants }]): ActiveVersion => {
      const [procedure, version] = JSON.parse(name) as [string, number];
      const known = registry.find(procedure, version) !== undefined;
      return { procedure, version, workflows: count, tenants: [...tenants], known };
    })
    .toSorted((a, b) =>
      a.procedure === b.procedure ? a.version - b.version : a.procedure < b.procedure ? -1 : 1,
    );
}
