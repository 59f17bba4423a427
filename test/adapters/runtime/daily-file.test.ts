import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { keepDaily } from '../../../lib/adapters/runtime/daily-file.ts';
import { tempFolder } from '../../support/temp-folder.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = join(await tempFolder(), 'heads');
  file = join(folder, '2026-03-01.jsonl');
});

async function* linesOf(...lines: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const line of lines) {
    await Promise.resolve();
    if (line instanceof Error) throw line;
    yield line;
  }
}

test('a file is written once, for its owner alone, and is not asked for again', async () => {
  expect(await keepDaily(file, () => linesOf('a', 'b'))).toBe(true);
  let asked = 0;
  const again = (): AsyncIterable<string> => {
    asked++;
    return linesOf('c');
  };
  expect(await keepDaily(file, again)).toBe(false);
  expect(asked).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('a\nb\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('of ten writers at once one writes it, and nothing else is left', async () => {
  const writers = Array.from({ length: 10 }, (_, n) => keepDaily(file, () => linesOf(`${n}`)));
  expect((await Promise.all(writers)).filter((wrote) => wrote)).toHaveLength(1);
  expect(await readdir(folder)).toEqual(['2026-03-01.jsonl']);
});

test('of a failure in the middle nothing is left, and the next time writes it', async () => {
  const failing = keepDaily(file, () => linesOf('a', new Error('planted')));
  await expect(failing).rejects.toThrow('planted');
  expect(await readdir(folder)).toEqual([]);
  expect(await keepDaily(file, () => linesOf('a'))).toBe(true);
});

test('a folder that cannot be made is a failure', async () => {
  await mkdir(join(folder, '..'), { recursive: true });
  await writeFile(folder, 'a file');
  await expect(keepDaily(file, () => linesOf('a'))).rejects.toThrow();
});
