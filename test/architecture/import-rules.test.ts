import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cruiseImports } from './cruise-imports.ts';
import { importRules, rooms } from './import-rules.ts';

const root = join(import.meta.dirname, '../..');

/** A cruise that reads nothing reports no forbidden edge either; raise this as the tree grows. */
const leastModules = 10;

describe('the import table on this tree', () => {
  const tree = cruiseImports(root, importRules);

  test('has no forbidden edge', async () => {
    expect((await tree).edges).toEqual([]);
  });

  test('is checked on the modules that are there', async () => {
    const { modules } = await tree;
    expect(modules.length).toBeGreaterThanOrEqual(leastModules);
    expect(modules).toContain('lib/settings.ts');
    expect(modules).toContain('test/architecture/import-rules.ts');
  });

  test('covers every module of lib, because each is in a known room', async () => {
    const { modules } = await tree;
    const known = new RegExp(rooms);
    expect(modules.filter((path) => path.startsWith('lib/') && !known.test(path))).toEqual([]);
  });

  test('stands in the page for contributors, with its reasons', async () => {
    const page = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
    for (const rule of importRules) {
      expect(page).toContain(`\`${rule.name}\``);
      expect(page).toContain(rule.because);
    }
  });
});

describe('a planted edge', () => {
  const planted: readonly (readonly [rule: string, file: string])[] = [
    ['core-stands-alone', 'lib/core/core-stands-alone.ts'],
    ['core-stands-alone', 'lib/core/core-uses-a-package.ts'],
    ['core-stands-alone', 'lib/core/core-uses-node.ts'],
    ['policies-know-core-only', 'lib/policies/policies-know-core-only.ts'],
    ['policies-know-core-only', 'lib/policies/policies-use-a-package.ts'],
    ['adapters-know-core-only', 'lib/adapters/sqlite/adapters-know-core-only.ts'],
    ['adapters-do-not-meet', 'lib/adapters/sqlite/adapters-do-not-meet.ts'],
    ['surface-knows-core-only', 'lib/surface/surface-knows-core-only.ts'],
    ['surface-knows-core-only', 'lib/surface/surface-uses-a-package.ts'],
    ['only-wiring-picks-adapters', 'lambdas/only-wiring-picks-adapters.ts'],
    ['only-wiring-picks-adapters', 'examples/only-wiring-picks-adapters.ts'],
    ['only-wiring-picks-adapters', 'lib/docs/only-wiring-picks-adapters.ts'],
    ['cli-goes-through-wiring', 'lib/cli/cli-goes-through-wiring.ts'],
    ['docs-know-settings-and-core-only', 'lib/docs/docs-know-settings-and-core-only.ts'],
    ['settings-know-nothing', 'lib/settings/settings-know-nothing.ts'],
    ['evidence-server-stands-apart', 'lib/evidence-server/evidence-server-stands-apart.ts'],
    ['evidence-server-is-a-process', 'lib/wiring/evidence-server-is-a-process.ts'],
    ['lib-is-inside', 'lib/cli/lib-is-inside.ts'],
    ['entries-are-for-others', 'bin/entries-are-for-others.ts'],
    ['infra-imports-no-runtime-code', 'lib/infra/infra-imports-no-runtime-code.ts'],
    ['aws-sdk-in-aws-adapters', 'lib/adapters/sqlite/aws-sdk-in-aws-adapters.ts'],
    ['lambda-room-knows-surface-and-core', 'lib/lambda/lambda-room-knows-surface-and-core.ts'],
    ['lambda-libraries-in-their-room', 'lib/cli/lambda-libraries-in-their-room.ts'],
    ['functions-hold-no-local-backend', 'lambdas/functions-hold-no-local-backend.ts'],
    ['cdk-in-infra', 'lib/adapters/sqlite/cdk-in-infra.ts'],
    ['sqlite-in-its-adapter', 'lib/adapters/sinks/sqlite-in-its-adapter.ts'],
    ['no-cycles', 'lib/cli/no-cycles.ts'],
  ];
  const fixtures = cruiseImports(join(import.meta.dirname, 'fixtures'), importRules);

  test.each(planted)('is reported by %s, and by no other rule (%s)', async (rule, file) => {
    const { edges } = await fixtures;
    expect(edges.filter((edge) => edge.from === file).map((edge) => edge.rule)).toEqual([rule]);
  });

  test('exists for every rule', () => {
    const covered = new Set(planted.map(([rule]) => rule));
    expect(importRules.map((rule) => rule.name).filter((name) => !covered.has(name))).toEqual([]);
  });

  test('is all that is reported: the files named allowed are not', async () => {
    const { edges, modules } = await fixtures;
    expect(modules.filter((path) => path.endsWith('/allowed.ts'))).toHaveLength(7);
    const listed = new Set(planted.map(([, file]) => file));
    expect(edges.filter((edge) => !listed.has(edge.from))).toEqual([]);
  });
});
