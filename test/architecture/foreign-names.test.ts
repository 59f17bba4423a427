import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectFiles, projectRoot } from '../support/project-files.ts';

/** The patterns are put together from parts, so that this file does not match itself. */
const foreign: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'the host name of a package registry',
    new RegExp('\\bregistry' + '\\.[a-z0-9-]+\\.[a-z]{2,}', 'i'),
  ],
  [
    'the host name of a registry mirror',
    new RegExp('\\b(?:artifact' + 'ory|verda' + 'ccio|jf' + 'rog)\\b', 'i'),
  ],
  ['a path of one machine', new RegExp('(?<![\\w.@-])/(?:wo' + 'rk|ro' + 'ot)/')],
  ['a path of one job', new RegExp('/tmp/' + 'bash_jobs')],
  ['a home folder of one person', new RegExp('/(?:Us' + 'ers)/[a-z]')],
];

function matches(text: string): string[] {
  return foreign.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
}

test('no file of the project names a package registry or a path of one machine', () => {
  const files = projectFiles().filter((path) => existsSync(join(projectRoot, path)));
  expect(files.length).toBeGreaterThan(10);
  const found = files.flatMap((path) =>
    matches(readFileSync(join(projectRoot, path), 'latin1')).map((what) => `${path}: ${what}`),
  );
  expect(found).toEqual([]);
});

describe('the patterns', () => {
  test.each([
    ['https://registry' + '.npmjs.org/zod', 'the host name of a package registry'],
    ['//artifact' + 'ory.example.com/npm', 'the host name of a registry mirror'],
    ["'/wo" + "rk/main/lib'", 'a path of one machine'],
    ['cat /tmp/' + 'bash_jobs.0/stdout', 'a path of one job'],
    ['/Us' + 'ers/ana/checkpoint', 'a home folder of one person'],
  ])('find %s', (text, what) => {
    expect(matches(text)).toEqual([what]);
  });

  test.each(['docs/work/plan.md', 'the registry. It', 'https://example.com/work/', '/v1/runs'])(
    'leave %s alone',
    (text) => {
      expect(matches(text)).toEqual([]);
    },
  );
});
