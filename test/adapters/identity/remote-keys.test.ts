import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';
import type { TokenVerifier } from '../../../lib/core/ports/identity.ts';
import {
  goodClaims,
  keyServer,
  NOW_SECONDS,
  rawToken,
  testKey,
  type KeyServer,
  type TestKey,
} from '../../support/test-issuer.ts';

let first: TestKey;
let second: TestKey;
let server: KeyServer;
let now: number;
let verifier: TokenVerifier;

beforeAll(async () => {
  first = await testKey('k1', 'ES256');
  second = await testKey('k2', 'ES256');
});

beforeEach(async () => {
  server = await keyServer();
  server.keys = [first.jwk];
  now = NOW_SECONDS * 1000;
  const { iss: issuer, aud: audience } = goodClaims;
  verifier = createTokenVerifier({
    clock: { now: () => now },
    issuers: [
      {
        alias: 'corp',
        issuer,
        audience,
        tenants: ['plant-7'],
        tenantClaim: 'tenant',
        keys: { kind: 'remote', jwksUrl: server.url },
      },
    ],
  });
});

afterEach(() => server.close());

async function answer(token: string): Promise<string> {
  const result = await verifier.verify(token);
  return result.ok ? 'accepted' : result.fault;
}

const unknownKey = (n: number): string =>
  rawToken({ alg: 'ES256', kid: `random-${n}` }, goodClaims, 'A'.repeat(86));

const unavailable = {
  name: 'CheckpointFault',
  kind: 'retryable',
  code: 'BACKEND_UNAVAILABLE',
};

describe('keys of an issuer', () => {
  test('are fetched once, however many tokens come at the same time', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => first.sign({})));
    expect(new Set(await Promise.all(tokens.map(answer)))).toEqual(new Set(['accepted']));
    expect(server.hits).toBe(1);
  });

  test('are not fetched for a token of another issuer, or with an algorithm not listed', async () => {
    expect(await answer(await first.sign({ iss: 'https://evil.example.com' }))).toBe('issuer');
    expect(await answer(rawToken({ alg: 'HS256', kid: 'k1' }, goodClaims, 'AAAA'))).toBe(
      'signature',
    );
    expect(server.hits).toBe(0);
  });

  test('are fetched again for a new key at once, and both keys work', async () => {
    expect(await answer(await first.sign({}))).toBe('accepted');
    server.keys = [first.jwk, second.jwk];
    expect(await answer(await second.sign({}))).toBe('accepted');
    expect(await answer(await first.sign({}))).toBe('accepted');
    expect(server.hits).toBe(2);
  });

  test('are fetched once when the very first token has an unknown key', async () => {
    expect(await answer(unknownKey(0))).toBe('signature');
    expect(server.hits).toBe(1);
  });

  test('are fetched at most once per cooldown in a flood of unknown keys', async () => {
    expect(await answer(await first.sign({}))).toBe('accepted');
    const flood = Array.from({ length: 1_000 }, (_, n) => answer(unknownKey(n)));
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['signature']));
    expect(server.hits).toBe(2);
    now += 29_999;
    expect(await answer(unknownKey(1_000))).toBe('signature');
    expect(server.hits).toBe(2);
    now += 1;
    expect(await answer(unknownKey(1_001))).toBe('signature');
    expect(server.hits).toBe(3);
  });

  test('are fetched again after ten minutes, so that a withdrawn key stops working', async () => {
    expect(await answer(await first.sign({ exp: NOW_SECONDS + 3_600 }))).toBe('accepted');
    server.keys = [second.jwk];
    now += 599_999;
    expect(await answer(await first.sign({ exp: NOW_SECONDS + 3_600 }))).toBe('accepted');
    now += 1;
    expect(await answer(await first.sign({ exp: NOW_SECONDS + 3_600 }))).toBe('signature');
  });
});

describe('while the endpoint is down', () => {
  test('known keys keep working, however old they are', async () => {
    const token = await first.sign({ exp: NOW_SECONDS + 86_400 });
    expect(await answer(token)).toBe('accepted');
    server.down = true;
    now += 7_200_000;
    expect(await answer(token)).toBe('accepted');
    expect(await answer(token)).toBe('accepted');
    expect(server.hits).toBe(2);
  });

  test('a token with an unknown key is neither good nor bad: a retryable fault', async () => {
    expect(await answer(await first.sign({}))).toBe('accepted');
    server.down = true;
    const flood = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) => verifier.verify(unknownKey(n))),
    );
    expect(flood.filter(({ status }) => status === 'rejected')).toHaveLength(100);
    await expect(verifier.verify(unknownKey(0))).rejects.toMatchObject(unavailable);
    expect(server.hits).toBe(2);
    expect(await answer(await first.sign({}))).toBe('accepted');
    server.down = false;
    now += 5_000;
    expect(await answer(unknownKey(0))).toBe('signature');
    expect(server.hits).toBe(3);
  });

  test('a first token is a retryable fault, and works soon after the endpoint does', async () => {
    server.down = true;
    const token = await first.sign({});
    await expect(verifier.verify(token)).rejects.toMatchObject(unavailable);
    server.down = false;
    await expect(verifier.verify(token)).rejects.toMatchObject(unavailable);
    expect(server.hits).toBe(1);
    now += 5_000;
    expect(await answer(token)).toBe('accepted');
  });

  test('a refused connection counts as down', async () => {
    await server.close();
    await expect(verifier.verify(await first.sign({}))).rejects.toMatchObject(unavailable);
  });
});
