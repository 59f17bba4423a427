import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../lib/docs/generated-files.ts';
import { readSettings } from '../../lib/settings.ts';

const root = join(import.meta.dirname, '../..');

test.each(generatedFiles())('$path is as `npm run docs` writes it', async ({ path, text }) => {
  expect(await readFile(join(root, path), 'utf8')).toBe(text);
});

test('.env.example names every setting with a value the reader takes', async () => {
  const text = await readFile(join(root, '.env.example'), 'utf8');
  const uncommented = parseEnv(text.replaceAll(/^#(?=[A-Z])/gm, ''));
  expect(Object.keys(uncommented)).toHaveLength(42);
  expect(readSettings(uncommented)).toMatchObject({ port: 8000, issuers: [{ alias: 'corp' }] });
});
