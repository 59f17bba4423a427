// The demo's server: a real `checkpoint serve` in a process of its own, so that it can be killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { CliProblem } from '../failure.ts';
import { COMPILED } from '../form.ts';
import { packageFolder } from '../../wiring/package-folder.ts';

/** A server process on a data folder. */
export interface ServerProcess {
  readonly port: number;
  /** Ends the process at once, with SIGKILL. */
  kill(): Promise<void>;
  /** Ends the process in an orderly way. */
  stop(): Promise<void>;
}

/** The command line entry of this package, from its source or its compiled form. */
const ENTRY = join(packageFolder(), COMPILED ? 'dist/bin/checkpoint.js' : 'bin/checkpoint.ts');

/** Runs the command line in a process of its own and answers its output and exit code. */
export async function runEntry(
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: plainEnvironment(),
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? 1, output: output.trim() };
}

/** Starts a server on a free port and waits until it says where it is. */
export async function startServerProcess(
  dataFolder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const args = [ENTRY, 'serve', '--port', '0', '--data', dataFolder];
  const env = { ...plainEnvironment(), CHECKPOINT_LOG_LEVEL: 'error', ...settings };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const exited = once(child, 'exit');
  const port = await Promise.race([
    portOf(child),
    exited.then(() => {
      throw new CliProblem('The demo’s server ended before it was ready.');
    }),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return { port, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

/** The environment without settings: the story is the same whatever this machine is set up for. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CHECKPOINT_') && name !== 'HOST' && name !== 'PORT',
  );
  return Object.fromEntries(kept);
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('the child has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^MCP\s+http:\/\/127\.0\.0\.1:(\d+)\/mcp$/.exec(line)?.[1];
    if (port !== undefined) {
      child.stdout.resume();
      return Number(port);
    }
  }
  throw new CliProblem('The demo’s server did not say where it is.');
}
