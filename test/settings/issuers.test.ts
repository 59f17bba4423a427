import { describe, expect, test } from '@jest/globals';
import { LIMITS } from '../../lib/core/limits.ts';
import { readSettings } from '../../lib/settings.ts';
import { faultsOf } from '../support/settings-faults.ts';

const issuer = {
  alias: 'corp',
  issuer: 'https://id.example.com',
  jwks_url: 'https://id.example.com/jwks',
  tenants: ['plant-7'],
};

const issuersText = (...entries: object[]): string => JSON.stringify(entries);

describe('CHECKPOINT_ISSUERS', () => {
  const problemsOf = (text: string): string[] =>
    faultsOf({ CHECKPOINT_ISSUERS: text }).map((fault) => fault.problem);

  test('keeps every field of an issuer', () => {
    const full = {
      ...issuer,
      audience: 'https://checkpoint.example.com/mcp',
      tenant_claim: 'https://example.com/tenant',
      agent_claim: 'agent',
      client_ids: ['speaker'],
    };
    expect(readSettings({ CHECKPOINT_ISSUERS: issuersText(full) }).issuers).toEqual([
      {
        alias: 'corp',
        issuer: 'https://id.example.com',
        jwksUrl: 'https://id.example.com/jwks',
        audience: 'https://checkpoint.example.com/mcp',
        tenants: ['plant-7'],
        tenantClaim: 'https://example.com/tenant',
        agentClaim: 'agent',
        clientIds: ['speaker'],
      },
    ]);
  });

  test.each([
    ['text that is not JSON', '[{', 'expected a JSON array of issuers'],
    ['JSON that is no array', '{}', 'expected a JSON array of issuers'],
    [
      'an entry that is no object',
      '[1]',
      'expected a JSON array of issuers; /0 expected an object',
    ],
    [
      'an alias that starts with a digit',
      issuersText({ ...issuer, alias: '7corp' }),
      'expected a JSON array of issuers; /0/alias expected 1 to 16 of a-z 0-9 -, a letter first',
    ],
    [
      'an alias of 17 characters',
      issuersText({ ...issuer, alias: 'abcdefghijklmnopq' }),
      'expected a JSON array of issuers; /0/alias expected 1 to 16 of a-z 0-9 -, a letter first',
    ],
    [
      'an issuer that is no URL',
      issuersText({ ...issuer, issuer: 'id.example.com' }),
      'expected a JSON array of issuers; /0/issuer expected an absolute http or https URL',
    ],
    [
      'keys over http from another machine',
      issuersText({ ...issuer, jwks_url: 'http://127.0.0.1.example.com/jwks' }),
      'expected a JSON array of issuers; /0/jwks_url expected an https URL (http only to this machine)',
    ],
    [
      'no tenants',
      issuersText({ ...issuer, tenants: [] }),
      'expected a JSON array of issuers; /0/tenants expected at least one tenant id',
    ],
    [
      'a tenant id with a separator of keys',
      issuersText({ ...issuer, tenants: ['plant#7'] }),
      'expected a JSON array of issuers; /0/tenants/0 expected a tenant id: 1 to 64 of A-Z a-z 0-9 _ -',
    ],
    [
      'a tenant id of 65 characters',
      issuersText({ ...issuer, tenants: ['t'.repeat(65)] }),
      'expected a JSON array of issuers; /0/tenants/0 expected a tenant id: 1 to 64 of A-Z a-z 0-9 _ -',
    ],
    [
      'an unknown field',
      issuersText({ ...issuer, jwksUrl: 'x' }),
      'expected a JSON array of issuers; /0 expected no member jwksUrl',
    ],
    [
      'an entry of which everything is missing',
      '[{}]',
      'expected a JSON array of issuers; /0/alias is missing; expected 1 to 16 of a-z 0-9 -, a letter first; /0/issuer is missing; expected a text of 1 to 2048 characters; /0/jwks_url is missing; expected a text of 1 to 2048 characters; /0/tenants is missing; expected at least one tenant id',
    ],
    [
      'members of other types',
      issuersText({ ...issuer, alias: 7, tenants: 'plant-7' }),
      'expected a JSON array of issuers; /0/alias expected 1 to 16 of a-z 0-9 -, a letter first; /0/tenants expected at least one tenant id',
    ],
    [
      'an empty list of clients',
      issuersText({ ...issuer, client_ids: [] }),
      'expected a JSON array of issuers; /0/client_ids expected at least one client id',
    ],
    [
      'an alias used twice',
      issuersText(issuer, { ...issuer, issuer: 'https://other.example.com' }),
      'expected a JSON array of issuers; /1/alias expected another alias than an earlier entry has',
    ],
    [
      'an issuer used twice',
      issuersText(issuer, { ...issuer, alias: 'other' }),
      'expected a JSON array of issuers; /1/issuer expected another issuer than an earlier entry has',
    ],
  ])('refuses %s', (_case, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test.each(['http://localhost:9000/jwks', 'http://127.0.0.1:9000/jwks', 'http://[::1]:9000/jwks'])(
    'takes keys over http from this machine (%s)',
    (jwksUrl) => {
      expect(problemsOf(issuersText({ ...issuer, jwks_url: jwksUrl }))).toEqual([]);
    },
  );

  test('takes an alias of 16 characters and a tenant id of 64', () => {
    const longest = { ...issuer, alias: 'abcdefghijklmnop', tenants: ['t'.repeat(64)] };
    expect(problemsOf(issuersText(longest))).toEqual([]);
  });

  test('takes 100 issuers of 1,000 tenants each, and not one more of either', () => {
    const many = (count: number, tenants = 1) =>
      issuersText(
        ...Array.from({ length: count }, (_, n) => ({
          ...issuer,
          alias: `a${n}`,
          issuer: `https://id${n}.example.com`,
          tenants: Array.from({ length: tenants }, (_t, m) => `t${m}`),
        })),
      );
    expect(problemsOf(many(100))).toEqual([]);
    expect(problemsOf(many(101))).toHaveLength(1);
    expect(problemsOf(many(1, 1_000))).toEqual([]);
    expect(problemsOf(many(1, 1_001))).toHaveLength(1);
  });

  test.each([
    ['issuer', 2_048, 'https://a.example/'],
    ['jwks_url', 2_048, 'https://a.example/'],
    ['audience', 2_048, 'a'],
    ['tenant_claim', 256, 'a'],
    ['agent_claim', 256, 'a'],
  ])('takes %s of %d characters, and not one more', (field, most, begin) => {
    const text = (chars: number) => issuersText({ ...issuer, [field]: begin.padEnd(chars, 'x') });
    expect(problemsOf(text(most))).toEqual([]);
    expect(problemsOf(text(most + 1))).toHaveLength(1);
  });

  test('bounds a tenant id as tokens do', () => {
    expect(LIMITS.tenantChars.max).toBe(64);
  });

  test('reports the faults of several entries together', () => {
    const other = { ...issuer, alias: 'b', issuer: 'https://b.example.com', tenants: [''] };
    const text = issuersText({ ...issuer, alias: '' }, other);
    expect(problemsOf(text)).toEqual([
      'expected a JSON array of issuers; /0/alias expected 1 to 16 of a-z 0-9 -, a letter first; /1/tenants/0 expected a tenant id: 1 to 64 of A-Z a-z 0-9 _ -',
    ]);
  });
});
