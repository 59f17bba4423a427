// The checks before any token is looked at: host, then origin, then preflight. The one place for CORS.
import type { MiddlewareHandler } from 'hono';
import { corsHeaders, hostCheck, originCheck, preflight } from './hosts.ts';
import { refusalAt } from './reply.ts';

/** What the guard is configured with. */
export interface GuardParts {
  readonly publicUrl: string;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** Host, origin and preflight, in this order; an allowed origin gets its headers on every answer. */
export function guard(parts: GuardParts): MiddlewareHandler {
  const hostAllowed = hostCheck(parts.publicUrl, parts.allowedHosts);
  const originAllowed = originCheck(parts.publicUrl, parts.allowedOrigins);
  return async (c, next) => {
    const { path, method } = c.req;
    // A target may name a host of its own, which then counts. Source: RFC 9112 section 3.2.2.
    const target = new URL(c.req.url).host;
    if (!hostAllowed(c.req.header('host') ?? target) || !hostAllowed(target)) {
      return refusalAt(path, 403, 'HOST_NOT_ALLOWED', 'this host is not served here');
    }
    const origin = c.req.header('origin');
    if (origin !== undefined && !originAllowed(origin)) {
      return refusalAt(path, 403, 'ORIGIN_NOT_ALLOWED', 'this origin may not call', {
        vary: 'Origin',
      });
    }
    const asks = c.req.header('access-control-request-method') !== undefined;
    if (origin !== undefined && method === 'OPTIONS' && asks) c.res = preflight();
    else await next();
    c.header('vary', 'Origin', { append: true });
    if (origin !== undefined) {
      for (const [name, value] of Object.entries(corsHeaders(origin))) c.header(name, value);
    }
    return undefined;
  };
}
