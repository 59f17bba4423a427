// Node's cache of compiled code, so that a command does not compile again what an earlier one did.
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Turns the cache on, in a folder of this user below the system's one for temporary files. Nothing
 * depends on it: where there is no such folder, code is compiled as ever. `NODE_COMPILE_CACHE` names
 * another folder, and `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 */
export function keepCompiledCode(): void {
  try {
    const folder = join(tmpdir(), `checkpoint-code-${process.getuid?.() ?? 'user'}`);
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    if (isOwn(folder)) enableCompileCache(folder);
  } catch {
    // A command that is slower than it could be is none that failed.
  }
}

/** Whether nobody else can put code there: what is in the folder is run. */
function isOwn(folder: string): boolean {
  if (process.getuid === undefined) return true;
  const { uid, mode } = lstatSync(folder);
  return uid === process.getuid() && (mode & 0o022) === 0;
}
