// One id and one log line for every request, whatever becomes of it.
import type { MiddlewareHandler } from 'hono';
import type { Principal } from '../core/model/principal.ts';
import type { Clock } from '../core/ports/runtime.ts';

declare module 'hono' {
  interface ContextVariableMap {
    requestId: string;
    principal: Principal;
  }
}

/** One structured log line. It never holds a token, a body or a value of a step. */
export interface LogEntry {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Takes log lines. */
export type Log = (entry: LogEntry) => void;

/** Gives a request its id and writes one line about it, whatever becomes of it. */
export function requestLine(log: Log, clock: Clock): MiddlewareHandler {
  return async (c, next) => {
    const requestId = crypto.randomUUID();
    const started = clock.now();
    c.set('requestId', requestId);
    await next();
    c.header('x-request-id', requestId);
    c.header('x-content-type-options', 'nosniff');
    log({
      level: 'info',
      msg: 'request',
      request_id: requestId,
      method: c.req.method,
      path: c.req.path.slice(0, 120),
      status: c.res.status,
      ms: clock.now() - started,
    });
  };
}
