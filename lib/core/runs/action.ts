// The digest of an action: what a person approves is exactly what is sent. It covers what acts; what is
// only told with it (`Proposal.missing`) and the ids of requests are not in it.
import { canonicalHash, sameDigest, sha256Hex } from '../canonical.ts';
import { planRefused } from '../check-transaction.ts';
import type { Action, Proposal } from '../model/run.ts';

/** Keeps these digests apart from digests of anything else. */
const DOMAIN = 'checkpoint/action/1';

/** Does not compile where the type has a member that is not bound. */
const BOUND: { readonly [F in keyof Required<Action>]: true } = {
  type: true,
  target: true,
  arguments: true,
  evidence: true,
  policy_version: true,
  idempotency_key: true,
  requester: true,
  expires_at: true,
  not_after: true,
};

/** The form of a digest: nothing shorter is ever compared. */
export const DIGEST = /^[0-9a-f]{64}$/u;

/** The members of an action that its digest covers: every one. */
export const BOUND_FIELDS = Object.keys(BOUND) as readonly (keyof Action)[];

/**
 * SHA-256 of the canonical JSON of domain tag and bound members, 64 lower-case hex digits. Throws the
 * terminal fault `PLAN_REFUSED` for an action with a member that is not bound, or without one that is.
 * Source: RFC 8785.
 */
export function actionHash(action: Action): string {
  const names = Object.keys(action);
  const foreign = names.filter((name) => !BOUND_FIELDS.some((bound) => bound === name));
  if (foreign.length > 0 || names.length < BOUND_FIELDS.length) {
    throw planRefused('an action whose members are not those of its digest');
  }
  const fields = BOUND_FIELDS.map((name) => [name, action[name]] as const);
  return canonicalHash({ domain: DOMAIN, action: Object.fromEntries(fields) });
}

/** Whether a stored proposal is still the one that its digest was made over. */
export function isIntact({ action, action_hash }: Proposal): boolean {
  try {
    return sameDigest(actionHash(action), action_hash);
  } catch {
    return false;
  }
}

/** The key of a run's write: the same on every attempt, another one for every run. */
export const writeKey = (tenant: string, run: string): string =>
  sha256Hex(`write\n${tenant}\n${run}`).slice(0, 32);
