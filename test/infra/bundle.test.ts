import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BUNDLE_BYTES_MOST } from '../../lib/infra/bundle.ts';
import { buildBundle, packagesOf, type BuiltBundle } from '../support/lambda/bundle.ts';
import { projectRoot } from '../support/project-files.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { startFunction } from '../support/lambda/function-process.ts';

let bundle: BuiltBundle;

beforeAll(async () => {
  bundle = await buildBundle('lambdas/http.ts', await tempFolder());
  const rows = packagesOf(bundle)
    .slice(0, 10)
    .map(([name, bytes]) => `${String(bytes).padStart(9)}  ${name}`);
  const title = `HTTP function: ${bundle.bytes} bytes; the ten largest packages:`;
  process.stdout.write(`\n${[title, ...rows].join('\n')}\n`);
}, 60_000);

const modules = (): readonly string[] => Object.keys(bundle.metafile.inputs);

describe('the bundle of the HTTP function', () => {
  test(`has at most ${BUNDLE_BYTES_MOST} bytes`, () => {
    expect(bundle.bytes).toBeLessThanOrEqual(BUNDLE_BYTES_MOST);
  });

  test('holds nothing of the local backend, of the command line or of the CDK', () => {
    const local =
      /^lib\/(?:cli|infra|adapters\/(?:sqlite|evidence))\/|^lib\/wiring\/local|dev-issuer|create-once|deployment-secret|node_modules\/(?:pino|commander|@modelcontextprotocol\/client|@hono\/node-server|aws-cdk-lib|ajv)\//;
    expect(modules().length).toBeGreaterThan(200);
    expect(modules().filter((path) => local.test(path))).toEqual([]);
  });

  test('holds no shape of an answer: those are for the document and for types', () => {
    expect(modules()).toContain('lib/surface/rest/run-view.ts');
    expect(modules().filter((path) => /rest\/shapes\/|zod-openapi|lib\/docs\//.test(path))).toEqual(
      [],
    );
  });

  test('imports nothing from outside but what Node itself has, and no SQLite', () => {
    const [output] = Object.values(bundle.metafile.outputs);
    const imports = [...new Set((output?.imports ?? []).map(({ path }) => path))].toSorted();
    expect(imports.filter((path) => !/^(?:node:)?[a-z_/]+$/.test(path))).toEqual([]);
    expect(imports.filter((path) => /sqlite|sea|test/.test(path))).toEqual([]);
  });

  test('holds every module once: no package in two copies or two forms', () => {
    const copies = new Map<string, Set<string>>();
    for (const path of modules()) {
      const [, root = '', name = ''] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? [];
      if (name !== '') copies.set(name, (copies.get(name) ?? new Set()).add(root));
    }
    const several = [...copies].filter(([, roots]) => roots.size > 1).map(([name]) => name);
    expect(several).toEqual([]);
  });

  test('recognises a fault by its name, whichever copy of the module in one bundle made it', async () => {
    const folder = await tempFolder();
    for (const copy of ['one.ts', 'two.ts']) {
      await copyFile(join(projectRoot, 'lib/core/fault.ts'), join(folder, copy));
    }
    const entry = join(folder, 'entry.ts');
    const lines = [
      "import { Fault, isFault as one } from './one.ts';",
      "import { Fault as Other, isFault as two } from './two.ts';",
      "const fault = new Fault('retryable', 'BACKEND_UNAVAILABLE', 'x');",
      'console.log(fault instanceof Other, one(fault), two(fault), two(new Error("x")));',
    ];
    await writeFile(entry, lines.join('\n'));
    const { file } = await buildBundle(entry, folder);
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(stdout).toBe('false true true false\n');
  });

  test('loads in a fresh process without any setting, and answers an event in its own words', async () => {
    const lambda = await startFunction(bundle.file, {});
    try {
      const event = {
        rawPath: '/health',
        headers: { host: 'a.example' },
        requestContext: { domainName: 'a.example', http: { method: 'GET' } },
      };
      const { statusCode, headers, body } = await lambda.invoke(event);
      expect([statusCode, headers['content-type'], JSON.parse(body)]).toEqual([
        503,
        'application/problem+json',
        expect.objectContaining({ status: 503, code: 'BACKEND_UNAVAILABLE' }),
      ]);
      expect(lambda.output()).toContain('CHECKPOINT_TABLE is not set');
    } finally {
      await lambda.stop();
    }
  });
});
