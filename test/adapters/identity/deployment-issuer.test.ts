import { describe, expect, test } from '@jest/globals';
import {
  deploymentIssuerConfig,
  openDeploymentIssuer,
} from '../../../lib/adapters/identity/deployment-issuer.ts';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';

const clock = { now: () => 1_800_000_000_000 };
const one = 'a'.repeat(64);
const verifierOf = (secret: string) =>
  createTokenVerifier({ issuers: [deploymentIssuerConfig(secret)], clock });

describe('the issuer of a deployment', () => {
  test('is the same pair for the same secret, on every process, from release to release', () => {
    expect(deploymentIssuerConfig(one)).toEqual({
      alias: 'dev',
      issuer: 'urn:checkpoint:deployment:1bec5e70407accb8ac3c90b4d9fb26ce',
      audience: 'urn:checkpoint:deployment:1bec5e70407accb8ac3c90b4d9fb26ce',
      tenants: 'any',
      tenantClaim: 'tenant',
      keys: {
        kind: 'local',
        jwks: {
          keys: [expect.objectContaining({ x: '1F7_eEXfO3q3l_npyYO5vb2dLgW2Jy16hKK7peH9UZU' })],
        },
      },
    });
  });

  test('holds no private half in what a verifier is given', () => {
    expect(JSON.stringify(deploymentIssuerConfig(one))).not.toContain('"d"');
  });

  test('signs tokens that its verifier takes', async () => {
    const issuer = await openDeploymentIssuer(one, clock);
    const token = await issuer.sign({ subject: 'ana', name: 'Ana', scopes: ['procedures:run'] });
    expect(await verifierOf(one).verify(token)).toMatchObject({
      ok: true,
      principal: { tenant: 'local', subject: 'dev:ana', kind: 'person' },
    });
  });

  test('signs nothing that another deployment takes', async () => {
    const issuer = await openDeploymentIssuer(one, clock);
    const token = await issuer.sign({ subject: 'ana', scopes: ['procedures:run'] });
    expect(await verifierOf('b'.repeat(64)).verify(token)).toEqual({ ok: false, fault: 'issuer' });
  });

  test('wants a secret that nobody can have typed', () => {
    expect(() => deploymentIssuerConfig('a'.repeat(31))).toThrow('at least 32 characters');
    expect(deploymentIssuerConfig('a'.repeat(32)).alias).toBe('dev');
  });
});
