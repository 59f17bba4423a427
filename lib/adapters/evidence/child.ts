// A child process of a tool server: started with an environment of its own, and ended whatever it does.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** How a process is started. Only `environment` reaches it, nothing of ours. */
export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: { readonly [name: string]: string };
}

/** A running process. */
export interface Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the process has ended and its output was read, or soon after its end. */
  readonly ended: Promise<string>;
  /** Asks it to end by closing its input, then by SIGTERM, then by SIGKILL; resolves at its end. */
  end(): Promise<void>;
  /** Ends it at once, with everything that it started. */
  kill(): void;
}

/** How long a process may take to end after each of the two requests, in milliseconds. */
const GRACE_MS = 1_500;
/** How long output of a process that has ended is waited for: something it started may hold the pipe. */
const LAST_OUTPUT_MS = 250;

/** Starts a process. Rejects with what the system says where it cannot be started. */
export async function startChild({ command, args, environment }: ChildOptions): Promise<Child> {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment,
    shell: false,
    windowsHide: true,
    // A group of its own: a server may be started by another program, and both have to end.
    detached: process.platform !== 'win32',
  });
  await once(child, 'spawn');
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, 'close');
  // Whoever wrote last learns of the end by `ended`.
  child.stdin.on('error', () => undefined);
  const ended = exited.then(async ([code, signal]) => {
    await Promise.race([closed, after(LAST_OUTPUT_MS)]);
    signalGroup(child, 'SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
    return signal === null ? `with exit code ${code ?? '?'}` : `by ${signal}`;
  });
  const end = async (): Promise<void> => {
    child.stdin.end();
    await Promise.race([exited, after(GRACE_MS)]);
    if (isRunning(child)) {
      signalGroup(child, 'SIGTERM');
      await Promise.race([exited, after(GRACE_MS)]);
    }
    if (isRunning(child)) signalGroup(child, 'SIGKILL');
    await ended;
  };
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    end,
    kill: () => {
      if (isRunning(child)) signalGroup(child, 'SIGKILL');
    },
  };
}

type Spawned = ChildProcessByStdio<Writable, Readable, Readable>;

function isRunning({ exitCode, signalCode }: Spawned): boolean {
  return exitCode === null && signalCode === null;
}

function signalGroup(child: Spawned, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
