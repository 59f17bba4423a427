import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { IssuerConfig, IssuerKeys } from '../../../lib/adapters/identity/issuer-config.ts';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';
import {
  goodClaims,
  NOW_SECONDS,
  rawToken,
  testKey,
  type TestKey,
} from '../../support/test-issuer.ts';

const clock = { now: () => NOW_SECONDS * 1000 };
let key: TestKey;
let encryption: TestKey;

beforeAll(async () => {
  key = await testKey('k1');
  encryption = await testKey('e1', 'RS256', 'enc');
});

function verifierOf(change: Partial<IssuerConfig> = {}) {
  const issuer: IssuerConfig = {
    alias: 'corp',
    issuer: 'https://id.example.com',
    audience: 'https://checkpoint.example.com/mcp',
    tenants: ['plant-7', 'plant-8'],
    tenantClaim: 'tenant',
    keys: { kind: 'local', jwks: { keys: [key.jwk, encryption.jwk] } },
    ...change,
  };
  return createTokenVerifier({ issuers: [issuer], clock });
}

/** The fault of a token, or `accepted`. */
async function answer(token: string, change: Partial<IssuerConfig> = {}): Promise<string> {
  const result = await verifierOf(change).verify(token);
  return result.ok ? 'accepted' : result.fault;
}

test('a valid token gives tenant, subject, name, kind, scopes and the time it ends', async () => {
  const token = await key.sign({ name: 'Ana Lima', scope: 'procedures:run audit:read' });
  expect(await verifierOf().verify(token)).toEqual({
    ok: true,
    expiresAt: 1_767_226_200,
    principal: {
      tenant: 'plant-7',
      subject: 'corp:ana',
      name: 'Ana Lima',
      kind: 'person',
      scopes: new Set(['procedures:run', 'audit:read']),
    },
  });
});

describe('algorithms', () => {
  test.each(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'])(
    '%s is accepted',
    async (alg) => {
      const other = await testKey('k2', alg);
      const keys: IssuerKeys = { kind: 'local', jwks: { keys: [other.jwk] } };
      expect(await answer(await other.sign({}), { keys })).toBe('accepted');
    },
  );

  test.each(['PS256', 'EdDSA'])('%s is refused, although its key is known', async (alg) => {
    const other = await testKey('k2', alg);
    const keys: IssuerKeys = { kind: 'local', jwks: { keys: [other.jwk] } };
    expect(await answer(await other.sign({}), { keys })).toBe('signature');
  });

  test('a public key is never an HMAC secret', async () => {
    const unsigned = rawToken({ alg: 'HS256', kid: 'k1', typ: 'JWT' }, goodClaims, '');
    const mac = createHmac('sha256', key.pem).update(unsigned.slice(0, -1)).digest('base64url');
    expect(await answer(`${unsigned}${mac}`)).toBe('signature');
  });

  test('none is refused, with and without a signature', async () => {
    expect(await answer(rawToken({ alg: 'none' }, goodClaims, ''))).toBe('malformed');
    expect(await answer(rawToken({ alg: 'none' }, goodClaims, 'AAAA'))).toBe('signature');
  });

  test('a key for encryption signs nothing', async () => {
    expect(await answer(await encryption.sign({}))).toBe('signature');
  });
});

describe('a token is refused', () => {
  test('when its content or signature was changed', async () => {
    const [header, , signature] = (await key.sign({})).split('.');
    const claims = Buffer.from(JSON.stringify({ ...goodClaims, sub: 'eve' })).toString('base64url');
    expect(await answer(`${header}.${claims}.${signature}`)).toBe('signature');
    const stranger = await testKey('k1');
    expect(await answer(await stranger.sign({}))).toBe('signature');
  });

  test.each([
    ['https://id.example.com/'],
    ['https://ID.example.com'],
    ['https://evil.example.com'],
    [['https://id.example.com']],
    [null],
  ])('when its issuer is %j', async (iss) => {
    expect(await answer(await key.sign({ iss }))).toBe('issuer');
  });

  test.each(['', 'a', 'a.b', 'a.b.c', 'a.b.c.d.e', 'ä.b.c', '{}.{}.{}', 'bnVsbA.bnVsbA.AAAA'])(
    'as malformed: %j',
    async (token) => {
      expect(await answer(token)).toBe('malformed');
    },
  );

  test('when it is longer than 8192 characters, and not at 7000', async () => {
    const long = await key.sign({ groups: 'x'.repeat(4_900) });
    expect(long.length).toBeGreaterThan(7_000);
    expect(long.length).toBeLessThan(8_192);
    expect(await answer(long)).toBe('accepted');
    expect(await answer(await key.sign({ groups: 'x'.repeat(9_000) }))).toBe('malformed');
    expect(await answer(await key.sign({ groups: 'x'.repeat(75_000) }))).toBe('malformed');
  });

  test.each([
    ['JWT', 'accepted'],
    ['at+jwt', 'accepted'],
    ['application/at+JWT', 'accepted'],
    ['dpop+jwt', 'claims'],
    ['logout+jwt', 'claims'],
    ['', 'claims'],
  ])('unless its type is for access: %j is %s', async (typ, expected) => {
    expect(await answer(await key.sign({}, { typ }))).toBe(expected);
  });

  test.each([
    ['access', 'accepted'],
    ['id', 'claims'],
    ['', 'claims'],
  ])('unless its use is access: %j is %s', async (token_use, expected) => {
    expect(await answer(await key.sign({ token_use }))).toBe(expected);
  });
});

describe('times, with a leeway of 30 seconds', () => {
  test.each([
    ['iat and nbf 5 s ahead', { iat: NOW_SECONDS + 5, nbf: NOW_SECONDS + 5 }, 'accepted'],
    ['exp 5 s ago', { exp: NOW_SECONDS - 5 }, 'accepted'],
    ['exp 29 s ago', { exp: NOW_SECONDS - 29 }, 'accepted'],
    ['exp 30 s ago', { exp: NOW_SECONDS - 30 }, 'expired'],
    ['nbf 30 s ahead', { nbf: NOW_SECONDS + 30 }, 'accepted'],
    ['nbf 31 s ahead', { nbf: NOW_SECONDS + 31 }, 'not_yet_valid'],
    ['nbf 10 min ahead', { nbf: NOW_SECONDS + 600 }, 'not_yet_valid'],
    ['iat 31 s ahead', { iat: NOW_SECONDS + 31 }, 'not_yet_valid'],
    ['no iat', { iat: null }, 'accepted'],
    ['exp missing', { exp: null }, 'claims'],
    ['exp as text', { exp: String(NOW_SECONDS + 600) }, 'claims'],
    ['exp with a fraction', { exp: NOW_SECONDS + 600.5 }, 'claims'],
    ['exp beyond exact integers', { exp: 2 ** 53 }, 'claims'],
    ['nbf as text', { nbf: '0' }, 'claims'],
    ['iat as text', { iat: '0' }, 'claims'],
  ])('%s', async (_what, claims, expected) => {
    expect(await answer(await key.sign(claims))).toBe(expected);
  });

  test('exp 1.5 is refused', async () => {
    expect(await answer(await key.sign({ exp: 1.5 }))).not.toBe('accepted');
  });
});

describe('audiences', () => {
  test.each([
    ['ours', goodClaims.aud, 'accepted'],
    ['ours among others', ['https://other.example.com', goodClaims.aud], 'accepted'],
    ['of another API', 'https://other.example.com', 'audience'],
    ['ours and a slash', `${goodClaims.aud}/`, 'audience'],
    ['empty', [], 'audience'],
    ['of a wrong type', { 0: goodClaims.aud }, 'audience'],
    ['missing', null, 'audience'],
  ])('%s', async (_what, aud, expected) => {
    expect(await answer(await key.sign({ aud }))).toBe(expected);
  });

  const clients = { clientIds: ['app-1', 'app-2'] };

  test('may be missing for a listed client alone', async () => {
    const cognito = { aud: null, token_use: 'access' };
    expect(await answer(await key.sign({ ...cognito, client_id: 'app-1' }), clients)).toBe(
      'accepted',
    );
    expect(await answer(await key.sign({ ...cognito, client_id: 'app-3' }), clients)).toBe(
      'audience',
    );
    expect(await answer(await key.sign({ ...cognito, azp: 'app-1' }), clients)).toBe('audience');
    expect(await answer(await key.sign({ ...cognito, client_id: 'app-1' }))).toBe('audience');
  });

  test('have to match when they are there, for a listed client too', async () => {
    const token = await key.sign({ aud: 'https://other.example.com', client_id: 'app-1' });
    expect(await answer(token, clients)).toBe('audience');
  });

  test('do not help a client that is not listed', async () => {
    expect(await answer(await key.sign({ client_id: 'app-3' }), clients)).toBe('audience');
    expect(await answer(await key.sign({ azp: 'app-2' }), clients)).toBe('accepted');
    expect(await answer(await key.sign({}), clients)).toBe('audience');
  });
});

describe('issuers', () => {
  const base: IssuerConfig = {
    alias: 'corp',
    issuer: 'https://id.example.com',
    audience: 'a',
    tenants: ['t'],
    tenantClaim: 'tenant',
    keys: { kind: 'local', jwks: { keys: [] } },
  };
  const remote = { kind: 'remote', jwksUrl: 'http://127.0.0.1:9/jwks' } as const;

  test.each([
    [
      'one alias twice',
      [base, { ...base, issuer: 'https://b.example.com' }],
      'the alias corp is taken',
    ],
    ['one name twice', [base, { ...base, alias: 'b' }], 'https://id.example.com appears twice'],
    ['a colon in an alias', [{ ...base, alias: 'a:b' }], 'expected an alias, no colon'],
    ['any tenant from afar', [{ ...base, tenants: 'any', keys: remote }], 'speaks for any tenant'],
  ] satisfies [string, IssuerConfig[], string][])(
    'are refused for %s',
    (_what, issuers, message) => {
      expect(() => createTokenVerifier({ issuers, clock })).toThrow(
        expect.objectContaining({
          code: 'START_REFUSED',
          kind: 'terminal',
          message: expect.stringContaining(message),
        }),
      );
    },
  );

  test('with equal subjects are two subjects', async () => {
    const other = await testKey('k2');
    const issuers: IssuerConfig[] = [
      { ...base, keys: { kind: 'local', jwks: { keys: [key.jwk] } } },
      {
        ...base,
        alias: 'guest',
        issuer: 'https://guest.example.com',
        keys: { kind: 'local', jwks: { keys: [other.jwk] } },
      },
    ];
    const verifier = createTokenVerifier({ issuers, clock });
    const claims = { aud: 'a', tenant: 't' };
    const first = await verifier.verify(await key.sign(claims));
    const iss = 'https://guest.example.com';
    const second = await verifier.verify(await other.sign({ ...claims, iss }));
    const foreign = await verifier.verify(await key.sign({ ...claims, iss }));
    expect(first).toMatchObject({ principal: { subject: 'corp:ana' } });
    expect(second).toMatchObject({ principal: { subject: 'guest:ana' } });
    expect(foreign).toEqual({ ok: false, fault: 'signature' });
  });
});
