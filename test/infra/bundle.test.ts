import { execFile } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BUNDLE_BYTES_MOST } from '../../lib/infra/bundle.ts';
import { buildBundle, packagesOf, type BuiltBundle } from '../support/lambda/bundle.ts';
import { startFunction } from '../support/lambda/function-process.ts';

let bundle: BuiltBundle;

beforeAll(async () => {
  bundle = await buildBundle('lambdas/http.ts');
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
      /^lib\/(?:cli|infra|adapters\/sqlite)\/|^lib\/wiring\/local|dev-issuer|create-once|deployment-secret|node_modules\/(?:pino|commander|@hono\/node-server|aws-cdk-lib|ajv)\//;
    expect(modules().length).toBeGreaterThan(200);
    expect(modules().filter((path) => local.test(path))).toEqual([]);
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

  test('keeps the name by which a fault is recognised', async () => {
    const { stdout } = await new Promise<{ stdout: string }>((resolve, reject) => {
      execFile('grep', ['-c', 'CheckpointFault', bundle.file], (error, stdout) => {
        if (error === null) resolve({ stdout });
        else reject(error);
      });
    });
    expect(Number(stdout)).toBeGreaterThan(0);
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
