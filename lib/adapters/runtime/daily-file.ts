// Files that are written once and never changed: a reader sees none or the whole, whoever else writes it.
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes lines to a file that only its owner can read, its folder too; answers false, without asking for
 * the lines, where the file is there already. What was begun is removed on a failure.
 */
export async function keepDaily(
  file: string,
  lines: () => AsyncIterable<string>,
): Promise<boolean> {
  if (await isThere(file)) return false;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      for await (const line of lines()) await handle.write(`${line}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Linking is atomic and refuses to replace, which renaming does not.
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await isThere(file))) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
