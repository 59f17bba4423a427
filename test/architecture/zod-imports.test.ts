import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectFiles, projectRoot } from '../support/project-files.ts';

/**
 * The lint rule for restricted import names refuses the namespace import together with the named one,
 * so this convention is checked here.
 */
const anyOtherImport =
  /^(?:im|ex)port\s+(?!\*\s+as\s+z\s+from|type\s+\*\s+as\s+z\s+from)[^'"]*?['"]zod['"]/m;

test('zod is imported as a namespace, which keeps about 350 kB out of the Lambda bundle', () => {
  const sources = projectFiles().filter((path) => /\.[jt]s$/.test(path));
  expect(sources.length).toBeGreaterThan(10);
  const named = sources.filter((path) =>
    anyOtherImport.test(readFileSync(join(projectRoot, path), 'utf8')),
  );
  expect(named).toEqual([]);
});

describe('the pattern', () => {
  const from = ` from 'zod'`;

  test.each([`import { z }${from};`, `import z${from};`, `import {\n  string,\n}${from};`])(
    'finds %j',
    (text) => {
      expect(anyOtherImport.test(text)).toBe(true);
    },
  );

  test.each([
    `import * as z${from};`,
    `import type * as z${from};`,
    `import { a } from './zod.ts';`,
  ])('leaves %j alone', (text) => {
    expect(anyOtherImport.test(text)).toBe(false);
  });
});
