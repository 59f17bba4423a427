/**
 * The value of `CHECKPOINT_ISSUERS`: which token issuers are trusted, and for which tenants each of
 * them speaks. It fetches no keys and verifies no token.
 */
import * as z from 'zod';
import { jsonList } from './json-list.ts';
import { isPlainHttpUrl, isSecureUrl } from './value-types.ts';

/** A trusted issuer, as the rest of the code sees it. */
export interface IssuerSettings {
  /** Short name that becomes part of a subject's identity; unique among the issuers. */
  readonly alias: string;
  /** Compared with the token's `iss` character by character. */
  readonly issuer: string;
  /** Where the issuer's public keys are. */
  readonly jwksUrl: string;
  /** Expected `aud`; undefined means the public URL. */
  readonly audience: string | undefined;
  /** The tenants this issuer may name; never empty. */
  readonly tenants: readonly string[];
  /** Claim that names the tenant. */
  readonly tenantClaim: string;
  /** Claim whose presence marks a token as an agent's. */
  readonly agentClaim: string | undefined;
  /** The only client ids accepted; undefined accepts every client of the issuer. */
  readonly clientIds: readonly string[] | undefined;
}

/** Says what a member has to be, and that it is missing where it is. */
const wanted = (expected: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `is missing; ${expected}` : expected,
});

const shortText = (most: number) => {
  const said = wanted(`expected a text of 1 to ${most} characters`);
  return z.string(said).min(1, said).max(most, said);
};

const ALIAS = wanted('expected 1 to 16 of a-z 0-9 -, a letter first');
const TENANT = wanted('expected a tenant id: 1 to 64 of A-Z a-z 0-9 _ -');
const TENANTS = wanted('expected at least one tenant id');
const CLIENTS = wanted('expected at least one client id');

const tenantId = z.string(TENANT).regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, TENANT);

const issuerEntry = z
  .strictObject(
    {
      alias: z.string(ALIAS).regex(/^[a-z][a-z0-9-]{0,15}$/, ALIAS),
      issuer: shortText(2048).refine(isPlainHttpUrl, 'expected an absolute http or https URL'),
      jwks_url: shortText(2048).refine(
        isSecureUrl,
        'expected an https URL (http only to this machine)',
      ),
      audience: shortText(2048).optional(),
      tenants: z.array(tenantId, TENANTS).min(1, TENANTS).max(1000, 'expected at most 1000'),
      tenant_claim: shortText(256).default('tenant'),
      agent_claim: shortText(256).optional(),
      client_ids: z.array(shortText(256), CLIENTS).min(1, CLIENTS).optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `expected no member ${issue.keys.join(', ')}`
          : 'expected an object',
    },
  )
  .transform((entry): IssuerSettings => ({
    alias: entry.alias,
    issuer: entry.issuer,
    jwksUrl: entry.jwks_url,
    audience: entry.audience,
    tenants: entry.tenants,
    tenantClaim: entry.tenant_claim,
    agentClaim: entry.agent_claim,
    clientIds: entry.client_ids,
  }));

/** A JSON array of issuers with unique aliases and unique issuer URLs. */
export const issuerList = jsonList(issuerEntry, 100, ['alias', 'issuer']);
