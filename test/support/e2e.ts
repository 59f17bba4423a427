/** A real server for a test: the command line in a process of its own, or the same code in this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { startServer } from '../../lib/cli/serve.ts';
import { readSettings } from '../../lib/settings.ts';
import { childEnvironment, ENTRY, inProcess } from './command-line.ts';

/** A server on a data folder. */
export interface Served {
  readonly url: string;
  readonly dataFolder: string;
  stop(): Promise<void>;
}

/** A server in a process of its own. */
export interface ServedChild extends Served {
  /** What it has printed for the person at the terminal. */
  readonly banner: string;
  /** What it has logged so far. */
  log(): string;
  /** Whether it is still running. */
  alive(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Resolves with its exit code, null after a signal. */
  readonly exited: Promise<number | null>;
}

/** Settings of a server by the names of their environment variables. */
export interface ServerSettings {
  readonly [name: string]: string;
}

const cleanups: (() => Promise<unknown>)[] = [];
let over = false;

afterAll(async () => {
  over = true;
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** An empty data folder that is removed after the test file, once its servers have ended. */
export async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'checkpoint-e2e-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the server in this process, on a free port. */
export async function serve(folder: string, settings: ServerSettings = {}): Promise<Served> {
  const running = await startServer(
    readSettings({
      PORT: '0',
      CHECKPOINT_DATA: folder,
      CHECKPOINT_LOG_LEVEL: 'silent',
      ...settings,
    }),
  );
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= running.stop());
  cleanups.push(stop);
  return { url: running.url, dataFolder: folder, stop };
}

/** Starts `checkpoint serve` on a free port and waits until it has said where it is. */
export async function serveInChild(
  folder: string,
  settings: ServerSettings = {},
): Promise<ServedChild> {
  const child = spawn(process.execPath, [ENTRY, 'serve', '--port', '0', '--data', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment(settings),
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  cleanups.push(stop);
  let banner = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await new Promise<void>((ready, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      banner += text;
      if (banner.includes('Stop with Ctrl+C.')) ready();
    });
    void exited.then((code) => {
      failed(new Error(`the server ended with ${code}: ${log}`));
    });
  });
  // A test that failed may still have been about to start one.
  if (over) await stop();
  return {
    url: /^MCP +(\S+)$/m.exec(banner)?.[1] ?? '',
    dataFolder: folder,
    banner,
    log: () => log,
    alive: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => child.kill(name),
    exited,
    stop,
  };
}

/** Signs a token with `checkpoint token`; `options` are further words of the command line. */
export async function tokenFor(
  folder: string,
  subject: string,
  scope: string,
  ...options: readonly string[]
): Promise<string> {
  const words = ['token', '--subject', subject, '--scope', scope, '--data', folder, ...options];
  const { code, out, err } = await inProcess(words);
  if (code !== 0) throw new Error(err);
  return out.trimEnd();
}
