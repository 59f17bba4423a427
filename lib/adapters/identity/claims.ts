// From the claims of a token whose signature holds to a principal. Pure: no keys, no clock.
// Invariants: a tenant is one the issuer speaks for; `mcp:service` is only ever held by a service.
import { cutAtChars } from '../../core/cut.ts';
import { LIMITS } from '../../core/limits.ts';
import { SCOPES, TENANT_NAME, type PrincipalKind, type Scope } from '../../core/model/principal.ts';
import type { TokenFault, Verification } from '../../core/ports/identity.ts';
import type { IssuerConfig } from './issuer-config.ts';

/** The claims of a token, as they came. */
export type Claims = { readonly [name: string]: unknown };

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Reads everything but the times. The checks are in order: use, audience, subject, tenant. */
export function readClaims(claims: Claims, config: IssuerConfig): Verification {
  const { exp, sub } = claims;
  if (!Number.isSafeInteger(exp)) return refused('claims');
  if (claim(claims, 'token_use') !== undefined && claims['token_use'] !== 'access') {
    return refused('claims');
  }
  if (!isForUs(claims, config)) return refused('audience');
  if (typeof sub !== 'string' || sub === '' || UNSEEN.test(sub)) return refused('claims');
  const subject = `${config.alias}:${sub}`;
  const name = spokenName(claims['name']) || spokenName(sub);
  if (subject.length > LIMITS.subjectChars.max || name === '') return refused('claims');
  const tenant = tenantOf(claims, config);
  if (tenant === undefined) return refused('tenant');
  const scopes = scopesOf(claims);
  const kind = kindOf(claims, config, scopes);
  return {
    ok: true,
    principal: { tenant, subject, name, kind, scopes },
    expiresAt: exp as number,
  };
}

/** A refused verification. */
export function refused(fault: TokenFault): Verification {
  return { ok: false, fault };
}

/**
 * Scopes by their exact names. One reading: the claim `scope`, or `scp` where there is no `scope`;
 * a text is split at spaces (RFC 6749, section 3.3), a list holds one name each. Any other form
 * means no scopes.
 */
function scopesOf(claims: Claims): ReadonlySet<Scope> {
  const value = Object.hasOwn(claims, 'scope') ? claims['scope'] : claim(claims, 'scp');
  const names = typeof value === 'string' ? value.split(' ') : value;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return new Set();
  return new Set(SCOPES.filter((scope) => names.includes(scope)));
}

/** A token names us as its audience; a listed client of an issuer without audiences need not. */
function isForUs(claims: Claims, { audience, clientIds }: IssuerConfig): boolean {
  const client = claim(claims, 'client_id') ?? claim(claims, 'azp');
  const listed = clientIds?.includes(client as string);
  if (listed === false) return false;
  if (!Object.hasOwn(claims, 'aud')) {
    return listed === true && claim(claims, 'client_id') !== undefined;
  }
  const { aud } = claims;
  return aud === audience || (Array.isArray(aud) && aud.includes(audience));
}

function tenantOf(claims: Claims, { tenants, tenantClaim }: IssuerConfig): string | undefined {
  if (!Object.hasOwn(claims, tenantClaim)) {
    return tenants !== 'any' && tenants.length === 1 ? tenants[0] : undefined;
  }
  const named = claims[tenantClaim];
  if (typeof named !== 'string' || !TENANT_NAME.test(named)) return undefined;
  return tenants === 'any' || tenants.includes(named) ? named : undefined;
}

/**
 * Service: a `client_credentials` grant as issuers mark it (`grant_type`, `gty`, `idtyp`), a subject
 * that is the client itself, or the scope that only services get. Agent: `act` (RFC 8693, section
 * 4.1) or the issuer's agent claim. A service is recognised first, because it may do least.
 */
function kindOf(
  claims: Claims,
  { agentClaim }: IssuerConfig,
  scopes: ReadonlySet<Scope>,
): PrincipalKind {
  const grants = [claim(claims, 'grant_type'), claim(claims, 'gty')].flat();
  const { sub } = claims;
  const service =
    scopes.has('mcp:service') ||
    grants.some((grant) => grant === 'client_credentials' || grant === 'client-credentials') ||
    claim(claims, 'idtyp') === 'app' ||
    claim(claims, 'client_id') === sub ||
    claim(claims, 'azp') === sub;
  if (service) return 'service';
  const marks = agentClaim === undefined ? ['act'] : ['act', agentClaim];
  return marks.some((mark) => Object.hasOwn(claims, mark)) ? 'agent' : 'person';
}

/** What can be spoken of a name: no controls, nothing invisible, single spaces, bounded. */
function spokenName(value: unknown): string {
  if (typeof value !== 'string') return '';
  const visible = value
    .normalize('NFC')
    .replace(/[\t-\r\u2028\u2029]/gu, ' ')
    .replace(new RegExp(UNSEEN, 'gu'), '')
    // A name is spoken inside a sentence and must not begin another one.
    .replace(/[.!?;:]+(?=\s|$)/gu, (marks, at: number, text: string) =>
      marks === '.' && /(?:^|\s)\p{L}{1,3}$/u.test(text.slice(0, at)) ? marks : '',
    )
    .replace(/\s+/gu, ' ')
    .trim();
  return cutAtChars(visible, LIMITS.displayNameChars.max).trim();
}

/** Reads an own member, so that a missing claim is never a member of every object. */
function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
