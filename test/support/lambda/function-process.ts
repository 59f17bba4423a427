/** A bundle in a fresh process of its own, which takes one event at a time, as a container does. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { HttpResult } from '../../../lib/lambda/events.ts';

/** A function that is loaded. */
export interface FunctionProcess {
  /** Milliseconds from the start of the process until the module was loaded. */
  readonly loadedMs: number;
  /** Processor time it had used when it gave its latest answer, in milliseconds. */
  readonly processorMs: () => number;
  /** Rejects with what the handler threw, or when the process ends. */
  invoke(event: unknown, timeoutMs?: number): Promise<HttpResult>;
  /** Lines it has written, parsed where they are JSON. */
  lines(): readonly { readonly [name: string]: unknown }[];
  /** Everything it has written. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Lets it end by itself. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

interface Message {
  readonly loadedMs?: number;
  readonly id?: number;
  readonly result?: HttpResult;
  readonly error?: string;
  readonly processorMs?: number;
}

/** Starts it with exactly the environment given, and waits until the module is loaded. */
export async function startFunction(
  file: string,
  env: { readonly [name: string]: string },
  execArgv: readonly string[] = [],
): Promise<FunctionProcess> {
  const child = fork(join(import.meta.dirname, 'runner.mjs'), [file], {
    execArgv: [...execArgv],
    // Relative paths start where the platform puts the bundle.
    cwd: dirname(file),
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let processorMs = 0;
  let over: Error | undefined;
  const waiting = new Map<
    number,
    { readonly done: (result: HttpResult) => void; readonly failed: (error: Error) => void }
  >();
  const loaded = new Promise<number>((resolve, reject) => {
    child.on('message', ({ loadedMs, id = 0, result, error, ...used }: Message) => {
      processorMs = used.processorMs ?? processorMs;
      if (loadedMs !== undefined) resolve(loadedMs);
      if (result !== undefined) waiting.get(id)?.done(result);
      if (error !== undefined) waiting.get(id)?.failed(new Error(error));
      waiting.delete(id);
    });
    void ended.then(() => {
      const error = new Error(`the function's process ended: ${output}`);
      over = error;
      reject(error);
      for (const { failed } of waiting.values()) failed(error);
    });
  });
  const loadedMs = await loaded;
  let next = 0;
  let last: Promise<unknown> = Promise.resolve();
  const send = (event: unknown, timeoutMs: number): Promise<HttpResult> =>
    new Promise((done, failed) => {
      // What is still to be sent when the process ends meets nobody.
      if (over !== undefined) {
        failed(over);
        return;
      }
      const id = next++;
      waiting.set(id, { done, failed });
      child.send({ id, event, timeoutMs });
    });
  return {
    loadedMs,
    processorMs: () => processorMs,
    invoke: (event, timeoutMs = 10_000) => {
      const result = last.then(() => send(event, timeoutMs));
      last = result.catch(() => undefined);
      return result;
    },
    lines: () =>
      output.split('\n').flatMap((line) => {
        try {
          return [JSON.parse(line) as { [name: string]: unknown }];
        } catch {
          return [];
        }
      }),
    output: () => output,
    signal: (name) => child.kill(name),
    end: async () => {
      child.kill('SIGTERM');
      await ended;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
