/**
 * The DynamoDB that tests run against, in this order:
 * `DYNAMODB_ENDPOINT=http://…` an engine that is already there (DynamoDB Local, for one);
 * `CHECKPOINT_TEST_AWS_REGION=…` the service itself, with the credentials of the environment;
 * otherwise the emulator of the optional dependency, one process for each test file.
 * Where there is none the tests fail, unless `CHECKPOINT_TEST_WITHOUT_DYNAMODB=1` skips them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { DynamoClientOptions } from '../../../lib/adapters/dynamodb/client.ts';

/** An engine that answers. */
export interface Engine {
  readonly name: string;
  readonly client: DynamoClientOptions;
  stop(): Promise<void>;
}

const PACKAGE = '@dynoxide/linux-x64';
/** Emulators want credentials and look at none of them. */
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const REGION = 'eu-central-1';

/** Why there is no engine here, or undefined where there is one. */
export function missingEngine(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (!startsEmulator(env) || binary() !== undefined) return undefined;
  return `the optional package ${PACKAGE} is not installed and DYNAMODB_ENDPOINT is not set`;
}

/** Whether tests start the emulator themselves, and so know exactly what it answers. */
export const startsEmulator = (env: NodeJS.ProcessEnv = process.env): boolean =>
  given(env['DYNAMODB_ENDPOINT']) === undefined &&
  given(env['CHECKPOINT_TEST_AWS_REGION']) === undefined;

/** Finds or starts an engine. */
export async function startEngine(): Promise<Engine> {
  const endpoint = given(process.env['DYNAMODB_ENDPOINT']);
  const stop = (): Promise<void> => Promise.resolve();
  if (endpoint !== undefined) {
    const client = { endpoint, region: REGION, credentials: CREDENTIALS };
    return { name: endpoint, client, stop };
  }
  const region = given(process.env['CHECKPOINT_TEST_AWS_REGION']);
  if (region !== undefined) return { name: region, client: { region }, stop };
  return startEmulator();
}

async function startEmulator(): Promise<Engine> {
  const path = binary();
  if (path === undefined) throw new Error(missingEngine());
  const port = await freePort();
  // A shell stands between: it ends the emulator when this process is gone, however that came about.
  const script = '"$0" --port "$1" >/dev/null 2>&1 & child=$!; read -r _; kill -9 "$child"';
  const shell = spawn('sh', ['-c', script, path, String(port)], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  const ended = once(shell, 'close');
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint);
  return {
    name: 'dynoxide',
    client: { endpoint, region: REGION, credentials: CREDENTIALS },
    stop: async () => {
      shell.stdin.end();
      await ended;
    },
  };
}

async function answering(endpoint: string): Promise<void> {
  for (let n = 0; n < 500; n++) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await setTimeout(10);
    }
  }
  throw new Error(`the emulator at ${endpoint} does not answer`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function binary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/dynoxide`);
  } catch {
    return undefined;
  }
}

const given = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim();
