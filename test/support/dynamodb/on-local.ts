// `npm run test:dynamodb-local`: starts DynamoDB Local in a container, runs the contract of the storage
// port against it, and stops it.
import { spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

const ENDPOINT = 'http://127.0.0.1:8001';
const SECONDS = 60;

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): number {
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status ?? 1;
}

async function answers(): Promise<boolean> {
  for (let n = 0; n < SECONDS * 4; n++) {
    try {
      await fetch(ENDPOINT);
      return true;
    } catch {
      await setTimeout(250);
    }
  }
  return false;
}

function fail(what: string): void {
  process.stderr.write(`${what}\n`);
  process.exitCode = 1;
}

const docker = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' });
if (docker.status !== 0) {
  fail(
    'Docker with its compose plugin is needed to start DynamoDB Local. ' +
      'With an engine of your own: DYNAMODB_ENDPOINT=http://… npm test -- test/contract',
  );
} else if (run('docker', ['compose', 'up', '--detach']) !== 0) {
  fail('DynamoDB Local was not started: see the lines above.');
} else {
  try {
    if (await answers()) {
      const env = { DYNAMODB_ENDPOINT: ENDPOINT };
      process.exitCode = run('npm', ['test', '--', 'test/contract/storage-dynamodb'], env);
    } else {
      fail(`DynamoDB Local does not answer at ${ENDPOINT} after ${SECONDS} seconds.`);
    }
  } finally {
    run('docker', ['compose', 'down']);
  }
}
