/** Processes of their own that write to a store at the same time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Ask, Told } from './history/asset.ts';
import type { Operation } from './history/history.ts';

/** What a writer does: race for assets, or work each of its assets to the end. */
export interface WriterTask {
  readonly tenant: string;
  readonly name: string;
  readonly mode: 'race' | 'work';
  readonly assets: readonly string[];
  /** How many assets are worked on at a time; one unless given. */
  readonly lanes?: number;
}

/** One answer that a writer got, at this moment of the machine's clock in microseconds. */
export interface WriterLine {
  readonly call: number;
  readonly at: number;
  readonly asset: string;
  readonly command: string;
  readonly code: string;
  readonly duplicate?: boolean;
  readonly workflow?: string;
  readonly seq?: number;
}

/** What a writer says before it sends a command. */
export interface WriterBeginning {
  readonly begins: number;
  readonly at: number;
  readonly asset: string;
  readonly command: string;
  readonly key: string;
  readonly workflow?: string;
}

/** What a writer reported before it ended. */
export interface WriterReport {
  readonly lines: readonly WriterLine[];
  /** Everything it sent, for a history check; what it was not answered is unknown. */
  readonly calls: readonly Operation<Ask, Told>[];
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** How a writer gets at its store: a module of this folder that exports `openStore(options)`. */
export interface StoreOpener {
  readonly module: string;
  readonly options: unknown;
}

/** A process that is ready to write. */
export interface Writer {
  go(): void;
  kill(): void;
  /** Resolves once it has reported this many lines, or has ended. */
  reported(lines: number): Promise<void>;
  readonly done: Promise<WriterReport>;
}

/** Starts a writer and waits until its store is open. */
export async function startWriter(opener: StoreOpener, task: WriterTask): Promise<Writer> {
  const script = join(import.meta.dirname, 'store-writer.ts');
  const child = spawn(process.execPath, [script, JSON.stringify({ opener, task })], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  const lines: WriterLine[] = [];
  const beginnings: WriterBeginning[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') return ready.resolve();
    const said = JSON.parse(line) as WriterLine | WriterBeginning;
    if ('begins' in said) return void beginnings.push(said);
    lines.push(said);
    for (const { count, resolve } of waiting) if (lines.length >= count) resolve();
  });
  const done = once(child, 'close').then(([exitCode]): WriterReport => {
    ready.resolve();
    for (const { resolve } of waiting) resolve();
    const calls = beginnings.map((begun) => callOf(task.name, begun, lines));
    return { lines, calls, exitCode: exitCode as number | null, stderr };
  });
  await ready.promise;
  return {
    go: () => {
      child.stdin.end('go\n');
    },
    kill: () => {
      child.kill('SIGKILL');
    },
    reported: (count) =>
      new Promise((resolve) => {
        if (lines.length >= count || child.exitCode !== null) resolve();
        else waiting.push({ count, resolve });
      }),
    done,
  };
}

/** What was asked, and what came of it as far as it was said. */
export function callOf(
  client: string,
  { begins, at: invoked, asset, command, key, workflow }: WriterBeginning,
  lines: readonly WriterLine[],
): Operation<Ask, Told> {
  const started = command === 'start_workflow';
  const ask: Ask = {
    asset,
    do: started ? 'start' : command === 'record_step' ? 'record' : 'end',
    key,
    ...(workflow !== undefined && { workflow }),
    ...(command === 'record_step' && { step: 'done', value: true }),
  };
  const told = lines.find(({ call }) => call === begins);
  if (told === undefined || told.code === 'BACKEND_UNAVAILABLE') {
    return { client, ask, invoked, returned: Number.POSITIVE_INFINITY, end: 'unknown' };
  }
  return { client, ask, invoked, returned: told.at, end: told.code === 'OK' ? 'ok' : 'fail', told };
}

/** Runs tasks at the same time: all stores are open before the first one writes. */
export async function runWriters(
  opener: StoreOpener,
  tasks: readonly WriterTask[],
): Promise<readonly WriterReport[]> {
  const writers = await Promise.all(tasks.map((task) => startWriter(opener, task)));
  for (const writer of writers) writer.go();
  return Promise.all(writers.map(({ done }) => done));
}
