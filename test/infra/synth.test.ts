/** The CDK's own command line, as a person or a pipeline runs it: no account, no network, no Docker. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { buildBundle } from '../support/lambda/bundle.ts';
import { projectRoot } from '../support/project-files.ts';
import { ISSUERS } from '../support/synth.ts';
import { tempFolder } from '../support/temp-folder.ts';

const PATIENTLY_MS = 240_000;
const bin = join(projectRoot, 'node_modules/.bin');
/** Where a shell and its tools are, and no Docker. */
const tools = ['/usr/bin', '/bin'].filter((folder) => !existsSync(join(folder, 'docker')));

interface Run {
  readonly code: number;
  readonly output: string;
  readonly folder: string;
}

/** Runs `cdk synth` into a scratch folder; nothing can be reached from it. */
async function synth(...args: readonly string[]): Promise<Run> {
  const folder = join(await tempFolder(), 'cdk.out');
  const env = {
    PATH: [bin, ...tools].join(':'),
    HOME: await tempFolder(),
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    CI: 'true',
  };
  const words = ['synth', '--quiet', '--output', folder, '--no-notices', ...args];
  return new Promise((resolve) => {
    const options = { cwd: projectRoot, env, timeout: PATIENTLY_MS };
    const child = execFile(join(bin, 'cdk'), words, options, (_error, out, err) => {
      resolve({ code: child.exitCode ?? 1, output: out + err, folder });
    });
  });
}

const planted = (name: string): string => `node ${join('test/infra/planted', `${name}.ts`)}`;

describe('cdk synth', () => {
  test(
    'works offline without Docker and without an account, and no rule is broken',
    async () => {
      const { code, output, folder } = await synth();
      expect([code, code === 0 ? '' : output]).toEqual([0, '']);
      const report = await readFile(join(folder, 'validation-report.json'), 'utf8');
      // It lists the plugins that found something; the planted apps below show that they look.
      expect(JSON.parse(report)).toMatchObject({ pluginReports: [] });
      // What is deployed is, byte for byte, what the other tests load.
      const assets = (await readdir(folder)).filter((name) => name.startsWith('asset.'));
      const deployed = await Promise.all(
        assets.map((asset) => readFile(join(folder, asset, 'index.mjs'), 'utf8')),
      );
      for (const entry of await readdir(join(projectRoot, 'lambdas'))) {
        const { file } = await buildBundle(join('lambdas', entry), await tempFolder());
        expect([entry, deployed.includes(await readFile(file, 'utf8'))]).toEqual([entry, true]);
      }
    },
    PATIENTLY_MS,
  );

  test(
    'breaks no rule in a stage that is kept either',
    async () => {
      const kept = ['CHECKPOINT_STAGE=prod', `CHECKPOINT_ISSUERS=${ISSUERS}`];
      const { code, output } = await synth('--app', `env '${kept.join("' '")}' node bin/app.ts`);
      expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    },
    PATIENTLY_MS,
  );

  test(
    'fails on a function that holds its own URL',
    async () => {
      const { code, output } = await synth('--app', planted('cycle'));
      expect(code).toBe(1);
      expect(output).toMatch(/circular|cycle/i);
    },
    PATIENTLY_MS,
  );

  test(
    'fails on a wildcard that nobody gave a reason for',
    async () => {
      const { code, output } = await synth('--app', planted('wildcard'));
      expect(code).toBe(1);
      expect(output).toContain('AwsSolutions-IAM5[Action::dynamodb:*]');
    },
    PATIENTLY_MS,
  );

  test(
    'fails with one sentence for a stage that signs no tokens and has no issuer',
    async () => {
      const { code, output } = await synth('--app', 'env CHECKPOINT_STAGE=prod node bin/app.ts');
      expect(code).toBe(1);
      expect(output).toContain('CHECKPOINT_ISSUERS: expected at least one issuer');
    },
    PATIENTLY_MS,
  );
});
