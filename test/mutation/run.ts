// `npm run mutation -- PART... [--force]`: changes the code of each part in hundreds of small ways and
// counts the changes that its tests notice. A path in place of a part runs one file of one; `--force`
// forgets what an earlier run found. Prints the survivors, and fails below the target.
import type { PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { partOf, PARTS, TARGET, type Part } from './parts.ts';

const args = process.argv.slice(2);
const force = args.includes('--force');
const named = args.filter((arg) => !arg.startsWith('--'));
const asked = named.map((name) => ({ name, part: partOf(name) }));
const unknown = asked.filter(({ part }) => part === undefined).map(({ name }) => name);

if (named.length === 0 || unknown.length > 0) {
  process.stderr.write(
    `unknown: ${unknown.join(', ') || 'nothing named'}; the parts are ${Object.keys(PARTS).join(', ')}\n`,
  );
  process.exitCode = 1;
} else {
  for (const { name, part } of asked) {
    if (part !== undefined) await new Stryker(optionsOf(name, part)).runMutationTest();
  }
}

function optionsOf(name: string, { mutate, tests }: Part): PartialStrykerOptions {
  const file = `reports/mutation/${name.replaceAll('/', '-')}`;
  return {
    mutate: [...mutate],
    testRunner: 'jest',
    // Jest loads modules of the standard kind only with this flag.
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    jest: {
      config: { testMatch: tests.map((test) => `<rootDir>/${test}`) },
      enableFindRelatedTests: false,
    },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    incremental: true,
    incrementalFile: `${file}-incremental.json`,
    force,
    ignorePatterns: ['/*', '!/lib', '!/test', '!/jest.config.js', '!/package.json'],
    tempDirName: 'reports/mutation/sandbox',
    reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: process.stdout.isTTY },
    htmlReporter: { fileName: `${file}.html` },
    jsonReporter: { fileName: `${file}.json` },
    thresholds: { high: 95, low: TARGET, break: TARGET },
    // A slow machine is not an endless loop.
    timeoutMS: 20_000,
  };
}
