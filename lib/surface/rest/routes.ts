// Everything below `/v1`, group by group.
import { Hono } from 'hono';
import type { HostCall } from '../host-call.ts';
import { approvalRoutes } from './approvals.ts';
import { operationRoutes, type OperationRoutes } from './operations.ts';
import { runRoutes, type RunRoutes } from './runs.ts';
import { workflowRoutes, type WorkflowRoutes } from './workflows.ts';

type Parts = OperationRoutes & RunRoutes & WorkflowRoutes;

/** What the app knows anyhow. */
type Known =
  'clock' | 'commandTimeoutMs' | 'service' | 'queries' | 'registry' | 'runs' | 'runQueries';

/** What is served below `/v1`, without what the app knows anyhow. */
export type RestParts = Omit<Parts, Known>;

/** The routes. */
export function restRoutes(parts: Parts): Hono<{ Bindings: HostCall }> {
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  app.route('/', operationRoutes(parts));
  app.route('/', runRoutes(parts));
  app.route('/', approvalRoutes(parts));
  app.route('/', workflowRoutes(parts));
  return app;
}
