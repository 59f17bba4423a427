// A suite that finds no engine: a run of its own, in which the optional package cannot be found.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectRoot } from '../../support/project-files.ts';

const { default: jestConfig } = (await import(join(projectRoot, 'jest.config.js'))) as {
  readonly default: object;
};

const PATIENTLY_MS = 120_000;
const MISSING =
  'the optional package @dynoxide/linux-x64 is not installed and DYNAMODB_ENDPOINT is not set';

/** Runs a file that needs an engine, and answers how the run ended and all that it said. */
function runWithoutEngine(settings: Readonly<Record<string, string>>) {
  const config = {
    ...jestConfig,
    rootDir: projectRoot,
    moduleNameMapper: { '^@dynoxide/': '<rootDir>/no-such-file' },
  };
  const args = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(projectRoot, 'node_modules/jest/bin/jest.js'),
    '--config',
    JSON.stringify(config),
    '--ci',
    'test/adapters/dynamodb/calls.test.ts',
  ];
  const plain = { DYNAMODB_ENDPOINT: '', CHECKPOINT_TEST_AWS_REGION: '', NODE_OPTIONS: '' };
  const off = { CHECKPOINT_TEST_WITHOUT_DYNAMODB: '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: projectRoot,
    env: { ...process.env, ...plain, ...off, ...settings },
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

test(
  'without any engine the suite fails, and says what is missing and how to go on without',
  () => {
    const { status, said } = runWithoutEngine({});
    expect(status).toBe(1);
    expect(said).toContain(`${MISSING}; CHECKPOINT_TEST_WITHOUT_DYNAMODB=1 skips these tests`);
    expect(said).toMatch(/^Tests: +\d+ failed, \d+ total$/m);
  },
  PATIENTLY_MS,
);

test(
  'told to go on without, it skips those tests and prints why',
  () => {
    const { status, said } = runWithoutEngine({ CHECKPOINT_TEST_WITHOUT_DYNAMODB: '1' });
    expect(status).toBe(0);
    expect(said).toMatch(new RegExp(`^.+: skipped, ${MISSING}$`, 'm'));
    expect(said).toMatch(/^Tests: +\d+ skipped, \d+ total$/m);
  },
  PATIENTLY_MS,
);

test(
  'an engine that is named and does not answer is a failure too, whatever was told',
  () => {
    const { status, said } = runWithoutEngine({
      CHECKPOINT_TEST_WITHOUT_DYNAMODB: '1',
      DYNAMODB_ENDPOINT: 'http://127.0.0.1:1',
    });
    expect(status).toBe(1);
    expect(said).not.toContain('skipped, ');
  },
  PATIENTLY_MS,
);
