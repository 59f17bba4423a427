// The domain port: a domain supplies procedures as data and, where data is not enough, rules in code.
import type { Json } from '../json.ts';
import type { DeviationRule, ProcedureInput } from '../model/procedure.ts';

/**
 * Values on record when a rule is asked, by step id; the new value is already among them. Texts on
 * record and sensitive texts are not: a rule's message is spoken, stored and sent in the clear.
 */
export interface RuleInput {
  readonly procedure: string;
  readonly version: number;
  readonly step: string;
  readonly values: { readonly [step: string]: Json };
}

/** A broken rule: what is said, and what follows once the value is confirmed. */
export interface Finding {
  readonly rule: string;
  readonly message: string;
  readonly follows: DeviationRule;
}

/** A domain. `check` must be pure: same input, same findings. */
export interface DomainPolicy {
  readonly domain: string;
  readonly procedures: readonly ProcedureInput[];
  check?(input: RuleInput): readonly Finding[];
}
