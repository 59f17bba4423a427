// What a verifier has to know of an issuer, and what two issuers must not share.
// Does not fetch keys and does not look at tokens.
import type { JSONWebKeySet } from 'jose';
import { Fault } from '../../core/fault.ts';

/** Where an issuer's public keys come from. */
export type IssuerKeys =
  | { readonly kind: 'remote'; readonly jwksUrl: string }
  | { readonly kind: 'local'; readonly jwks: JSONWebKeySet };

/** A trusted issuer. */
export interface IssuerConfig {
  /** Short name that becomes part of every subject; no colon, unique among the issuers. */
  readonly alias: string;
  /** Compared with the token's `iss` character by character. */
  readonly issuer: string;
  /** What a token's `aud` must be or contain. */
  readonly audience: string;
  /** The tenants it speaks for; `any` is for an issuer with local keys only. */
  readonly tenants: readonly string[] | 'any';
  readonly tenantClaim: string;
  /** Claim whose presence marks an agent's token, beside `act`. */
  readonly agentClaim?: string;
  /** The only clients accepted; they alone may come without `aud`. */
  readonly clientIds?: readonly string[];
  readonly keys: IssuerKeys;
}

/** Throws a terminal fault `START_REFUSED` naming everything that makes identities ambiguous. */
export function checkIssuers(issuers: readonly IssuerConfig[]): void {
  const faults: string[] = [];
  for (const [i, { alias, issuer, tenants, keys }] of issuers.entries()) {
    const earlier = issuers.slice(0, i);
    if (alias === '' || alias.includes(':')) faults.push(`${issuer}: expected an alias, no colon`);
    if (earlier.some((other) => other.alias === alias)) faults.push(`the alias ${alias} is taken`);
    if (earlier.some((other) => other.issuer === issuer)) faults.push(`${issuer} appears twice`);
    if (tenants === 'any' && keys.kind !== 'local') {
      faults.push(`${issuer}: only an issuer with local keys speaks for any tenant`);
    }
  }
  if (faults.length === 0) return;
  throw new Fault('terminal', 'START_REFUSED', `issuers cannot be used: ${faults.join('; ')}`);
}
