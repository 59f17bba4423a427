/** Writes every generated file. `npm test` fails while one on disk differs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../lib/docs/generated-files.ts';

const root = join(import.meta.dirname, '..');

for (const file of generatedFiles()) {
  const target = join(root, file.path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, file.text);
  process.stdout.write(`${file.path}\n`);
}
