// `npm run mutation -- PART... [--force]`: changes the code of each file in hundreds of small ways and
// counts the changes that its tests notice. A path in place of a part runs that file alone; `--force`
// forgets what an earlier run found. Prints the survivors, and fails below the target.
import type { PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { filesOf, PARTS, TARGET } from './parts.ts';

const args = process.argv.slice(2);
const force = args.includes('--force');
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => filesOf(name) === undefined);

if (named.length === 0 || unknown.length > 0) {
  const what = unknown.length > 0 ? `unknown: ${unknown.join(', ')}` : 'nothing named';
  process.stderr.write(`${what}; the parts are ${Object.keys(PARTS).join(', ')}\n`);
  process.exitCode = 1;
} else {
  for (const [file, tests] of named.flatMap((name) => filesOf(name) ?? [])) {
    await new Stryker(optionsOf(file, tests)).runMutationTest();
  }
}

function optionsOf(file: string, testFiles: readonly string[]): PartialStrykerOptions {
  const report = `reports/mutation/${file.replaceAll('/', '-')}`;
  return {
    mutate: [file],
    testRunner: 'jest',
    // Jest loads standard modules only with this flag.
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    jest: {
      config: { testMatch: ['<rootDir>/test/mutation/suite.ts'], globals: { testFiles } },
      enableFindRelatedTests: false,
    },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    incremental: true,
    incrementalFile: `${report}-incremental.json`,
    force,
    ignorePatterns: ['/*', '!/lib', '!/test', '!/jest.config.js', '!/package.json'],
    tempDirName: 'reports/mutation/sandbox',
    reporters: ['clear-text', 'html', 'json'],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: process.stdout.isTTY },
    htmlReporter: { fileName: `${report}.html` },
    jsonReporter: { fileName: `${report}.json` },
    thresholds: { high: 95, low: TARGET, break: TARGET },
    // A slow machine is not an endless loop.
    timeoutMS: 10_000,
    warnings: false,
  };
}
