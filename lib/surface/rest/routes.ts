// Everything below `/v1`, group by group.
import { Hono } from 'hono';
import type { HostCall } from '../host-call.ts';
import type { CallParts } from './calls.ts';
import { operationRoutes, type OperationRoutes } from './operations.ts';
import { runRoutes, type RunRoutes } from './runs.ts';

type Parts = OperationRoutes & RunRoutes;

/** What is served below `/v1`, without what the app knows anyhow. */
export type RestParts = Omit<Parts, Exclude<keyof CallParts, 'secrets'>>;

/** The routes. */
export function restRoutes(parts: Parts): Hono<{ Bindings: HostCall }> {
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  app.route('/', operationRoutes(parts));
  app.route('/', runRoutes(parts));
  return app;
}
