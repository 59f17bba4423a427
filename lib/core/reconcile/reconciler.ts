// Who repairs.
import type { Principal } from '../model/principal.ts';

/** The reconciler as the actor of what it changes. */
export const reconciler = (tenant: string): Principal => {
  const subject = 'system:reconciler';
  return { tenant, subject, name: subject, kind: 'service', scopes: new Set(), via: 'system' };
};
