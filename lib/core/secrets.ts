// Keys derived from the deployment's one secret, per tenant and purpose.
import { createHmac, hkdfSync } from 'node:crypto';

/** The secrets of one tenant, each for one purpose. */
export interface TenantSecrets {
  readonly ledger: string;
  readonly confirmation: string;
  readonly cursor: string;
}

/**
 * Derives a tenant's secrets from the deployment's secret (at least 32 characters).
 * Source: RFC 5869.
 */
export function secretsOf(master: string): (tenant: string) => TenantSecrets {
  const known = new Map<string, TenantSecrets>();
  return (tenant) => {
    let secrets = known.get(tenant);
    if (secrets === undefined) {
      const derive = (purpose: string): string =>
        Buffer.from(hkdfSync('sha256', master, tenant, `checkpoint:${purpose}`, 32)).toString(
          'hex',
        );
      secrets = {
        ledger: derive('ledger'),
        confirmation: derive('confirmation'),
        cursor: derive('cursor'),
      };
      if (known.size >= 10_000) known.clear();
      known.set(tenant, secrets);
    }
    return secrets;
  };
}

/** A short MAC for tokens: 128 bits, URL-safe. */
export function shortMac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22);
}
