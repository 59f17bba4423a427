// The embedded backend: a data folder with the store, the keys and the secret of a laptop.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createTokenVerifier } from '../adapters/identity/token-verifier.ts';
import { openDevIssuer } from '../adapters/identity/dev-issuer.ts';
import type { OwnIssuer } from '../adapters/identity/own-issuer.ts';
import { readDeploymentSecret } from '../adapters/identity/deployment-secret.ts';
import type { CheckedFile } from '../adapters/policies/check-files.ts';
import { readPolicyFile } from '../adapters/policies/folder.ts';
import { every, type Recurring } from '../adapters/runtime/every.ts';
import { keepDaily } from '../adapters/runtime/daily-file.ts';
import { startDeliveryLoop, type DeliveryLoop } from '../adapters/runtime/delivery-loop.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { logSink, type WriteLine } from '../adapters/sinks/log.ts';
import type { OnWarning } from '../adapters/evidence/warnings.ts';
import { webhookSink } from '../adapters/sinks/webhook.ts';
import { openSqliteStore } from '../adapters/sqlite/store.ts';
import { createDispatcher, type Dispatcher, type OnDelivery } from '../core/dispatch/dispatcher.ts';
import { wakingStore } from '../core/dispatch/waking.ts';
import { reportTools } from '../core/evidence/report.ts';
import { Fault } from '../core/fault.ts';
import { dayOf } from '../core/instant.ts';
import type { Principal, Scope } from '../core/model/principal.ts';
import type { DomainPolicy } from '../core/ports/policy.ts';
import { createSweeper, type SweepOptions, type SweepReport } from '../core/reconcile/sweep.ts';
import type { Finding } from '../core/reconcile/rules.ts';
import { RECONCILE } from '../core/reconcile/timing.ts';
import { buildRegistry, type RegisteredProcedure } from '../core/procedures.ts';
import { registerProcedures } from '../core/register-procedures.ts';
import type { OnFault } from '../core/service/service.ts';
import { recordsOf } from '../core/trail/export.ts';
import { headLines } from '../core/trail/heads.ts';
import { headsSigner, type HeadsSigner } from '../core/trail/heads-key.ts';
import type { Settings } from '../settings.ts';
import type { CheckpointApp } from '../surface/app.ts';
import { toolNamed } from '../surface/mcp/tools.ts';
import { createSpeech } from '../surface/speech.ts';
import { appOn, coreOn, type AppOptions, type Core } from './app.ts';
import type { Evidence } from './evidence.ts';
import { startLocalRuns } from './local-runs.ts';
import { loadRegistry, SHIPPED } from './registry.ts';
import { sinkNames } from './sink-names.ts';
import { openTickets } from './tickets.ts';

export { systemClock, type WriteLine };

/** Everything a local process works with. `close` ends delivery and the store. */
export interface Local extends Core {
  /** How long a command of a tool has, in milliseconds. */
  readonly commandTimeoutMs: number;
  /**
   * Begins to deliver notifications, to the log lines of `write` and to the configured webhooks, to do the
   * work of runs, and to repair what drifts.
   */
  tend(parts: TendingParts): void;
  /** Sweeps once: delivers what is due, and repairs what has drifted. */
  sweep(
    write: WriteLine,
    options?: Pick<SweepOptions, 'dryRun' | 'rules'>,
  ): Promise<readonly SweepReport[]>;
  /**
   * What evidence is gathered with: one for the process, made when it is first asked for, and closed with
   * everything else.
   */
  evidence(): Promise<Evidence>;
  close(): Promise<void>;
}

/** What delivery and repairs tell of themselves. */
export interface TendingParts {
  readonly write: WriteLine;
  readonly onDelivery?: OnDelivery;
  readonly onFinding?: (finding: Finding) => void;
  /** Told of the list of heads of a day that was written, or could not be. */
  readonly onHeads?: (told: { readonly file: string } | { readonly error: unknown }) => void;
  /** Told of what the store answers while it cannot be used. */
  readonly onError: (error: unknown) => void;
}

/** The default of those who do not want to hear. */
const nobodyHears = (): void => undefined;

/** The file of the embedded backend within a data folder. */
export function dataFile(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.sqlite');
}

/** What signs lists of chain heads of a data folder. */
export async function localHeadsSigner(settings: Settings): Promise<HeadsSigner> {
  return headsSigner(await readDeploymentSecret(settings.dataFolder, settings.secret));
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
export function developmentIssuer(settings: Settings): Promise<OwnIssuer> {
  return openDevIssuer(settings.dataFolder);
}

/** Checks files of procedures before they are deployed, each with the places of its faults. */
export async function checkPolicies(files: readonly string[]): Promise<readonly CheckedFile[]> {
  // Loaded only here: it parses JSON with places, which no server does.
  const { checkPolicyFiles } = await import('../adapters/policies/check-files.ts');
  return checkPolicyFiles(files, SHIPPED);
}

/** The procedures of one file, by itself; undefined where it has a fault. */
export async function proceduresOf(
  file: string,
): Promise<readonly RegisteredProcedure[] | undefined> {
  const read = await readPolicyFile(file, file);
  const built = read.ok ? buildRegistry([read.policy]) : read;
  return built.ok ? built.registry.all() : undefined;
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
    /** Whether versions that are new here go on record; they do unless this is false. */
    readonly register?: boolean;
    readonly onFault?: OnFault;
    /** Told of oddities of tool servers. */
    readonly onEvidenceWarning?: OnWarning;
    /** Told of work of a run that was cut off by an error. */
    readonly onWorkError?: (error: unknown) => void;
  } = {},
): Promise<Local> {
  const { policies, shipped, register = true, onFault, onEvidenceWarning } = options;
  const { onWorkError = nobodyHears } = options;
  const registry = await loadRegistry(settings, policies, shipped);
  const secret = await readDeploymentSecret(settings.dataFolder, settings.secret);
  const opened = await openStore(settings);
  let loop: DeliveryLoop | undefined;
  const store = wakingStore(opened, (lanes) => loop?.wake(lanes));
  try {
    if (register) await registerProcedures(store, registry);
  } catch (error) {
    await store.close();
    throw error;
  }
  const { webhooks } = settings;
  const sinks = sinkNames({ webhooks, topicArn: undefined, eventBus: undefined });
  const { mcpApprovals } = settings;
  const core = coreOn(store, registry, { secret, sinks, mcpApprovals }, onFault);
  let recurring: Recurring | undefined;
  let takingUp: Promise<unknown> | undefined;
  let evidence: Promise<Evidence> | undefined;
  const evidenceOf = (): Promise<Evidence> => {
    // Loaded only here: an MCP client takes longer to load than a server to start.
    evidence ??= import('./evidence.ts').then(({ openEvidence }) =>
      openEvidence(settings, onEvidenceWarning),
    );
    return evidence;
  };
  const { runs } = core;
  const tickets = await openTickets(settings, opened);
  const work = startLocalRuns({ store, runs, tickets, evidence: evidenceOf, onError: onWorkError });

  const dispatcherTo = (write: WriteLine, onDelivery?: OnDelivery): Dispatcher => {
    const posted = webhooks.map((to) => webhookSink({ ...to, clock: systemClock }));
    return createDispatcher({
      store: opened,
      sinks: [logSink(write), ...posted],
      starter: work.starter,
      clock: systemClock,
      random: systemRandom,
      ...(onDelivery !== undefined && { onDelivery }),
    });
  };
  const sweepAll = async (
    dispatcher: Dispatcher,
    options: SweepOptions,
    onFinding?: (finding: Finding) => void,
  ): Promise<readonly SweepReport[]> => {
    const { sinks } = core;
    const sweeper = createSweeper({
      store,
      registry,
      dispatcher,
      clock: systemClock,
      random: systemRandom,
      sinks,
      runPorts: work.ports,
      ...(onFinding !== undefined && { onFinding }),
    });
    const reports: SweepReport[] = [];
    const shards = await opened.shards();
    for (let shard = 0; shard < shards; shard++) reports.push(await sweeper.sweep(shard, options));
    return reports;
  };

  /** Once a day, and once only: what was signed is not signed anew. */
  const signHeads = async (told: TendingParts['onHeads']): Promise<void> => {
    const now = systemClock.now();
    const file = join(settings.dataFolder, 'heads', `${dayOf(now)}.jsonl`);
    const list = { now, part: 1, more: false };
    try {
      const kept = await keepDaily(file, () =>
        headLines(recordsOf(opened, {}), headsSigner(secret), list),
      );
      if (kept) told?.({ file });
    } catch (error) {
      told?.({ error });
    }
  };

  return {
    ...core,
    commandTimeoutMs: settings.commandTimeoutMs,
    tend: ({ write, onDelivery, onFinding, onHeads, onError }) => {
      const dispatcher = dispatcherTo(write, onDelivery);
      const shards = (): Promise<number> => opened.shards();
      loop ??= startDeliveryLoop({ dispatcher, shards, clock: systemClock, onError });
      recurring ??= every(
        RECONCILE.tickMs,
        async (goOn) => {
          await sweepAll(dispatcher, { goOn }, onFinding);
          if (goOn()) await signHeads(onHeads);
        },
        onError,
      );
      takingUp ??= work.takeUp().catch(onError);
    },
    sweep: (write, options = {}) => sweepAll(dispatcherTo(write), { goOn: () => true, ...options }),
    evidence: evidenceOf,
    close: async () => {
      await recurring?.stop();
      await loop?.stop();
      await work.stop();
      await takingUp;
      await (await evidence)?.source.close();
      await store.close();
    },
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
  const speech = createSpeech(local.registry, systemClock);
  const kit = { ...local, speech, clock: systemClock, mcpApprovals: false };
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
  options: AppOptions,
): Promise<CheckpointApp> {
  const configured = settings.issuers.length > 0;
  const own = configured ? undefined : (await developmentIssuer(settings)).issuerConfig();
  const evidenceTools = async (deadlineMs: number) => {
    const { source, allowlist } = await local.evidence();
    return reportTools(source, allowlist, deadlineMs);
  };
  return appOn(settings, local, own, { evidenceTools, ...options });
}
