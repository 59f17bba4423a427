import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';
import type { TokenVerifier } from '../../../lib/core/ports/identity.ts';
import {
  keyServer,
  NOW_SECONDS,
  testKey,
  type KeyServer,
  type TestKey,
} from '../../support/test-issuer.ts';

let server: KeyServer;
let key: TestKey;
let verifier: TokenVerifier;
let nowSeconds: number;

beforeEach(async () => {
  key = await testKey('k1', 'ES256');
  server = await keyServer();
  server.keys = [key.jwk];
  nowSeconds = NOW_SECONDS;
  const issuer = {
    alias: 'corp',
    issuer: 'https://id.example.com',
    audience: 'https://checkpoint.example.com/mcp',
    tenants: ['plant-7'],
    tenantClaim: 'tenant',
    keys: { kind: 'remote' as const, jwksUrl: server.url },
  };
  verifier = createTokenVerifier({ issuers: [issuer], clock: { now: () => nowSeconds * 1000 } });
});
afterEach(() => server.close());

const answer = async (token: string): Promise<string> => {
  const result = await verifier.verify(token);
  return result.ok ? result.principal.subject : result.fault;
};

test('a token that was accepted is accepted again, as the same principal', async () => {
  const token = await key.sign({});
  expect(await verifier.verify(token)).toEqual(await verifier.verify(token));
  expect(await answer(token)).toBe('corp:ana');
});

test('a token that was accepted is refused once it has ended, and before it began', async () => {
  const token = await key.sign({ nbf: NOW_SECONDS });
  expect(await answer(token)).toBe('corp:ana');
  nowSeconds = NOW_SECONDS + 629;
  expect(await answer(token)).toBe('corp:ana');
  nowSeconds = NOW_SECONDS + 630;
  expect(await answer(token)).toBe('expired');
  nowSeconds = NOW_SECONDS - 30;
  expect(await answer(token)).toBe('corp:ana');
  nowSeconds = NOW_SECONDS - 31;
  expect(await answer(token)).toBe('not_yet_valid');
});

test('a token that was accepted is refused once its key is withdrawn', async () => {
  const token = await key.sign({ exp: NOW_SECONDS + 7_200 });
  expect(await answer(token)).toBe('corp:ana');
  server.keys = [(await testKey('k2', 'ES256')).jwk];
  nowSeconds = NOW_SECONDS + 601;
  expect(await answer(token)).toBe('signature');
});

test('a token that was accepted is refused once another key has the name of its own', async () => {
  const token = await key.sign({ exp: NOW_SECONDS + 7_200 });
  expect(await answer(token)).toBe('corp:ana');
  server.keys = [(await testKey('k1', 'ES256')).jwk];
  nowSeconds = NOW_SECONDS + 601;
  expect(await answer(token)).toBe('signature');
});

test('the claims of an accepted token are refused under any other signature', async () => {
  const token = await key.sign({});
  expect(await answer(token)).toBe('corp:ana');
  const [header, claims] = token.split('.');
  const [, , other] = (await key.sign({ sub: 'ben' })).split('.');
  expect(await answer(`${header ?? ''}.${claims ?? ''}.${other ?? ''}`)).toBe('signature');
});

test('a token that was refused is looked at anew', async () => {
  const stranger = await testKey('k9', 'ES256');
  const token = await stranger.sign({ exp: NOW_SECONDS + 7_200 });
  expect(await answer(token)).toBe('signature');
  server.keys = [key.jwk, stranger.jwk];
  nowSeconds = NOW_SECONDS + 601;
  expect(await answer(token)).toBe('corp:ana');
});
