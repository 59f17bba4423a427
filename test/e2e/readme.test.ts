// The README's incident, its commands as they are written, against a server as `npm start` runs it.
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, jest, test } from '@jest/globals';
import { dataFolder, serveInChild } from '../support/e2e.ts';
import { projectRoot } from '../support/project-files.ts';

jest.setTimeout(120_000);

/** The shell blocks of a section. */
function blocksOf(section: string): readonly string[] {
  const text = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const [, after = ''] = text.split(`\n## ${section}\n`);
  const [own = ''] = after.split(/\n## /);
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version']);
    return true;
  } catch {
    return false;
  }
}

const why = hasCurl() ? '' : ' (skipped: there is no curl here)';

(why === '' ? test : test.skip)(`the incident of the README ends as it says${why}`, async () => {
  const server = await serveInChild(await dataFolder());
  const shell = async (script: string): Promise<string> => {
    const own = script.replaceAll('http://127.0.0.1:8000', new URL(server.url).origin);
    const { port } = new URL(server.url);
    const env = { ...process.env, CHECKPOINT_DATA: server.dataFolder, PORT: port };
    const { stdout } = await promisify(execFile)('bash', ['-euc', own], { cwd: projectRoot, env });
    return stdout;
  };
  /** The JSON answers of `curl`, one after the other. */
  const answers = (out: string) =>
    out
      .replaceAll('}{', '}\n{')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly [name: string]: unknown });

  const [asked = '', decided = '', onTheCommandLine = ''] = blocksOf('An incident');
  const [tools, created] = answers(await shell(asked));
  expect(tools).toMatchObject({ missing: [] });
  expect(created).toMatchObject({ status: 'awaiting_approval' });
  const { run_id, action_hash } = created as { run_id: string; action_hash: string };
  const people = asked.split('\n').filter((line) => /^(?:ira|dora|api)=/.test(line));
  const filled = decided.replace('RUN_ID', run_id).replace('ACTION_HASH', action_hash);
  const [approved] = answers(await shell([...people, filled].join('\n')));
  expect(approved).toMatchObject({ duplicate: false, run: { status: 'executing' } });
  const reads = filled
    .split('\n')
    .filter((line) => /^run=|^curl -s \$api\/runs\/\$run /.test(line));
  let run: unknown;
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    [run] = answers(await shell([...people, ...reads].join('\n')));
    if ((run as { status: string }).status === 'completed') break;
  }
  expect(run).toMatchObject({ status: 'completed', result: { provider: 'built-in' } });

  const made = await shell(
    `run=${run_id} hash=${action_hash}\n${onTheCommandLine.replace("time out'", "time out again'")}`.replace(
      /^(npm run -s checkpoint -- run create .*)$/m,
      '$1 > "$CHECKPOINT_DATA/made"\nrun=$(grep -o "run-[0-9a-z]*" "$CHECKPOINT_DATA/made" | head -1)\nhash=$(grep -o "[0-9a-f]\\{64\\}" "$CHECKPOINT_DATA/made" | tail -1)',
    ),
  );
  expect(made).toMatch(/status\s+(?:executing|verifying|completed)/);
});
