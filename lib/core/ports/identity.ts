// The identity port: from a bearer token to a principal. Tokens never travel further than this.
import type { Principal } from '../model/principal.ts';

/** Why a token was not accepted; for logs only, never for the caller. */
export type TokenFault =
  | 'malformed'
  | 'expired'
  | 'not_yet_valid'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'tenant'
  | 'claims';

/** The result of verifying a token. `expiresAt` is the token's `exp`, in epoch seconds. */
export type Verification =
  | { readonly ok: true; readonly principal: Omit<Principal, 'via'>; readonly expiresAt: number }
  | { readonly ok: false; readonly fault: TokenFault };

/** Verifies bearer tokens. Throws a retryable `Fault` when an issuer's keys cannot be read. */
export interface TokenVerifier {
  verify(token: string): Promise<Verification>;
}
