// Who is calling. Always derived from a verified token, never from an argument.
import { LIMITS } from '../limits.ts';

/** What a tenant can be called. */
export const TENANT_NAME = new RegExp(
  `^[A-Za-z0-9][A-Za-z0-9_-]{0,${LIMITS.tenantChars.max - 1}}$`,
);

/** What a token may do; the closed list of scopes. */
export const SCOPES = [
  'procedures:run',
  'procedures:supervise',
  'runs:create',
  'approvals:decide',
  'audit:read',
  'audit:sensitive',
  'ops:admin',
  'mcp:service',
] as const;

/** One scope of the closed list. */
export type Scope = (typeof SCOPES)[number];

/** A service acts for nobody, an agent acts by itself for somebody, a person acts. */
export type PrincipalKind = 'person' | 'agent' | 'service';

/**
 * The caller of a command. `subject` is `<issuer alias>:<sub>`, so equal `sub` values of two
 * issuers stay two subjects. `name` is what may be spoken.
 */
export interface Principal {
  readonly tenant: string;
  readonly subject: string;
  readonly name: string;
  readonly kind: PrincipalKind;
  readonly scopes: ReadonlySet<Scope>;
  readonly via: 'mcp' | 'rest' | 'cli' | 'system';
}

/** Who did something, as it is stored in events and state. */
export interface Actor {
  readonly subject: string;
  readonly name: string;
  readonly kind: PrincipalKind;
  readonly via: Principal['via'];
}

/** The storable part of a principal. */
export function actorOf(principal: Principal): Actor {
  const { subject, name, kind, via } = principal;
  return { subject, name, kind, via };
}
