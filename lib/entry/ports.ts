// The package's entry to the ports: what somebody implements who brings a store, a domain, a clock
// or tokens of their own. Types only, so there is nothing to run.
export type { TokenFault, TokenVerifier, Verification } from '../core/ports/identity.ts';
export type { DomainPolicy, Finding, RuleInput } from '../core/ports/policy.ts';
export type { Clock, Random } from '../core/ports/runtime.ts';
export type {
  CommitResult,
  Expectation,
  FailedCondition,
  ItemKey,
  ItemKind,
  Items,
  Page,
  Snapshot,
  StorageBackend,
  Transaction,
  Write,
} from '../core/ports/storage.ts';
