/** Processes that hold a database open and do one thing for each line they are sent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

/** What a child is told to be, before it opens anything. */
export interface ChildTask {
  readonly path: string;
  /** Gives up the rights of the superuser after loading. */
  readonly unprivileged?: boolean;
  readonly lockTimeoutMs?: number;
}

/** A child process with its store. */
export interface SqliteChild {
  /** Sends one line and waits for the line that answers it; undefined once the child has ended. */
  ask(line: string): Promise<string | undefined>;
  kill(): Promise<void>;
  /** Lets the child close its store and end. */
  end(): Promise<void>;
}

/** A child, and what it said when it had tried to open its store. */
export interface StartedChild {
  readonly child: SqliteChild;
  readonly said: string | undefined;
}

/** Starts a child and waits until it has opened its store; answers what it says then. */
export async function startChild(task: ChildTask): Promise<StartedChild> {
  const script = join(import.meta.dirname, 'sqlite-child.ts');
  const running = spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  const closed = once(running, 'close');
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string | undefined> => {
    const line = await lines.next();
    return line.done === true ? undefined : line.value;
  };
  const said = await next();
  return {
    said,
    child: {
      ask: (line) => {
        if (running.exitCode === null) running.stdin.write(`${line}\n`);
        return next();
      },
      kill: async () => {
        running.kill('SIGKILL');
        await closed;
      },
      end: async () => {
        running.stdin.end();
        await closed;
      },
    },
  };
}
