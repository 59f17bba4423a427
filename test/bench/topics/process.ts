// What a fresh process costs: loading and the first call, and the memory it holds after a thousand calls.
// The command line as it is packed, the package as it is embedded, and beside them a process that loads
// nothing and the bare SDK with one trivial tool: the floor.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { firstAnswer, type FirstAnswer } from '../support/first-answer.ts';
import { median, mib, ms, times } from '../support/measure.ts';
import { withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

interface Fresh extends FirstAnswer {
  readonly bytesAfterOne?: number;
  readonly bytesAfterThousand?: number;
}

const ROOT = join(import.meta.dirname, '../../..');
const COMMAND_LINE = join(ROOT, 'dist/bin/checkpoint.js');
const BARE = 'bare SDK, one trivial tool';
const SERVE = {
  empty: '`checkpoint serve` as packed, empty compile cache',
  warm: '`checkpoint serve` as packed, warm compile cache',
} as const;

/** Measures fresh processes, each kind in turn. */
export const freshProcess: Topic = (size, note) =>
  withFolder(async (folder) => {
    const runs = size === 'quick' ? 5 : 15;
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
    const cached = (name: string) => ({ NODE_COMPILE_CACHE: join(folder, name) });
    const data = join(folder, 'served');
    const sign = ['token', '--data', data, '--subject', 'ana', '--scope', 'procedures:run'];
    const token = execFileSync(process.execPath, [COMMAND_LINE, ...sign], { encoding: 'utf8' });
    const served = (env: Cache): Promise<Fresh> =>
      firstAnswer(
        [COMMAND_LINE, 'serve', '--port', '0', '--data', data],
        environment({ ...env, CHECKPOINT_LOG_LEVEL: 'error' }),
        token.trim(),
      );
    const ours = (code: string, name: string, env: Cache = {}): Promise<Fresh> =>
      firstCall(['ours', code, join(folder, name)], env);
    const kinds: Readonly<Record<string, (run: number) => Promise<Fresh>>> = {
      'Node alone': () => firstCall(['empty']),
      [BARE]: () => firstCall(['bare']),
      'the same, warm compile cache': () => firstCall(['bare'], cached('bare')),
      [SERVE.empty]: (run) => served(cached(`empty-${run}`)),
      [SERVE.warm]: () => served(cached('warm')),
      'embedded, from the package': () => ours(join(ROOT, 'dist'), 'compiled'),
      'embedded, warm compile cache': () => ours(join(ROOT, 'dist'), 'cached', cached('embedded')),
      'from source': () => ours(ROOT, 'source'),
    };
    note(`compiled; ${runs} processes of each kind`);
    const samples = new Map(Object.keys(kinds).map((name) => [name, [] as Fresh[]]));
    // The first round fills the caches of files and makes the data folders.
    for (let run = -1; run < runs; run++) {
      for (const [name, measure] of Object.entries(kinds)) {
        const fresh = await measure(run);
        if (run >= 0) samples.get(name)?.push(fresh);
      }
    }
    const of = (name: string, what: keyof Fresh): number =>
      median((samples.get(name) ?? []).map((fresh) => fresh[what] ?? Number.NaN));
    const known = (value: number, show: (value: number) => string): string =>
      Number.isNaN(value) ? '' : show(value);
    return {
      title: 'A fresh process',
      head: [
        'medians',
        'loaded',
        'first call answered',
        'processor time until then',
        'to the bare SDK',
        'memory after 1 call',
        'after 1,000',
      ],
      rows: Object.keys(kinds).map((name) => [
        name,
        ms(of(name, 'loadedMs')),
        ms(of(name, 'answeredMs')),
        known(of(name, 'processorMs'), ms),
        name === 'Node alone' ? '' : times(of(name, 'answeredMs') / of(BARE, 'answeredMs')),
        known(of(name, 'bytesAfterOne'), mib),
        known(of(name, 'bytesAfterThousand'), mib),
      ]),
      targets: [SERVE.empty, SERVE.warm].map((name) => ({
        name: `start and first call: ${name}`,
        measured: ms(of(name, 'answeredMs')),
        target: 'less than 250 ms',
        met: of(name, 'answeredMs') < 250,
      })),
    };
  });

type Cache = { readonly NODE_COMPILE_CACHE?: string };

/** The environment of a process without settings and without a cache that is not its own. */
function environment(added: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:CHECKPOINT_|HOST$|PORT$|NODE_COMPILE_CACHE$)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...added };
}

async function firstCall(args: readonly string[], cache: Cache = {}): Promise<Fresh> {
  const script = join(import.meta.dirname, '../support/first-call.mjs');
  const child = fork(script, args, {
    execArgv: [],
    env: environment(cache),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let fresh: Fresh | undefined;
  child.on('message', (message) => {
    fresh = message as Fresh;
  });
  await once(child, 'exit');
  if (fresh === undefined) throw new Error(`${args.join(' ')} ended without an answer`);
  return fresh;
}
