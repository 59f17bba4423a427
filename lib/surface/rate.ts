// The answer to somebody who calls too often: 429 in the shape of the place it happens at.
import type { MiddlewareHandler } from 'hono';
import type { RateLimiter } from '../core/ports/rate.ts';
import { isMcpPath, problem } from './reply.ts';
import { TOO_MANY } from './speech.ts';

/**
 * Counts calls by the principal that the token gave. Who has no valid token is not counted: their
 * 401 reads no body and no store, and behind a proxy all of them have one address.
 */
export function rateLimit(limiter: RateLimiter): MiddlewareHandler {
  return async (c, next) => {
    const { tenant, subject } = c.get('principal');
    const waitMs = await limiter.take(JSON.stringify([tenant, subject]));
    if (waitMs === 0) {
      await next();
      return undefined;
    }
    const headers = {
      'retry-after': String(Math.ceil(waitMs / 1_000)),
      'cache-control': 'no-store',
    };
    if (!isMcpPath(c.req.path)) return problem(429, 'RATE_LIMITED', 'too many calls', { headers });
    const body = { error: 'rate_limited', message: TOO_MANY, retryable: true };
    return Response.json(body, { status: 429, headers });
  };
}
