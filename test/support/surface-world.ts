// The HTTP app over the real core and a real store in a scratch folder; only tokens are play money.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { openSqliteStore } from '../../lib/adapters/sqlite/store.ts';
import { Fault } from '../../lib/core/fault.ts';
import type { Principal, PrincipalKind, Scope } from '../../lib/core/model/principal.ts';
import type { TokenVerifier } from '../../lib/core/ports/identity.ts';
import type { Clock } from '../../lib/core/ports/runtime.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import { createOperations } from '../../lib/core/operations/operations.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createRunQueries } from '../../lib/core/runs/queries.ts';
import { createRunService } from '../../lib/core/runs/service.ts';
import { createService } from '../../lib/core/service/service.ts';
import { instrumentCalibration } from '../../lib/policies/instrument-calibration/policy.ts';
import { pumpInspection } from '../../lib/policies/pump-inspection/policy.ts';
import { createApp, type AppParts, type CheckpointApp } from '../../lib/surface/app.ts';
import { checkAnswer, isRest } from './checked-answers.ts';
import type { LogEntry } from '../../lib/surface/request-line.ts';

/** The URL that clients of the tests use. */
export const PUBLIC_URL = 'https://checkpoint.example.com/mcp';

/** The two domains that ship. */
export function shippedRegistry() {
  const built = buildRegistry([pumpInspection, instrumentCalibration]);
  if (!built.ok) throw new Error('the shipped procedures are not valid');
  return built.registry;
}

function account(
  name: string,
  scopes: readonly Scope[],
  kind: PrincipalKind = 'person',
  tenant = 'plant',
): Omit<Principal, 'via'> {
  const subject = `dev:${name.toLowerCase()}`;
  return { tenant, subject, name, kind, scopes: new Set(scopes) };
}

/** Who the tokens of the tests belong to. */
export const ACCOUNTS: { readonly [token: string]: Omit<Principal, 'via'> } = {
  ana: account('Ana', ['procedures:run']),
  ben: account('Ben', ['procedures:run']),
  sue: account('Sue', ['procedures:run', 'procedures:supervise']),
  auditor: account('Audi', ['audit:read']),
  reader: account('Rea', []),
  other: account('Ana', ['procedures:run'], 'person', 'elsewhere'),
  service: account('Platform', ['mcp:service'], 'service'),
  robot: account('Robot', ['procedures:run'], 'agent'),
  ira: account('Ira', ['runs:create']),
  dora: account('Dora', ['approvals:decide']),
  dan: account('Dan', ['approvals:decide']),
  deputy: account('Deputy', ['runs:create', 'approvals:decide']),
  deciderRobot: account('Robot', ['approvals:decide', 'runs:create'], 'agent'),
  deciderService: account('Platform', ['approvals:decide', 'runs:create'], 'service'),
  iraElsewhere: account(
    'Ira',
    ['runs:create', 'approvals:decide', 'audit:read'],
    'person',
    'elsewhere',
  ),
  olga: account('Olga', ['ops:admin']),
  olgaElsewhere: account('Olga', ['ops:admin'], 'person', 'elsewhere'),
  opsRobot: account('Robot', ['ops:admin'], 'agent'),
};

const verifier: TokenVerifier = {
  verify: (token) => {
    if (token === 'keys-down') throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'no keys');
    if (token === 'broken') throw new Error('secret detail of the verifier');
    const principal = ACCOUNTS[token.startsWith('long') ? 'ana' : token];
    return Promise.resolve(
      principal === undefined
        ? { ok: false, fault: 'signature' }
        : { ok: true, principal, expiresAt: Number.MAX_SAFE_INTEGER },
    );
  },
};

/** An app with what tests look at. */
export interface World {
  readonly app: CheckpointApp;
  readonly store: StorageBackend;
  readonly logs: LogEntry[];
}

const cleanups: (() => Promise<void>)[] = [];

/** Closes every world that a test opened. */
export function closeWorldsAfterEach(): void {
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean();
  });
}

/** The parts of an app that runs and operations are served from, over a store. */
export function restOn(store: StorageBackend, clock: Clock = systemClock, mcpApprovals = false) {
  const secrets = secretsOf('a deployment secret for tests only');
  const registry = shippedRegistry();
  const parts = { store, registry, clock, sinks: ['log'], secrets };
  return {
    rest: { operations: createOperations(parts), secrets },
    runs: createRunService({
      ...parts,
      random: systemRandom,
      ...(mcpApprovals && { channels: new Set(['mcp', 'rest'] as const) }),
    }),
    runQueries: createRunQueries(store),
    mcpApprovals,
  };
}

/** Holds every REST answer of an app against the OpenAPI document. */
function hold(app: CheckpointApp): void {
  const { fetch } = app;
  // `request` goes through `fetch`, so one place is enough.
  app.fetch = async (request, ...rest) => {
    const response = await fetch(request, ...rest);
    const { pathname } = new URL(request.url);
    if (isRest(pathname)) await checkAnswer(request.method, pathname, response);
    return response;
  };
}

/** Opens an app; `overrides` replaces single parts, given the store. */
export async function openWorld(
  overrides: (store: StorageBackend) => Partial<AppParts> = () => ({}),
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'checkpoint-surface-'));
  const store = await openSqliteStore({
    path: join(folder, 'checkpoint.sqlite'),
    lockTimeoutMs: 1_000,
    clock: systemClock,
    random: systemRandom,
  });
  const registry = shippedRegistry();
  const logs: LogEntry[] = [];
  const service = createService({
    store,
    registry,
    clock: systemClock,
    random: systemRandom,
    secrets: secretsOf('a deployment secret for tests only'),
    sinks: ['log'],
  });
  const app = createApp({
    ...restOn(store),
    service,
    queries: createQueries(store, registry),
    registry,
    store,
    verifier,
    clock: systemClock,
    publicUrl: PUBLIC_URL,
    authorizationServers: ['https://id.example.com'],
    allowedOrigins: ['https://app.example.com'],
    allowedHosts: ['checkpoint.internal'],
    authProfile: 'alexa',
    commandTimeoutMs: 2_000,
    serverVersion: '1.2.3',
    log: (entry) => logs.push(entry),
    ...overrides(store),
  });
  await app.warmUp();
  hold(app);
  cleanups.push(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { app, store, logs };
}
