/** The command line as a person runs it, in a process of its own or in this one. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { runCli } from '../../lib/cli/program.ts';
import type { Environment } from '../../lib/settings.ts';

/** The entry file of the command line. */
export const ENTRY = join(import.meta.dirname, '../../bin/checkpoint.ts');

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const cache = mkdtempSync(join(tmpdir(), 'checkpoint-compiled-'));

afterAll(() => {
  rmSync(cache, { recursive: true, force: true });
});

/** The environment of this process without any setting of the product, and with those given. */
export function childEnvironment(settings: Environment = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('CHECKPOINT_') && !['HOST', 'PORT', 'NODE_OPTIONS'].includes(name),
  );
  // Compiled modules are kept from one child to the next: half of a start is compiling.
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: cache, ...settings };
}

/** Runs a script of the project with arguments and waits for its end. */
export function runScript(
  script: string,
  args: readonly string[] = [],
  settings: Environment = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: childEnvironment(settings),
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.on('error', reject).on('close', (code) => {
      resolve({ code, out, err });
    });
  });
}

/** Runs a command line in this process. It is asked to stop as soon as it waits for that. */
export async function inProcess(
  args: readonly string[],
  settings: Environment = {},
): Promise<Ended> {
  let out = '';
  let err = '';
  const code = await runCli(args, {
    env: settings,
    out: (text) => {
      out += `${text}\n`;
    },
    err: (text) => {
      err += `${text}\n`;
    },
    stopped: () => Promise.resolve(),
  });
  return { code, out, err };
}
