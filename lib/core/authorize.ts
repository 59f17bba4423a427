// Who may do what. Decided from the token alone, before anything is read and before any replay.
import type { CommandType } from './model/workflow.ts';
import type { Principal, Scope } from './model/principal.ts';
import type { Refusal } from './outcome.ts';
import { APPROVAL_CHANNELS, refusalForRun } from './runs/authorize.ts';
import type { Forbidden } from './runs/outcome.ts';

const NEEDS: { readonly [C in Exclude<CommandType, 'decide_approval'>]: readonly Scope[] } = {
  start_workflow: ['procedures:run'],
  record_step: ['procedures:run'],
  correct_step: ['procedures:run'],
  resolve_block: ['procedures:supervise'],
  hand_over: ['procedures:run', 'procedures:supervise'],
  complete_workflow: ['procedures:run'],
  abandon_workflow: ['procedures:run', 'procedures:supervise'],
};

const PERSON: Forbidden = { code: 'FORBIDDEN', why: 'person', need: 'a person' };

/**
 * Refuses a command whose principal is a service or has none of the scopes it needs. `channels` are the
 * ways by which approvals may come: an approval is one thing, whatever it is about.
 */
export function refusalFor(
  principal: Principal,
  command: CommandType,
  channels: ReadonlySet<Principal['via']> = APPROVAL_CHANNELS,
): Refusal | undefined {
  if (command === 'decide_approval') return refusalForRun(principal, command, channels);
  // Only a person decides about a block; an agent gets not even a replay of it.
  if (command === 'resolve_block' && principal.kind !== 'person') return PERSON;
  return lacking(principal, NEEDS[command]);
}

/** Refuses a read of people's workflows. */
export function refusalForReading(principal: Principal): Refusal | undefined {
  return lacking(principal, ['procedures:run', 'procedures:supervise', 'audit:read']);
}

/** The same of one workflow: whoever approves has to see what it is about. */
export function refusalForLooking(principal: Principal): Refusal | undefined {
  return lacking(principal, [
    'procedures:run',
    'procedures:supervise',
    'audit:read',
    'approvals:decide',
  ]);
}

/** Refuses a read of what blocks propose. */
export function refusalForProposals(principal: Principal): Forbidden | undefined {
  return lacking(principal, ['approvals:decide', 'procedures:supervise', 'audit:read']);
}

/** Refuses a read of an audit trail. */
export function refusalForAuditing(principal: Principal): Refusal | undefined {
  return lacking(principal, ['audit:read']);
}

/** Refuses a read of the tenant's blocked workflows. */
export function refusalForSupervising(principal: Principal): Refusal | undefined {
  return lacking(principal, ['procedures:supervise']);
}

/** Refuses what whoever is on call looks at and does. */
export function refusalForOperating(principal: Principal): Refusal | undefined {
  return lacking(principal, ['ops:admin']);
}

/** The same, for what a person has to decide: taking an asset away, repairing a trail, letting work go on. */
export function refusalForDeciding(principal: Principal): Refusal | undefined {
  return principal.kind === 'person' ? refusalForOperating(principal) : PERSON;
}

function lacking(principal: Principal, oneOf: readonly Scope[]): Forbidden | undefined {
  if (principal.kind === 'service') return PERSON;
  if (oneOf.some((scope) => principal.scopes.has(scope))) return undefined;
  return { code: 'FORBIDDEN', why: 'scope', need: oneOf[0] ?? '' };
}
