// The signed answer to "is that right?": it proves that this value was read back to this person.
// A token holds only its expiry; everything it is bound to is recomputed from the second call.
import { canonicalJson, sameDigest } from './canonical.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import { shortMac } from './secrets.ts';

/** What a confirmation is bound to. `basis` is the step's last sequence when it was read back. */
export interface ConfirmationBinding {
  readonly tenant: string;
  readonly subject: string;
  readonly workflow: string;
  readonly step: string;
  readonly value: Json;
  readonly basis: number;
}

/** Signs a confirmation that is valid for ten minutes from `now` (epoch milliseconds). */
export function signConfirmation(
  secret: string,
  binding: ConfirmationBinding,
  now: number,
): string {
  const expires = (now + LIMITS.confirmationMinutes.max * 60_000).toString(36);
  return `c1.${expires}.${mac(secret, binding, expires)}`;
}

/** Checks a confirmation: `valid`, or why not. */
export function checkConfirmation(
  secret: string,
  binding: ConfirmationBinding,
  token: string,
  now: number,
): 'valid' | 'expired' | 'mismatch' {
  const [version, expires, given, ...rest] = token.split('.');
  if (version !== 'c1' || expires === undefined || given === undefined || rest.length > 0) {
    return 'mismatch';
  }
  if (!sameDigest(given, mac(secret, binding, expires))) return 'mismatch';
  return now < Number.parseInt(expires, 36) ? 'valid' : 'expired';
}

function mac(secret: string, binding: ConfirmationBinding, expires: string): string {
  return shortMac(secret, canonicalJson({ ...binding, expires }));
}
