// The one place that puts adapters into the core and the surface. Holds no rule of its own.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { createTokenVerifier } from './adapters/identity/token-verifier.ts';
import { openDevIssuer, type DevIssuer } from './adapters/identity/dev-issuer.ts';
import { readDeploymentSecret } from './adapters/identity/deployment-secret.ts';
import { checkPolicyFiles, type CheckedFile } from './adapters/policies/check-files.ts';
import { loadPolicyFolder, readPolicyFile } from './adapters/policies/folder.ts';
import { systemClock, systemRandom } from './adapters/runtime/system.ts';
import { createTokenBuckets } from './adapters/runtime/token-buckets.ts';
import { openSqliteStore } from './adapters/sqlite/store.ts';
import { Fault } from './core/fault.ts';
import type { Principal, Scope } from './core/model/principal.ts';
import type { DomainPolicy } from './core/ports/policy.ts';
import type { StorageBackend } from './core/ports/storage.ts';
import {
  buildRegistry,
  type ProcedureRegistry,
  type RegisteredProcedure,
} from './core/procedures.ts';
import { createQueries, type Queries } from './core/queries.ts';
import { registerProcedures } from './core/register-procedures.ts';
import { headsKey, secretsOf } from './core/secrets.ts';
import { createService, type OnFault, type Service } from './core/service/service.ts';
import { instrumentCalibration } from './policies/instrument-calibration/policy.ts';
import { pumpInspection } from './policies/pump-inspection/policy.ts';
import type { Settings } from './settings.ts';
import { createApp, type AppParts } from './surface/app.ts';
import { toolNamed } from './surface/mcp/tools.ts';
import { createSpeech } from './surface/speech.ts';

export { systemClock };

/** Everything a local process works with. `close` ends the store. */
export interface Local {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly service: Service;
  readonly queries: Queries;
  /** How long a command of a tool has, in milliseconds. */
  readonly commandTimeoutMs: number;
  close(): Promise<void>;
}

/** The file of the embedded backend within a data folder. */
export function dataFile(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.sqlite');
}

/** The key under which this deployment signs lists of chain heads. */
export async function headsSecret(settings: Settings): Promise<string> {
  return headsKey(await readDeploymentSecret(settings.dataFolder, settings.secret));
}

/** Opens the embedded store of a data folder. */
export function openStore(settings: Settings, options?: { readonly readOnly?: boolean }) {
  return openSqliteStore({
    path: dataFile(settings.dataFolder),
    lockTimeoutMs: settings.lockTimeoutMs,
    clock: systemClock,
    random: systemRandom,
    ...options,
  });
}

/** The development issuer of a data folder, which signs and verifies tokens there. */
export function developmentIssuer(settings: Settings): Promise<DevIssuer> {
  return openDevIssuer(settings.dataFolder);
}

/** The domains that come along. */
const SHIPPED: readonly DomainPolicy[] = [pumpInspection, instrumentCalibration];

/**
 * The procedures of a process: those that come along, and those of the configured folder. Throws a
 * terminal fault `START_REFUSED` with every fault.
 */
export async function loadRegistry(
  settings: Pick<Settings, 'policiesFolder'>,
  policies: readonly DomainPolicy[] = [],
  shipped = true,
): Promise<ProcedureRegistry> {
  const folder = settings.policiesFolder;
  const own = folder === undefined ? [] : await loadPolicyFolder(folder);
  const built = buildRegistry([...(shipped ? SHIPPED : []), ...policies, ...own]);
  if (built.ok) return built.registry;
  const lines = built.faults.map(({ source, path, message }) => `  ${source} ${path}: ${message}`);
  throw new Fault('terminal', 'START_REFUSED', ['invalid procedures:', ...lines].join('\n'));
}

/** The procedures of one file, by itself; undefined where it has a fault. */
export async function proceduresOf(
  file: string,
): Promise<readonly RegisteredProcedure[] | undefined> {
  const read = await readPolicyFile(file, file);
  const built = read.ok ? buildRegistry([read.policy]) : read;
  return built.ok ? built.registry.all() : undefined;
}

/** Checks files of procedures before they are deployed, each with the places of its faults. */
export function checkPolicies(files: readonly string[]): Promise<readonly CheckedFile[]> {
  return checkPolicyFiles(files, SHIPPED);
}

/**
 * Opens the embedded backend with the core on it. Throws a terminal fault `START_REFUSED` when a
 * procedure is not valid or differs from what is on record under its version.
 */
export async function openLocal(
  settings: Settings,
  options: {
    /** Domains beside those of the folder that the settings name. */
    readonly policies?: readonly DomainPolicy[];
    /** Whether the domains that come along are served too; they are unless this is false. */
    readonly shipped?: boolean;
    readonly onFault?: OnFault;
  } = {},
): Promise<Local> {
  const { policies, shipped, onFault } = options;
  const registry = await loadRegistry(settings, policies, shipped);
  const secret = await readDeploymentSecret(settings.dataFolder, settings.secret);
  const store = await openStore(settings);
  try {
    await registerProcedures(store, registry);
  } catch (error) {
    await store.close();
    throw error;
  }
  const service = createService({
    store,
    registry,
    clock: systemClock,
    random: systemRandom,
    secrets: secretsOf(secret),
    sinks: ['log'],
    ...(onFault !== undefined && { onFault }),
  });
  return {
    store,
    registry,
    service,
    queries: createQueries(store, registry, onFault),
    commandTimeoutMs: settings.commandTimeoutMs,
    close: () => store.close(),
  };
}

/** The tools of a local process, called by one person. */
export interface LocalTools {
  readonly principal: Principal;
  call(
    tool: string,
    args: { readonly [name: string]: unknown },
  ): Promise<{ readonly text: string; readonly fields: { readonly [name: string]: unknown } }>;
}

/**
 * The tools without HTTP, for a development token of the same data folder. Throws a terminal fault for
 * a token that the verifier refuses.
 */
export async function localTools(
  settings: Settings,
  local: Local,
  token: string,
): Promise<LocalTools> {
  const issuer = await developmentIssuer(settings);
  const verifier = createTokenVerifier({ issuers: [issuer.issuerConfig()], clock: systemClock });
  const verified = await verifier.verify(token);
  if (!verified.ok) throw new Fault('terminal', 'START_REFUSED', 'the token is not accepted');
  return toolsOf(local, { ...verified.principal, via: 'cli' });
}

/**
 * The tools of a local process for a person whom the program itself vouches for: no token is asked for.
 * A subject is what an issuer would call the person, `name` what is spoken (the subject where left out).
 */
export function toolsFor(
  local: Local,
  person: {
    readonly tenant: string;
    readonly subject: string;
    readonly name?: string;
    readonly scopes: readonly Scope[];
  },
): Promise<LocalTools> {
  const { tenant, subject, name = subject, scopes } = person;
  const held = new Set(scopes);
  return toolsOf(local, { tenant, subject, name, kind: 'person', scopes: held, via: 'cli' });
}

async function toolsOf(local: Local, principal: Principal): Promise<LocalTools> {
  const { tenant, subject, name, kind } = principal;
  if (kind !== 'service') await local.store.noteProfile({ tenant, subject, name });
  const { service, queries, registry, commandTimeoutMs } = local;
  const speech = createSpeech(registry);
  const kit = { service, queries, registry, speech, clock: systemClock, commandTimeoutMs };
  return {
    principal,
    call: async (tool, args) => {
      const found = toolNamed(tool);
      if (found === undefined) throw new Error(`there is no tool ${tool}`);
      const answer = await found.call(kit, args, { principal, requestId: randomUUID() });
      return { text: answer.text, fields: answer.structured };
    },
  };
}

/** Builds the HTTP app over an open local process. `publicUrl` is the URL of the MCP endpoint. */
export async function localApp(
  settings: Settings,
  local: Local,
  options: {
    readonly publicUrl: string;
    readonly version: string;
    readonly log: AppParts['log'];
    /** Replaces the MCP server on the same pipeline; for fixtures in tests. */
    readonly mcpFactory?: AppParts['mcpFactory'];
  },
): Promise<Hono> {
  const configured = settings.issuers.map((entry) => ({
    alias: entry.alias,
    issuer: entry.issuer,
    audience: entry.audience ?? options.publicUrl,
    tenants: entry.tenants,
    tenantClaim: entry.tenantClaim,
    ...(entry.agentClaim !== undefined && { agentClaim: entry.agentClaim }),
    ...(entry.clientIds !== undefined && { clientIds: entry.clientIds }),
    keys: { kind: 'remote' as const, jwksUrl: entry.jwksUrl },
  }));
  const issuers =
    configured.length > 0 ? configured : [(await developmentIssuer(settings)).issuerConfig()];
  return createApp({
    service: local.service,
    queries: local.queries,
    registry: local.registry,
    store: local.store,
    verifier: createTokenVerifier({ issuers, clock: systemClock }),
    clock: systemClock,
    publicUrl: options.publicUrl,
    authorizationServers: configured.map((entry) => entry.issuer),
    allowedOrigins: settings.allowedOrigins,
    allowedHosts: settings.allowedHosts,
    authProfile: settings.authProfile,
    commandTimeoutMs: settings.commandTimeoutMs,
    serverVersion: options.version,
    log: options.log,
    ...(options.mcpFactory !== undefined && { mcpFactory: options.mcpFactory }),
    rateLimiter: createTokenBuckets(settings.ratePerMinute, systemClock),
  });
}
