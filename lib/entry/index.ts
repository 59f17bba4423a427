// The package's main entry: Checkpoint in a process of one's own, on the embedded store.
// A promise to others, kept small; nothing inside imports it.
export {
  dataFile,
  localApp,
  openLocal,
  toolsFor,
  type Local,
  type LocalTools,
} from '../wiring/local.ts';
export { readSettings, SettingsError, type Environment, type Settings } from '../settings.ts';
export { createSpeech, type Speech } from '../surface/speech.ts';
export type { Command, StepInput } from '../core/model/commands.ts';
export type { Principal, PrincipalKind, Scope } from '../core/model/principal.ts';
export type { ProcedureInput } from '../core/model/procedure.ts';
export type { Outcome, OutcomeCode } from '../core/outcome.ts';
export type { DomainPolicy, Finding, RuleInput } from '../core/ports/policy.ts';
export type { WorkflowView } from '../core/view.ts';
