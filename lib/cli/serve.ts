// `checkpoint serve`: the HTTP app on the embedded backend, on one port, until it is told to stop.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import pino, { type Logger } from 'pino';
import { activeVersions } from '../core/active-versions.ts';
import { toldError } from '../core/told-error.ts';
import type { Settings } from '../settings.ts';
import { dataFile, localApp, openLocal, type TendingParts, type Local } from '../wiring/local.ts';
import { pagesOfPackage } from '../wiring/pages.ts';
import { createBoundedServer } from './bounded-server.ts';
import { CliProblem } from './failure.ts';
import { missingWarning } from './policy/active.ts';
import { COMMAND } from './form.ts';
import { shownHost } from './shown-host.ts';
import { packageFolder } from '../wiring/package-folder.ts';
import { packageVersion } from '../wiring/version.ts';

/** How long a server that is up waits for a first call before it warms up. */
const WARM_UP_AFTER_MS = 500;

/** A server that is running. */
export interface Running {
  /** The URL of the MCP endpoint. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Replaces the MCP server behind the same HTTP pipeline; for fixtures in tests. */
type Fixtures = Pick<Parameters<typeof localApp>[2], 'mcpFactory'>;

/** Starts the server; a taken port is a problem with one sentence. */
export async function startServer(settings: Settings, fixtures: Fixtures = {}): Promise<Running> {
  // Standard output is for people; log lines go to standard error.
  const logger = pino({ level: settings.logLevel, base: null }, pino.destination(2));
  const local = await openLocal(settings, {
    onFault: (fault, operation, requestId) => {
      const { code, kind } = fault;
      const told = { request_id: requestId, operation, code, kind, err: toldError(fault) };
      logger.warn(told, 'unavailable');
    },
    onEvidenceWarning: (warning) => {
      logger.warn(warning, 'a tool server is odd');
    },
    onWorkError: (error) => {
      logger.warn({ err: toldError(error) }, 'work of a run was cut off; it is begun again');
    },
  });
  const server = createBoundedServer();
  try {
    const port = await listen(server, settings);
    const shown = shownHost(settings.host);
    const url = settings.publicUrl ?? `http://${shown}:${port}/mcp`;
    const version = packageVersion();
    const app = await localApp(settings, local, {
      ...fixtures,
      publicUrl: url,
      version,
      pages: pagesOfPackage(packageFolder()),
      log: ({ level, msg, ...rest }) => {
        logger[level](rest, msg);
      },
    });
    const listener = getRequestListener((request) => app.fetch(request));
    server.on('request', (request, response) => void listener(request, response));
    local.tend(tendingLog(logger));
    void warnOfMissingVersions(local, logger);
    // A first call that comes at once does not wait for it.
    setTimeout(() => void app.warmUp(), WARM_UP_AFTER_MS).unref();
    return { url, stop: () => stop(server, () => local.close()) };
  } catch (error) {
    // A port that goes on listening would keep the process alive.
    server.close();
    await local.close();
    throw error;
  }
}

/** Notifications, what became of them, and repairs, as log lines. A payload holds no sensitive value. */
function tendingLog(logger: Logger): TendingParts {
  return {
    write: (fields, message) => {
      logger.info(fields, message);
    },
    onDelivery: ({ id, lane, workflow, attempts }, result, failure) => {
      const told = { notification: id, lane, workflow, attempts, result };
      if (failure === undefined) logger.debug(told, 'delivery');
      else logger.warn({ ...told, why: failure.message }, 'delivery failed');
    },
    onFinding: (finding) => {
      const { rule, repaired } = finding;
      if (repaired && rule === 'R6') logger.info(finding, 'tick');
      else logger.warn(finding, repaired ? 'drift repaired' : 'drift found');
    },
    onHeads: (told) => {
      if ('file' in told) logger.info(told, 'list of heads signed');
      else logger.warn({ err: toldError(told.error) }, 'no list of heads was signed');
    },
    onError: (error) => {
      logger.warn({ err: toldError(error) }, 'delivery is held up: the store cannot be used');
    },
  };
}

/** What is printed once the server is up: where it is and how to connect. */
export function banner(settings: Settings, url: string): string {
  const client = { mcpServers: { checkpoint: { type: 'http', url } } };
  const data =
    settings.dataFolder === '.checkpoint' ? '' : ` --data ${quoted(settings.dataFolder)}`;
  const config = {
    mcpServers: {
      checkpoint: { ...client.mcpServers.checkpoint, headers: { Authorization: 'Bearer <token>' } },
    },
  };
  const token =
    settings.issuers.length > 0
      ? ['Tokens      from the configured issuers']
      : [
          `Token       ${COMMAND} token --subject ana --scope procedures:run${data}`,
          '            (operators: procedures:run, supervisors: procedures:supervise)',
        ];
  return [
    'Checkpoint is running.',
    '',
    `MCP         ${url}`,
    `Data        ${dataFile(settings.dataFolder)}`,
    ...token,
    '',
    'Client configuration:',
    JSON.stringify(config, null, 2),
    '',
    'Stop with Ctrl+C.',
  ].join('\n');
}

/** A path as it can be typed into a shell. */
function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Looks at what is active without holding up the start; a store that fails is told by requests. */
async function warnOfMissingVersions(local: Local, logger: Pick<Logger, 'warn'>): Promise<void> {
  try {
    const warning = missingWarning(await activeVersions(local.store, local.registry));
    if (warning !== undefined) logger.warn(warning);
  } catch (error) {
    logger.warn({ err: error }, 'could not look for missing procedure versions');
  }
}

async function listen(server: Server, { host, port }: Settings): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CliProblem(listenProblem(error, host, port), { cause: error });
  }
  return (server.address() as AddressInfo).port;
}

function listenProblem(error: unknown, host: string, port: number): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return `Port ${port} on ${host} is taken: stop the other program, or choose another port with --port.`;
  }
  if (code === 'EACCES')
    return `Port ${port} needs more rights: choose a port above 1023 with --port.`;
  return `Cannot listen on ${host}:${port} (${code ?? 'unknown reason'}): check --host and --port.`;
}

async function stop(server: Server, close: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const force = setTimeout(() => {
    server.closeAllConnections();
  }, 3_000);
  await closed;
  clearTimeout(force);
  await close();
}
