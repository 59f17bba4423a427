import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOSTS, inspectTools, REVISIONS, runSuite, type Target } from './suite.ts';

const SUBJECTS = ['fixtures', 'product'] as const;
/** Checks by result; `failed` are those of scenarios that the expected failures name. */
const EXPECTED = {
  'fixtures 2026-07-28': { scenarios: 37, passed: 118, failed: 0 },
  'product 2026-07-28': { scenarios: 37, passed: 79, failed: 29 },
  'fixtures 2025-11-25': { scenarios: 30, passed: 53, failed: 6 },
  'product 2025-11-25': { scenarios: 30, passed: 36, failed: 23 },
};

const counts: string[] = [];

afterAll(() => {
  process.stdout.write(`\n${counts.join('\n')}\n`);
});

const PLACES = (Object.keys(HOSTS) as (keyof typeof HOSTS)[]).flatMap((host) =>
  SUBJECTS.map((subject) => [subject, host] as const),
);

describe.each(PLACES)('the pipeline with its %s in %s', (subject, host) => {
  let target: Target;
  beforeAll(async () => {
    target = await HOSTS[host](subject);
  }, 60_000);
  afterAll(() => target.close());

  test.each(REVISIONS)(
    'conforms to %s, but for what the expected failures name',
    async (revision) => {
      const verdict = await runSuite(target.openUrl, revision, subject);
      const { exitCode, output, scenarios, passed, failed, notScored } = verdict;
      counts.push(
        `conformance ${revision} (${subject}, ${host}): ${scenarios} scenarios, ${passed} checks passed, ${failed} expected to fail, ${notScored} scenarios not scored`,
      );
      expect([exitCode, exitCode === 0 ? '' : output]).toEqual([0, '']);
      expect({ scenarios, passed, failed }).toEqual(EXPECTED[`${subject} ${revision}`]);
    },
    120_000,
  );
});

describe.each(Object.keys(HOSTS) as (keyof typeof HOSTS)[])('the inspector at %s', (host) => {
  let target: Target;
  beforeAll(async () => {
    target = await HOSTS[host]('product');
  }, 60_000);
  afterAll(() => target.close());

  test.each(['modern', 'legacy'] as const)(
    'takes every tool strictly in the %s era',
    async (era) => {
      const { exitCode, tools, output } = await inspectTools(target, era);
      counts.push(`inspector (${host}), strict, ${era} era: ${tools} tools, exit code ${exitCode}`);
      expect([exitCode, tools, exitCode === 0 ? '' : output]).toEqual([0, 14, '']);
    },
    60_000,
  );
});
