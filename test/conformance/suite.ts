/** Runs the official conformance suite and the inspector against a server on the whole pipeline. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../lib/cli/serve.ts';
import { readSettings } from '../../lib/settings.ts';
import { inProcess } from '../support/command-line.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy } from '../support/lambda/deployed.ts';
import { bearerProxy } from './bearer-proxy.ts';
import { fixtureServer } from './fixtures.ts';

const CONFORMANCE = '@modelcontextprotocol/conformance/dist/index.js';

/** What answers behind the pipeline: the suite's fixtures, or the product itself. */
export type Subject = 'fixtures' | 'product';
/** The revisions whose requirements are run. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;

/** A server with a proxy in front that adds a token. */
export interface Target {
  /** The server's own URL, and a token for it. */
  readonly url: string;
  readonly token: string;
  /** The same server without the need of a token. */
  readonly openUrl: string;
  close(): Promise<void>;
}

/** Starts a server with its own data folder; authentication stays on. */
async function serveSubject(subject: Subject): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'checkpoint-conformance-'));
  const proxy = await bearerProxy();
  const settings = readSettings({
    PORT: '0',
    CHECKPOINT_DATA: folder,
    CHECKPOINT_LOG_LEVEL: 'silent',
    CHECKPOINT_ALLOWED_ORIGINS: proxy.origin,
  });
  const running = await startServer(
    settings,
    subject === 'fixtures' ? { mcpFactory: fixtureServer } : {},
  );
  const words = ['token', '--subject', 'ana', '--scope', 'procedures:run', '--data', folder];
  const token = (await inProcess(words)).out.trim();
  proxy.forward(running.url, token);
  return {
    url: running.url,
    token,
    openUrl: proxy.url,
    close: async () => {
      await proxy.close();
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Where a subject runs: in a server of this process, or as the bundled function behind its URL. */
export const HOSTS = {
  'a local server': serveSubject,
  'the bundled function': deploySubject,
} as const;

/** The same subjects as the bundled function, behind a Function URL. */
async function deploySubject(subject: Subject): Promise<Target> {
  const entry = subject === 'fixtures' ? 'test/support/lambda/fixtures-http.ts' : 'lambdas/http.ts';
  const folder = await mkdtemp(join(tmpdir(), 'checkpoint-bundle-'));
  const bundle = await buildBundle(entry, folder);
  const proxy = await bearerProxy();
  const deployed = await deploy(bundle.file, { CHECKPOINT_ALLOWED_ORIGINS: proxy.origin });
  const token = await deployed.token({ subject: 'ana', scopes: ['procedures:run'] });
  proxy.forward(deployed.url, token);
  return {
    url: deployed.url,
    token,
    openUrl: proxy.url,
    close: async () => {
      await proxy.close();
      await deployed.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What the suite counted; what a revision does not score is left out of the checks. */
export interface Verdict {
  readonly exitCode: number;
  readonly scenarios: number;
  readonly passed: number;
  readonly failed: number;
  readonly notScored: number;
  readonly output: string;
}

/** Runs what a revision requires of a server. Exit code 0: exactly the expected scenarios fail. */
export async function runSuite(
  url: string,
  revision: (typeof REVISIONS)[number],
  subject: Subject,
): Promise<Verdict> {
  const baseline =
    subject === 'fixtures' && revision === '2026-07-28'
      ? []
      : ['--expected-failures', join(import.meta.dirname, `expected/${subject}-${revision}.yaml`)];
  const words = ['server', '--url', url, '--requirements', revision, ...baseline];
  const { exitCode, output } = await run(CONFORMANCE, words);
  const unscored = await unscoredOf(revision);
  const counted = [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gmu)];
  const scored = counted.filter(([, name]) => !unscored.has(name));
  const sum = (at: 2 | 3): number => scored.reduce((all, line) => all + Number(line[at]), 0);
  return {
    exitCode,
    scenarios: scored.length,
    passed: sum(2),
    failed: sum(3),
    notScored: counted.length - scored.length,
    output,
  };
}

/** Scenarios that are run and reported, but that a revision does not require. */
async function unscoredOf(revision: string): Promise<ReadonlySet<string | undefined>> {
  const words = ['list', '--server', '--requirements', revision];
  const { out } = await run(CONFORMANCE, words);
  return new Set([...out.matchAll(/^ +- (\S+) \[server\]$/gmu)].map(([, name]) => name));
}

/** Lists the tools with the inspector, strictly, in one era. Exit code 0: every schema is portable. */
export async function inspectTools(
  { url, token }: Target,
  era: 'modern' | 'legacy',
): Promise<{ readonly exitCode: number; readonly tools: number; readonly output: string }> {
  const home = await mkdtemp(join(tmpdir(), 'checkpoint-inspector-'));
  const words = ['--cli', url, '--protocol-era', era, '--method', 'tools/list', '--strict'];
  const { exitCode, output, out } = await run(
    '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    [...words, '--transport', 'http', '--header', `Authorization: Bearer ${token}`],
    { HOME: home },
  );
  await rm(home, { recursive: true, force: true });
  const tools = exitCode === 0 ? (JSON.parse(out) as { tools: unknown[] }).tools.length : 0;
  return { exitCode, tools, output };
}

function run(
  script: string,
  words: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<{ readonly exitCode: number; readonly out: string; readonly output: string }> {
  const file = join(import.meta.dirname, '../../node_modules', script);
  const env = { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...environment };
  return new Promise((resolve) => {
    const options = { env, cwd: tmpdir(), timeout: 120_000, maxBuffer: 64_000_000 };
    const child = execFile(process.execPath, [file, ...words], options, (_error, out, err) => {
      resolve({ exitCode: child.exitCode ?? 1, out, output: out + err });
    });
  });
}
