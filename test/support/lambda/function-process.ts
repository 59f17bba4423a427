/** A bundle in a fresh process of its own, which takes one event at a time, as a container does. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { HttpResult } from '../../../lib/lambda/events.ts';

/** A function that is loaded. */
export interface FunctionProcess {
  /** Milliseconds from the start of the process until the module was loaded. */
  readonly loadedMs: number;
  /** Rejects with what the handler threw, or when the process ends. */
  invoke(event: unknown, timeoutMs?: number): Promise<HttpResult>;
  /** Lines it has written, parsed where they are JSON. */
  lines(): readonly { readonly [name: string]: unknown }[];
  /** Everything it has written. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

interface Message {
  readonly loadedMs?: number;
  readonly id?: number;
  readonly result?: HttpResult;
  readonly error?: string;
}

/** Starts it with exactly the environment given, and waits until the module is loaded. */
export async function startFunction(
  file: string,
  env: { readonly [name: string]: string },
): Promise<FunctionProcess> {
  const child = fork(join(import.meta.dirname, 'runner.mjs'), [file], {
    execArgv: [],
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
  const waiting = new Map<
    number,
    { readonly done: (result: HttpResult) => void; readonly failed: (error: Error) => void }
  >();
  const loaded = new Promise<number>((resolve, reject) => {
    child.on('message', ({ loadedMs, id = 0, result, error }: Message) => {
      if (loadedMs !== undefined) resolve(loadedMs);
      if (result !== undefined) waiting.get(id)?.done(result);
      if (error !== undefined) waiting.get(id)?.failed(new Error(error));
      waiting.delete(id);
    });
    void ended.then(() => {
      const error = new Error(`the function's process ended: ${output}`);
      reject(error);
      for (const { failed } of waiting.values()) failed(error);
    });
  });
  const loadedMs = await loaded;
  let next = 0;
  let last: Promise<unknown> = Promise.resolve();
  const send = (event: unknown, timeoutMs: number): Promise<HttpResult> =>
    new Promise((done, failed) => {
      const id = next++;
      waiting.set(id, { done, failed });
      child.send({ id, event, timeoutMs });
    });
  return {
    loadedMs,
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
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
