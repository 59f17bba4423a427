import { expect, test } from '@jest/globals';
import { projectFiles } from '../support/project-files.ts';

const allowed = [
  '.ci',
  '.env.example',
  '.github',
  '.gitignore',
  '.npmrc',
  '.oxlintrc.json',
  '.prettierignore',
  '.prettierrc.json',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'bin',
  'cdk.json',
  'compose.yaml',
  'docs',
  'examples',
  'jest.config.js',
  'lambdas',
  'lib',
  'package-lock.json',
  'package.json',
  'statemachines',
  'test',
  'tsconfig.build.json',
  'tsconfig.json',
];

test('the top level holds the listed entries and no others', () => {
  const entries = new Set(projectFiles().map((path) => path.split('/')[0] ?? path));
  expect(entries.size).toBeGreaterThan(10);
  expect([...entries].filter((entry) => !allowed.includes(entry))).toEqual([]);
});
