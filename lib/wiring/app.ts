// What every backend has in common: procedures, the core on a store, and the HTTP app on both.
// Knows no backend; `local.ts` and `aws.ts` beside it bring one.
import { createTokenVerifier } from '../adapters/identity/token-verifier.ts';
import type { IssuerConfig } from '../adapters/identity/issuer-config.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { createTokenBuckets } from '../adapters/runtime/token-buckets.ts';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { ProcedureRegistry } from '../core/procedures.ts';
import { createQueries, type Queries } from '../core/queries.ts';
import { createOperations, type Operations } from '../core/operations/operations.ts';
import { APPROVAL_CHANNELS } from '../core/runs/authorize.ts';
import { createRunQueries, type RunQueries } from '../core/runs/queries.ts';
import { createRunService, type RunService } from '../core/runs/service.ts';
import { secretsOf, type TenantSecrets } from '../core/secrets.ts';
import { createService, type OnFault, type Service } from '../core/service/service.ts';
import type { Settings } from '../settings.ts';
import { createApp, type AppParts, type CheckpointApp } from '../surface/app.ts';
import type { RestParts } from '../surface/rest/routes.ts';

/** The core on a store. */
export interface Core {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly service: Service;
  readonly queries: Queries;
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
  readonly operations: Operations;
  readonly runs: RunService;
  readonly runQueries: RunQueries;
  readonly secrets: (tenant: string) => TenantSecrets;
}

/** What the core is told. */
interface CoreSettings {
  readonly secret: string;
  readonly sinks: readonly string[];
  /** Whether decisions on approvals may come from an assistant. */
  readonly mcpApprovals?: Settings['mcpApprovals'];
}

/** Puts the core on a store. `secret` is the deployment's; every sink gets each notification. */
export function coreOn(
  store: StorageBackend,
  registry: ProcedureRegistry,
  { secret, sinks, mcpApprovals = 'off' }: CoreSettings,
  onFault?: OnFault,
): Core {
  const secrets = secretsOf(secret);
  const byAssistants = new Set([...APPROVAL_CHANNELS, 'mcp' as const]);
  const channels = mcpApprovals === 'on' ? byAssistants : APPROVAL_CHANNELS;
  const service = createService({
    store,
    registry,
    clock: systemClock,
    random: systemRandom,
    secrets,
    sinks,
    channels,
    ...(onFault !== undefined && { onFault }),
  });
  const queries = createQueries(store, registry, onFault);
  const operations = createOperations(
    { store, registry, clock: systemClock, sinks, secrets },
    onFault,
  );
  const runs = createRunService({
    store,
    clock: systemClock,
    random: systemRandom,
    secrets,
    sinks,
    channels,
    ...(onFault !== undefined && { onFault }),
  });
  const runQueries = createRunQueries(store, onFault);
  return { store, registry, service, queries, sinks, operations, secrets, runs, runQueries };
}

/** What the HTTP app is built with beside the settings and the core. */
export interface AppOptions
  extends Pick<AppParts, 'mcpFactory' | 'onToolCall' | 'pages'>, Pick<RestParts, 'evidenceTools'> {
  /** The URL of the MCP endpoint. */
  readonly publicUrl: string;
  readonly version: string;
  readonly log: AppParts['log'];
}

/** The issuers of the settings. A token is for the public URL where nothing else is configured. */
export function configuredIssuers(settings: Settings, publicUrl: string): readonly IssuerConfig[] {
  return settings.issuers.map((entry) => ({
    alias: entry.alias,
    issuer: entry.issuer,
    audience: entry.audience ?? publicUrl,
    tenants: entry.tenants,
    tenantClaim: entry.tenantClaim,
    ...(entry.agentClaim !== undefined && { agentClaim: entry.agentClaim }),
    ...(entry.clientIds !== undefined && { clientIds: entry.clientIds }),
    keys: { kind: 'remote' as const, jwksUrl: entry.jwksUrl },
  }));
}

/**
 * Builds the HTTP app. Where the settings name no issuer, tokens of the deployment's `own` one are
 * accepted, if it has one.
 */
export function appOn(
  settings: Settings,
  core: Core,
  own: IssuerConfig | undefined,
  options: AppOptions,
): CheckpointApp {
  const configured = configuredIssuers(settings, options.publicUrl);
  const issuers = configured.length > 0 || own === undefined ? configured : [own];
  const { version, evidenceTools, ...rest } = options;
  return createApp({
    ...core,
    ...rest,
    rest: { ...core, ...(evidenceTools !== undefined && { evidenceTools }) },
    mcpApprovals: settings.mcpApprovals === 'on',
    verifier: createTokenVerifier({ issuers, clock: systemClock }),
    clock: systemClock,
    authorizationServers: configured.map((entry) => entry.issuer),
    allowedOrigins: settings.allowedOrigins,
    allowedHosts: settings.allowedHosts,
    authProfile: settings.authProfile,
    commandTimeoutMs: settings.commandTimeoutMs,
    serverVersion: version,
    rateLimiter: createTokenBuckets(settings.ratePerMinute, systemClock),
  });
}
