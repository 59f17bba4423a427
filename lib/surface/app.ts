// The HTTP app: checks in their order, then routes. Host, origin, preflight, token, method, body.
// Decides nothing about procedures, and knows no adapter.
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { Hono, type Context } from 'hono';
import type { TokenVerifier } from '../core/ports/identity.ts';
import type { Pages } from '../core/ports/pages.ts';
import type { RateLimiter } from '../core/ports/rate.ts';
import type { Clock } from '../core/ports/runtime.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { ProcedureRegistry } from '../core/procedures.ts';
import type { Queries } from '../core/queries.ts';
import type { RunQueries } from '../core/runs/queries.ts';
import type { RunService } from '../core/runs/service.ts';
import type { Service } from '../core/service/service.ts';
import { authenticate, unauthenticated, type AuthProfile } from './auth.ts';
import { readJsonBody } from './body.ts';
import { createDiscovery } from './discovery.ts';
import { DOCS_PATHS, docsPage } from './docs-page.ts';
import { guard } from './guard.ts';
import { health } from './health.ts';
import { deadlineOf, isLate, type HostCall } from './host-call.ts';
import { createMcpEndpoint } from './mcp/handler.ts';
import type { PermissionProfile } from './mcp/permission.ts';
import type { OnToolCall } from './mcp/tool.ts';
import { createProfileNotes } from './profiles.ts';
import { rateLimit } from './rate.ts';
import { isMcpPath, problem, refusalAt, rpcError, tooLate } from './reply.ts';
import { requestLine, type Log } from './request-line.ts';
import { restRoutes, type RestParts } from './rest/routes.ts';
import { createSpeech } from './speech.ts';

/** Everything the app is made of. */
export interface AppParts {
  readonly service: Service;
  readonly queries: Queries;
  readonly runs: RunService;
  readonly runQueries: RunQueries;
  /** Whether decisions on approvals may come from an assistant; the run service decides too. */
  readonly mcpApprovals: boolean;
  readonly registry: ProcedureRegistry;
  readonly store: Pick<StorageBackend, 'noteProfile' | 'check'>;
  readonly verifier: TokenVerifier;
  readonly clock: Clock;
  /** URL of the MCP endpoint as clients see it; tokens are issued for exactly this. */
  readonly publicUrl: string;
  readonly authorizationServers: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Further host names without a port. */
  readonly allowedHosts: readonly string[];
  readonly authProfile: AuthProfile;
  readonly commandTimeoutMs: number;
  readonly serverVersion: string;
  readonly log: Log;
  /** Told of every tool call that was answered, for metrics. */
  readonly onToolCall?: OnToolCall;
  /** What is served below `/v1`; absent where that is nothing. */
  readonly rest?: RestParts;
  /** The files of the interactive page; absent where none is served. */
  readonly pages?: Pages;
  /** Absent where something in front limits calls. */
  readonly rateLimiter?: RateLimiter;
  /** Replaces the MCP server on the same pipeline; for fixtures in tests. */
  readonly mcpFactory?: McpServerFactory;
}

/** The app; `warmUp` is for hosts that have time before the first request, and costs those that have not. */
export type CheckpointApp = Hono<{ Bindings: HostCall }> & {
  readonly warmUp: () => Promise<void>;
};

/** Builds the app. */
export function createApp(parts: AppParts): CheckpointApp {
  const { log, clock, authProfile } = parts;
  const discovery = createDiscovery(parts.publicUrl, parts.authorizationServers);
  const noteProfile = createProfileNotes(parts.store, (error, requestId) => {
    log({ level: 'warn', msg: 'a profile could not be noted', request_id: requestId, err: error });
  });
  const mcp = createMcpEndpoint({
    kit: { ...parts, speech: createSpeech(parts.registry, clock) },
    serverVersion: parts.serverVersion,
    permissions: permissionProfile(authProfile, discovery.metadataUrl),
    report: (error, requestId, where) =>
      log({ level: 'error', msg: 'unexpected error', request_id: requestId, where, err: error }),
    ...(parts.mcpFactory !== undefined && { factory: parts.mcpFactory }),
    ...(parts.onToolCall !== undefined && { onToolCall: parts.onToolCall }),
  });
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });

  app.use(requestLine(log, clock), guard(parts));
  const methodNotAllowed = (allow: string) => (c: Context) =>
    refusalAt(c.req.path, 405, 'METHOD_NOT_ALLOWED', 'method not allowed', { allow });

  app.get('/health', () => health(parts));
  app.all('/health', methodNotAllowed('GET, HEAD'));
  for (const path of discovery.paths) {
    app.get(path, () => discovery.document());
    app.all(path, methodNotAllowed('GET, HEAD'));
  }

  if (parts.pages !== undefined) {
    app.route('/', docsPage(parts.pages));
    for (const path of DOCS_PATHS) app.all(path, methodNotAllowed('GET, HEAD'));
  }

  app.use(async (c, next) => {
    const header = c.req.header('authorization');
    const seen = await authenticate(parts.verifier, header, isMcpPath(c.req.path) ? 'mcp' : 'rest');
    if (!seen.ok) {
      if (seen.reason !== 'absent') {
        const request_id = c.get('requestId');
        log({ level: 'info', msg: 'token refused', request_id, reason: seen.reason });
      }
      return unauthenticated(seen.reason, authProfile, discovery.metadataUrl, c.req.path);
    }
    // Checking a token can take a while; whoever was frozen meanwhile must not begin to write.
    if (isLate(c.env, clock)) return tooLate(c.req.path);
    c.set('principal', seen.principal);
    const noted = noteProfile(seen.principal, c.get('requestId'));
    await next();
    // A frozen function would lose the note, so the answer waits for it.
    await noted;
    return undefined;
  });

  if (parts.rateLimiter !== undefined) app.use(rateLimit(parts.rateLimiter));

  app.post('/mcp', async (c) => {
    const body = await readJsonBody(c.req.raw);
    if (body.ok) {
      const call = {
        principal: c.get('principal'),
        requestId: c.get('requestId'),
        ...deadlineOf(c.env),
      };
      return mcp.handle(c.req.raw, body.value, call);
    }
    const { status, code, message, path } = body.fault;
    return rpcError(status, rpcCodeOf(status, path), message, { data: { code, path } });
  });
  app.all('/mcp', methodNotAllowed('POST'));

  if (parts.rest !== undefined) {
    app.route('/v1', restRoutes({ ...parts, ...parts.rest }));
  }

  app.notFound(() => problem(404, 'NOT_FOUND', 'there is nothing here'));
  app.onError((error, c) => {
    log({ level: 'error', msg: 'unexpected error', request_id: c.get('requestId'), err: error });
    return refusalAt(c.req.path, 500, 'INTERNAL_ERROR', 'internal error');
  });

  return Object.assign(app, { warmUp: mcp.warmUp });
}

/**
 * The Alexa profile sends no challenge of any kind, and a person hears of a missing scope in words.
 * Source of the standard one: RFC 6750 section 3.1.
 */
function permissionProfile(profile: AuthProfile, metadataUrl: string): PermissionProfile {
  if (profile === 'alexa') return { scopeIsStatus: false, challenge: () => ({}) };
  return {
    scopeIsStatus: true,
    challenge: (scope) => ({
      'www-authenticate': `Bearer error="insufficient_scope", resource_metadata="${metadataUrl}", scope="${scope}"`,
    }),
  };
}

/** An id that cannot be kept exactly makes an invalid request; any other text fault a parse error. */
function rpcCodeOf(status: number, path: string): number {
  if (status !== 400) return -32_000;
  return path === '/id' ? -32_600 : -32_700;
}
