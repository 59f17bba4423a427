// The last known versions of aggregates: a plan may be decided on them, a refusal never.
import type { Workflow } from '../model/workflow.ts';

/** A bounded memory of aggregates; the least recently used one is forgotten first. */
export interface Memory {
  recall(tenant: string, id: string): Workflow | undefined;
  remember(workflow: Workflow): void;
  forget(tenant: string, id: string): void;
}

/** Builds a memory of at most `size` aggregates. */
export function createMemory(size: number): Memory {
  const known = new Map<string, Workflow>();
  // The length keeps any two pairs of texts apart.
  const keyOf = (tenant: string, id: string): string => `${tenant.length} ${tenant}${id}`;
  return {
    recall: (tenant, id) => known.get(keyOf(tenant, id)),
    remember: (workflow) => {
      const key = keyOf(workflow.tenant, workflow.id);
      known.delete(key);
      known.set(key, workflow);
      const oldest = known.keys().next();
      if (known.size > size && oldest.done !== true) known.delete(oldest.value);
    },
    forget: (tenant, id) => {
      known.delete(keyOf(tenant, id));
    },
  };
}
