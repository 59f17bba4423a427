// Procedures of one's own in a deployment: put beside the bundle by the commands that the CDK runs, and
// used by the bundled function behind its URL.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadPolicyFolder } from '../../lib/adapters/policies/folder.ts';
import { policyCommands } from '../../lib/infra/own-policies.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy, type Deployed } from '../support/lambda/deployed.ts';
import { projectRoot } from '../support/project-files.ts';
import { smallProcedure } from '../support/small-procedure.ts';
import { tempFolder } from '../support/temp-folder.ts';

const PATIENTLY_MS = 120_000;

/** A module in TypeScript with a helper below, a library, and a rule in code. */
const MODULE = `
import canonicalize from 'canonicalize';
import { rule } from './parts/rule.ts';
const text: string = ${JSON.stringify(JSON.stringify(smallProcedure({ id: 'from-module' })))};
const read: unknown = JSON.parse(canonicalize(JSON.parse(text)) ?? '');
export const policy = { domain: 'own', procedures: [read], check: rule };
`;
const RULE = `
interface Input { readonly step: string; readonly values: { readonly [step: string]: unknown } }
export const rule = ({ step, values }: Input) =>
  step === 'high' && values['high'] === 5
    ? [{ rule: 'no-one', message: 'five is not allowed', follows: 'record_and_notify' }]
    : [];
`;

/** A folder as somebody keeps it, with what is nobody's business. */
async function ownFolder(): Promise<string> {
  const folder = await tempFolder();
  // Libraries are found from where the module is.
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  await mkdir(join(folder, 'parts'));
  const files = {
    'own round.json': JSON.stringify(smallProcedure({ id: 'from-json' })),
    'own.ts': MODULE,
    'parts/rule.ts': RULE,
    'types.d.ts': 'export {};',
    'notes.md': 'not for others',
    '.env': 'SECRET=not for others',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const run = (commands: readonly string[]): void => {
  for (const command of commands) execFileSync('sh', ['-c', command], { stdio: 'pipe' });
};

describe('what is put beside a bundle', () => {
  test('is JSON as it is and each module in one file, and nothing else of the folder', async () => {
    const target = join(await tempFolder(), 'it’s here', 'policies');
    run(policyCommands(await ownFolder(), target));
    expect((await readdir(target)).toSorted()).toEqual(['own round.json', 'own.mjs']);
  });

  test('is exactly what a local process loads of the folder', async () => {
    const source = await ownFolder();
    const target = join(await tempFolder(), 'policies');
    run(policyCommands(source, target));
    const domains = async (folder: string) =>
      (await loadPolicyFolder(folder)).map(({ domain, procedures }) => [
        domain,
        procedures.map(({ id }) => id),
      ]);
    expect(await domains(target)).toEqual(await domains(source));
    expect(await domains(target)).toEqual([
      ['own round.json', ['from-json']],
      ['own', ['from-module']],
    ]);
  });

  test('fails on a module that imports what is not there, and names it', async () => {
    const source = await tempFolder();
    await writeFile(join(source, 'broken.mjs'), "export { policy } from 'no-such-library';");
    const target = join(await tempFolder(), 'policies');
    expect(() => run(policyCommands(source, target))).toThrow(
      /broken\.mjs[^]*no-such-library|no-such-library[^]*broken\.mjs/,
    );
  });

  test('may be nothing', async () => {
    const target = join(await tempFolder(), 'policies');
    run(policyCommands(await tempFolder(), target));
    expect(await readdir(target)).toEqual([]);
  });
});

describeOnDynamo('the deployed function with procedures of one’s own', () => {
  let deployed: Deployed;
  let token = '';
  beforeAll(async () => {
    const { file } = await buildBundle('lambdas/http.ts', await tempFolder());
    run(policyCommands(await ownFolder(), join(dirname(file), 'policies')));
    expect(basename(file)).toBe('index.mjs');
    deployed = await deploy(file, { CHECKPOINT_POLICIES: 'policies' });
    token = await deployed.token({ subject: 'ana', name: 'Ana', scopes: ['procedures:run'] });
  }, PATIENTLY_MS);
  afterAll(() => deployed.close());

  const call = async (name: string, args: object) => {
    const response = await fetch(deployed.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    const { result } = (await response.json()) as {
      result: { structuredContent: { [field: string]: unknown } };
    };
    return result.structuredContent;
  };

  test.each([
    ['from-json', 'CAB-1', 'OK'],
    ['from-module', 'CAB-2', 'NEEDS_CONFIRMATION'],
  ])('starts a workflow of %s, and rules in code are asked', async (procedure, asset, answer) => {
    const started = await call('start_workflow', { procedure, asset });
    expect(started).toMatchObject({ code: 'OK', workflow: { procedure, state: 'CREATED' } });
    const { workflow_id } = started;
    const recorded = await call('record_step', { workflow_id, step: 'high', reading: 5 });
    expect(recorded).toMatchObject({ code: answer });
  });
});
