// Files of the data folder that exactly one process makes and every other one reads.
// Invariants: a reader never sees half a file; of several creators one wins and all answer its text;
// only the owner can read the file.
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault, isFault } from '../../core/fault.ts';

/**
 * The text of a file, which is created with `text` where there is none yet, its folder too. Throws a
 * terminal fault `START_REFUSED` when neither can be done.
 */
export async function readOrCreate(
  path: string,
  text: () => string | Promise<string>,
): Promise<string> {
  try {
    const kept = await readIfThere(path);
    if (kept === undefined) return await create(path, await text());
    await requireOwn(path);
    return kept;
  } catch (cause) {
    if (isFault(cause)) throw cause;
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Fault('terminal', 'START_REFUSED', `${path} cannot be read or created: ${code}`, {
      cause,
    });
  }
}

/** Whoever can read these files can sign tokens; whoever can write them chooses who may. */
async function requireOwn(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode } = await stat(path);
  if ((mode & 0o007) === 0) return;
  const what = `${path} is open to every user of this machine: chmod 600 '${path}'`;
  throw new Fault('terminal', 'START_REFUSED', what);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function create(path: string, text: string): Promise<string> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    await write(draft, text);
    // Linking is atomic and refuses to replace, which renaming does not.
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(folder);
  return readFile(path, 'utf8');
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without it the name can be lost in a power failure although the content is not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
