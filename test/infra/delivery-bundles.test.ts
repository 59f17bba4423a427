import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  RECONCILE_BUNDLE_BYTES_MOST,
  RELAY_BUNDLE_BYTES_MOST,
  RUN_BUNDLE_BYTES_MOST,
} from '../../lib/infra/bundle.ts';
import { buildBundle, packagesOf, type BuiltBundle } from '../support/lambda/bundle.ts';
import { startFunction } from '../support/lambda/function-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe.each<readonly [string, object, number, RegExp]>([
  ['relay', { Records: [] }, RELAY_BUNDLE_BYTES_MOST, /^$/],
  ['reconcile', { task: 'look' }, RECONCILE_BUNDLE_BYTES_MOST, /^$/],
  [
    'run',
    { task: 'tools', deadline_ms: 0 },
    RUN_BUNDLE_BYTES_MOST,
    // It speaks to evidence servers, which may want to be signed in to.
    /node_modules\/(?:@modelcontextprotocol\/(?:client|core)|jose)\//,
  ],
])('the bundle of the %s', (name, event, most, needed) => {
  let bundle: BuiltBundle;
  beforeAll(async () => {
    bundle = await buildBundle(`lambdas/${name}.ts`, await tempFolder());
    const rows = packagesOf(bundle)
      .slice(0, 6)
      .map(([of, bytes]) => `${String(bytes).padStart(9)}  ${of}`);
    process.stdout.write(`\n${[`${name}: ${bundle.bytes} bytes`, ...rows].join('\n')}\n`);
  }, 60_000);

  test(`has at most ${most} bytes`, () => {
    expect(bundle.bytes).toBeLessThanOrEqual(most);
  });

  test('holds nothing of the surface, of the local backend, of the command line or of the CDK', () => {
    const modules = Object.keys(bundle.metafile.inputs);
    const foreign =
      /^lib\/(?:cli|infra|surface|adapters\/(?:sqlite|identity))\/|^lib\/wiring\/(?:local|aws)\.ts|node_modules\/(?:pino|commander|hono|@hono|@modelcontextprotocol|aws-cdk-lib|jose)\//;
    expect(modules.length).toBeGreaterThan(100);
    expect(modules.filter((path) => foreign.test(path) && !needed.test(path))).toEqual([]);
  });

  test('loads in a fresh process without any setting, says what is missing, and fails in our own words', async () => {
    const lambda = await startFunction(bundle.file, {});
    try {
      await expect(lambda.invoke(event)).rejects.toThrow('the function cannot start');
      expect(lambda.output()).toContain('CHECKPOINT_TABLE is not set');
    } finally {
      await lambda.stop();
    }
  });
});
