// The package's entry to the core alone: decisions on any store, without a surface or an adapter.
export { verifyAll, type ChainReport, type TrailFault } from '../core/audit.ts';
export { Fault, isFault } from '../core/fault.ts';
export { LIMITS } from '../core/limits.ts';
export { SCOPES, type Principal, type PrincipalKind, type Scope } from '../core/model/principal.ts';
export { OUTCOME_CODES, type Outcome, type OutcomeCode, type Refusal } from '../core/outcome.ts';
export { parseProcedure } from '../core/parse-procedure.ts';
export { buildRegistry, type ProcedureRegistry } from '../core/procedures.ts';
export { createQueries, type Queries } from '../core/queries.ts';
export { registerProcedures } from '../core/register-procedures.ts';
export { secretsOf, type TenantSecrets } from '../core/secrets.ts';
export { createService, type Service, type ServiceParts } from '../core/service/service.ts';
export type { Command, StepInput } from '../core/model/commands.ts';
export type { Procedure, ProcedureInput, Step } from '../core/model/procedure.ts';
export type { Receipt, StoredEvent, Workflow, WorkflowState } from '../core/model/workflow.ts';
export type { NextStep, StepView, WorkflowView } from '../core/view.ts';
