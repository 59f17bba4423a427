import { Fault } from './fault.ts';
import type { Procedure } from './model/procedure.ts';
import type { Workflow } from './model/workflow.ts';
import type { ProcedureRegistry } from './procedures.ts';

/**
 * The version of the procedure that a workflow started with. A process that lacks it is not able to
 * serve the workflow: a retryable fault, never a guess.
 */
export function procedureOf(registry: ProcedureRegistry, workflow: Workflow): Procedure {
  const { procedure, procedure_version: version } = workflow;
  const found = registry.find(procedure, version);
  if (found !== undefined) return found;
  const what = `this process does not know ${procedure}@${version}`;
  throw new Fault('retryable', 'PROCEDURE_VERSION_MISSING', what);
}
