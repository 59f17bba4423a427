import { describe, expect, test } from '@jest/globals';
import { readClaims } from '../../../lib/adapters/identity/claims.ts';
import type { IssuerConfig } from '../../../lib/adapters/identity/issuer-config.ts';
import type { Principal } from '../../../lib/core/model/principal.ts';
import { goodClaims } from '../../support/test-issuer.ts';

const config: IssuerConfig = {
  alias: 'corp',
  issuer: 'https://id.example.com',
  audience: 'https://checkpoint.example.com/mcp',
  tenants: ['plant-7', 'plant-8'],
  tenantClaim: 'tenant',
  keys: { kind: 'local', jwks: { keys: [] } },
};

/** Claims as they come out of a token: JSON, so undefined members are absent. */
function read(claims: object, change: Partial<IssuerConfig> = {}) {
  const parsed = JSON.parse(JSON.stringify({ ...goodClaims, ...claims })) as object;
  return readClaims(parsed as Record<string, unknown>, { ...config, ...change });
}

function principal(claims: object, change: Partial<IssuerConfig> = {}): Omit<Principal, 'via'> {
  const result = read(claims, change);
  if (!result.ok) throw new Error(result.fault);
  return result.principal;
}

describe('scopes', () => {
  const scopes = (claims: object): string[] => [...principal(claims).scopes];

  test.each([
    ['text with spaces', { scope: 'procedures:run audit:read' }, ['procedures:run', 'audit:read']],
    [
      'text with more spaces',
      { scope: ' procedures:run  audit:read ' },
      ['procedures:run', 'audit:read'],
    ],
    ['a list in scope', { scope: ['procedures:run'] }, ['procedures:run']],
    ['text in scp', { scope: undefined, scp: 'procedures:run' }, ['procedures:run']],
    ['a list in scp', { scope: undefined, scp: ['audit:read'] }, ['audit:read']],
    ['scope before scp', { scope: 'audit:read', scp: 'procedures:run' }, ['audit:read']],
  ])('are read from %s', (_what, claims, expected) => {
    expect(scopes(claims)).toEqual(expected);
  });

  test.each([
    ['null', null],
    ['a number', 7],
    ['an object', { 'procedures:run': true }],
    ['a list with something else', ['procedures:run', 7]],
    ['a list in a list', [['procedures:run']]],
    ['nothing', undefined],
  ])('are none for %s', (_what, scope) => {
    expect(scopes({ scope })).toEqual([]);
  });

  test.each([
    'procedures:run.none',
    'xprocedures:run',
    'Procedures:run',
    'procedures:*',
    'procedures:run\taudit:read',
  ])('count by their exact names only, not %j', (scope) => {
    expect(scopes({ scope })).toEqual([]);
  });
});

describe('a tenant', () => {
  test('is one the issuer speaks for', () => {
    expect(principal({ tenant: 'plant-8' }).tenant).toBe('plant-8');
    expect(read({ tenant: 'plant-9' })).toEqual({ ok: false, fault: 'tenant' });
  });

  test.each([['plant-7', 'plant-8'], 7, '', ' plant-7', 'PLANT-7', null].map((tenant) => [tenant]))(
    'is never guessed from %j',
    (tenant) => {
      expect(read({ tenant })).toEqual({ ok: false, fault: 'tenant' });
    },
  );

  test('may be left out where the issuer speaks for exactly one', () => {
    expect(principal({ tenant: undefined }, { tenants: ['plant-7'] }).tenant).toBe('plant-7');
    expect(read({ tenant: undefined })).toEqual({ ok: false, fault: 'tenant' });
    expect(read({ tenant: undefined }, { tenants: 'any' })).toEqual({ ok: false, fault: 'tenant' });
    expect(read({ tenant: 'plant-9' }, { tenants: ['plant-7'] })).toMatchObject({ ok: false });
  });

  test('comes from the claim that is configured, never from a member of every object', () => {
    const tenantClaim = 'https://example.com/tenant';
    expect(principal({ [tenantClaim]: 'plant-8' }, { tenantClaim }).tenant).toBe('plant-8');
    expect(read({}, { tenantClaim: 'constructor' })).toEqual({ ok: false, fault: 'tenant' });
  });

  test('of the development issuer is any well-formed one', () => {
    expect(principal({ tenant: 'acme_2' }, { tenants: 'any' }).tenant).toBe('acme_2');
    for (const tenant of ['-x', 'a#b', 'x'.repeat(65), 'a b']) {
      expect(read({ tenant }, { tenants: 'any' })).toEqual({ ok: false, fault: 'tenant' });
    }
  });
});

describe('a subject', () => {
  test('is at most 272 characters with its alias', () => {
    expect(principal({ sub: 'x'.repeat(267) }).subject).toHaveLength(272);
    expect(read({ sub: 'x'.repeat(268) })).toEqual({ ok: false, fault: 'claims' });
  });

  test.each([undefined, null, '', 7, ' ', 'a\nb', 'a\u0000', 'a\u200Bb', 'a\u202Eb', 'a\uD800'])(
    'is refused: %j',
    (sub) => {
      expect(read({ sub })).toEqual({ ok: false, fault: 'claims' });
    },
  );
});

describe('a name', () => {
  test.each([
    ['Ana Lima', 'Ana Lima'],
    ['  Ana \n\t Lima ', 'Ana Lima'],
    ['A\u202En\u200Ba\u0007', 'Ana'],
    ['Ana\uFEFF\u00AD Lima', 'Ana Lima'],
    ['Zoe\u0301', 'Zo\u00E9'],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['👷'.repeat(65), '👷'.repeat(64)],
    ['\u200B\u2060', 'ana'],
    ['', 'ana'],
    [7, 'ana'],
    [undefined, 'ana'],
  ])('%j is spoken as %j', (name, spoken) => {
    expect(principal({ name }).name).toBe(spoken);
  });
});

describe('a token', () => {
  const kind = (claims: object, change: Partial<IssuerConfig> = {}): string =>
    principal(claims, change).kind;

  test.each([
    ['grant_type', { grant_type: 'client_credentials' }],
    ['gty', { gty: 'client-credentials' }],
    ['gty as a list', { gty: ['client-credentials'] }],
    ['idtyp', { idtyp: 'app' }],
    ['client_id', { client_id: 'ana' }],
    ['azp', { azp: 'ana' }],
    ['its scope', { scope: 'mcp:service procedures:run' }],
    ['client credentials in spite of an actor', { gty: 'client-credentials', act: {} }],
  ])('is a service by %s', (_what, claims) => {
    expect(kind(claims)).toBe('service');
  });

  test('is an agent with an actor or the configured claim, whatever it holds', () => {
    expect(kind({ act: { sub: 'assistant' } })).toBe('agent');
    expect(kind({ act: null })).toBe('agent');
    expect(kind({ is_agent: false }, { agentClaim: 'is_agent' })).toBe('agent');
  });

  test('is a person otherwise', () => {
    expect(kind({ client_id: 'app-1', azp: 'app-1', is_agent: true, gty: 'password' })).toBe(
      'person',
    );
  });

  test('of a person never holds mcp:service', () => {
    expect(principal({ scope: 'mcp:service' })).toMatchObject({ kind: 'service' });
    expect(principal({ scope: 'procedures:run' }).scopes.has('mcp:service')).toBe(false);
  });
});
