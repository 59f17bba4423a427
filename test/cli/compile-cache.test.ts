import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ENTRY, runScript } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

const own = `checkpoint-code-${process.getuid?.() ?? 'user'}`;
const version = async (TMPDIR: string): Promise<number | null> =>
  (await runScript(ENTRY, ['--version'], { TMPDIR, NODE_COMPILE_CACHE: '' })).code;

describe('code that was compiled once', () => {
  test('is kept in a folder of this user alone, below the one for temporary files', async () => {
    const temporary = await tempFolder();
    expect(await version(temporary)).toBe(0);
    expect(await readdir(temporary)).toEqual([own]);
    expect((await stat(join(temporary, own))).mode & 0o777).toBe(0o700);
    const kept = await readdir(join(temporary, own), { recursive: true });
    expect(kept.length).toBeGreaterThan(100);
  });

  test('is kept nowhere, and the command runs, where there is no such folder', async () => {
    const nowhere = join(await tempFolder(), 'none');
    expect(await version(nowhere)).toBe(0);
    expect(existsSync(nowhere)).toBe(false);
  });

  test('is not taken from a folder that others can write to', async () => {
    const temporary = await tempFolder();
    await mkdir(join(temporary, own));
    await chmod(join(temporary, own), 0o777);
    expect(await version(temporary)).toBe(0);
    expect(await readdir(join(temporary, own))).toEqual([]);
  });

  test('is not taken from a place that a link points to', async () => {
    const [temporary, elsewhere] = [await tempFolder(), await tempFolder()];
    await symlink(elsewhere, join(temporary, own));
    expect(await version(temporary)).toBe(0);
    expect(await readdir(elsewhere)).toEqual([]);
  });
});
