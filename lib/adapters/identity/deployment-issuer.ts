// The issuer of a deployment that has no identity provider yet. Its key pair is derived from one random
// secret, so that whatever generates the secret needs to know nothing of keys.
// Invariant: the same secret always gives the same pair; whoever has no secret can sign nothing.
import { createECDH, hkdfSync } from 'node:crypto';
import { assert } from '../../core/fault.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { IssuerConfig } from './issuer-config.ts';
import { createOwnIssuer, ownIssuerConfig, type OwnIssuer, type OwnKey } from './own-issuer.ts';

const URN = 'urn:checkpoint:deployment';
/** Fewer characters than the generated secrets have were typed by somebody. */
const LEAST_CHARS = 32;

/** What the deployment's verifier has to know; holds the public half alone. */
export function deploymentIssuerConfig(secret: string): IssuerConfig {
  return ownIssuerConfig(URN, keyOf(secret));
}

/** The issuer itself, for whoever may read the secret. */
export function openDeploymentIssuer(
  secret: string,
  clock: Pick<Clock, 'now'>,
): Promise<OwnIssuer> {
  return createOwnIssuer(URN, keyOf(secret), clock);
}

function keyOf(secret: string): OwnKey {
  assert(secret.length >= LEAST_CHARS, 'a signing secret has at least 32 characters');
  const pair = createECDH('prime256v1');
  // One seed in four thousand million is no number below the order of the curve; the next one is.
  for (let n = 0; ; n++) {
    const seed = Buffer.from(hkdfSync('sha256', secret, '', `checkpoint:issuer:${n}`, 32));
    try {
      pair.setPrivateKey(seed);
    } catch {
      continue;
    }
    const point = pair.getPublicKey();
    const id = Buffer.from(hkdfSync('sha256', secret, '', 'checkpoint:issuer-id', 16));
    return {
      id: id.toString('hex'),
      key: {
        kty: 'EC',
        crv: 'P-256',
        x: point.subarray(1, 33).toString('base64url'),
        y: point.subarray(33, 65).toString('base64url'),
        d: seed.toString('base64url'),
      },
    };
  }
}
