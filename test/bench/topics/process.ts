// What a fresh process costs: loading and the first call, and the memory it holds after a thousand calls.
// Beside it a process that loads nothing, and the bare SDK with one trivial tool.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { median, mib, ms, times } from '../support/measure.ts';
import { withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

interface Fresh {
  readonly loadedMs: number;
  readonly answeredMs: number;
  readonly processorMs: number;
  readonly bytesAfterOne: number;
  readonly bytesAfterThousand: number;
}

const ROOT = join(import.meta.dirname, '../../..');

/** Measures fresh processes, each kind in turn. */
export const freshProcess: Topic = (size, note) =>
  withFolder(async (folder) => {
    const runs = size === 'quick' ? 5 : 15;
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
    note(`compiled; ${runs} processes of each kind`);
    const kinds = {
      'Node alone': ['empty'],
      'bare SDK, one trivial tool': ['bare'],
      'Checkpoint, compiled as packed': ['ours', join(ROOT, 'dist'), join(folder, 'compiled')],
      'the same, with Node’s compile cache': [
        'ours',
        join(ROOT, 'dist'),
        join(folder, 'cached'),
        join(folder, 'cache'),
      ],
      'Checkpoint, from source': ['ours', ROOT, join(folder, 'source')],
    } as const;
    const samples = Object.fromEntries(Object.keys(kinds).map((name) => [name, []])) as unknown as {
      readonly [K in keyof typeof kinds]: Fresh[];
    };
    // The first round fills the caches of files and makes the data folders.
    for (let run = -1; run < runs; run++) {
      for (const [name, args] of Object.entries(kinds)) {
        const fresh = await inFreshProcess(args);
        if (run >= 0) samples[name as keyof typeof kinds].push(fresh);
      }
    }
    const of = (name: keyof typeof kinds, what: keyof Fresh): number =>
      median(samples[name].map((fresh) => fresh[what]));
    const ours = of('Checkpoint, compiled as packed', 'answeredMs');
    const theirs = of('bare SDK, one trivial tool', 'answeredMs');
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
      rows: (Object.keys(kinds) as (keyof typeof kinds)[]).map((name) => [
        name,
        ms(of(name, 'loadedMs')),
        ms(of(name, 'answeredMs')),
        ms(of(name, 'processorMs')),
        name === 'Node alone' ? '' : times(of(name, 'answeredMs') / theirs),
        mib(of(name, 'bytesAfterOne')),
        mib(of(name, 'bytesAfterThousand')),
      ]),
      targets: [
        {
          name: 'import and first call in a fresh process, compiled',
          measured: ms(ours),
          target: 'less than 250 ms',
          met: ours < 250,
        },
      ],
    };
  });

async function inFreshProcess([kind, code, data, cache]: readonly string[]): Promise<Fresh> {
  const args = [kind, code, data].filter((arg) => arg !== undefined);
  const { NODE_COMPILE_CACHE: _inherited, ...rest } = process.env;
  const env = cache === undefined ? rest : { ...rest, NODE_COMPILE_CACHE: cache };
  const script = join(import.meta.dirname, '../support/first-call.mjs');
  const child = fork(script, args, {
    execArgv: [],
    env,
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
