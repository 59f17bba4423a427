// An issuer of this project's own: one key pair that signs tokens for one deployment.
// The tokens take the same way through the verifier as any other; nothing is switched off for them.
import { importJWK, SignJWT } from 'jose';
import { Fault } from '../../core/fault.ts';
import type { PrincipalKind, Scope } from '../../core/model/principal.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { readClaims, type Claims } from './claims.ts';
import type { IssuerConfig } from './issuer-config.ts';

/** The one algorithm of these issuers. */
export const OWN_ALGORITHM = 'ES256';
const TWELVE_HOURS_IN_SECONDS = 43_200;

/** A P-256 key pair with the id of its issuer; coordinates in base64url. Source: RFC 7518, 6.2. */
export interface OwnKey {
  readonly id: string;
  readonly key: {
    readonly kty: 'EC';
    readonly crv: 'P-256';
    readonly x: string;
    readonly y: string;
    readonly d: string;
  };
}

/** Who a token is for. */
export interface OwnToken {
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** `person` where left out; a service also gets the scope `mcp:service`. */
  readonly kind?: PrincipalKind;
  /** `local` where left out. */
  readonly tenant?: string;
  readonly name?: string;
  /** Twelve hours where left out. */
  readonly expiresInSeconds?: number;
}

/** An issuer that can sign. */
export interface OwnIssuer {
  /** Signs a token. Throws a terminal fault for one that the verifier would refuse. */
  sign(token: OwnToken): Promise<string>;
  /** What a verifier has to know to accept the tokens. */
  issuerConfig(): IssuerConfig;
}

/** What a verifier has to know of an issuer: its public half alone. `urn` names the kind of issuer. */
export function ownIssuerConfig(urn: string, { id, key }: OwnKey): IssuerConfig {
  const { d: _secret, ...publicKey } = key;
  const issuer = `${urn}:${id}`;
  return {
    alias: 'dev',
    issuer,
    audience: issuer,
    tenants: 'any',
    tenantClaim: 'tenant',
    keys: {
      kind: 'local',
      jwks: { keys: [{ ...publicKey, kid: id, alg: OWN_ALGORITHM, use: 'sig' }] },
    },
  };
}

/** Builds the issuer. Rejects with the library's error for a key that is none. */
export async function createOwnIssuer(
  urn: string,
  own: OwnKey,
  clock: Pick<Clock, 'now'>,
): Promise<OwnIssuer> {
  const config = ownIssuerConfig(urn, own);
  const signingKey = await importJWK(own.key, OWN_ALGORITHM);
  const sign = async (token: OwnToken): Promise<string> => {
    const claims = claimsOf(token, config.issuer, Math.floor(clock.now() / 1000));
    const read = readClaims(claims, config);
    const kind = token.kind ?? 'person';
    if (!read.ok) throw refusedToken(`no verifier takes it, because of its ${read.fault}`);
    if (read.principal.kind !== kind) throw refusedToken('mcp:service is for a service only');
    return new SignJWT(claims)
      .setProtectedHeader({ alg: OWN_ALGORITHM, kid: own.id, typ: 'at+jwt' })
      .sign(signingKey);
  };
  return { sign, issuerConfig: () => config };
}

function claimsOf(token: OwnToken, issuer: string, nowSeconds: number): Claims {
  const { subject, kind = 'person', tenant = 'local', name } = token;
  const scopes = kind === 'service' ? [...token.scopes, 'mcp:service'] : token.scopes;
  return {
    iss: issuer,
    aud: issuer,
    sub: subject,
    tenant,
    scope: [...new Set(scopes)].join(' '),
    iat: nowSeconds,
    exp: nowSeconds + (token.expiresInSeconds ?? TWELVE_HOURS_IN_SECONDS),
    ...(name !== undefined && { name }),
    ...(kind === 'agent' && { act: { sub: 'development-agent' } }),
    ...(kind === 'service' && { client_id: subject, grant_type: 'client_credentials' }),
  };
}

function refusedToken(why: string): Fault {
  return new Fault('terminal', 'START_REFUSED', `this token cannot be signed: ${why}`);
}
