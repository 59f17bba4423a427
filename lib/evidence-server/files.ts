// The files of an operator: read as they are now, bounded, and read again only when they have changed.
import { isUtf8 } from 'node:buffer';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';
import { FileFault } from './faults.ts';

/** A file that was found. `version` changes when its content does. */
export interface FoundFile {
  /** Relative to the folder, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly version: string;
}

/** Files of a folder whose names match, in order of their names; none where there is no folder. */
export async function filesIn(
  folder: string,
  inner: string,
  pattern: RegExp,
): Promise<readonly FoundFile[]> {
  let names: readonly string[];
  try {
    names = await readdir(join(folder, inner));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new FileFault(inner === '' ? 'the folder' : inner, 'expected a folder that can be read');
  }
  const found: FoundFile[] = [];
  for (const name of names.filter((each) => pattern.test(each)).toSorted()) {
    const path = join(folder, inner, name);
    const info = await stat(path, { bigint: true }).catch(() => undefined);
    if (info?.isFile() !== true) continue;
    const version = [info.ino, info.size, info.mtimeNs, info.ctimeNs].join('.');
    found.push({ name: inner === '' ? name : `${inner}/${name}`, path, version });
  }
  return found;
}

/** The text of a file. Throws a `FileFault` for one that is too long, no UTF-8, or unreadable. */
export async function textOf({ name, path }: FoundFile): Promise<string> {
  const { max } = LIMITS.bodyBytes;
  const bytes = await stat(path)
    .then(({ size }) => (size > max ? undefined : readFile(path)))
    .catch(() => {
      throw new FileFault(name, 'expected a file that can be read');
    });
  if (bytes === undefined) throw new FileFault(name, `expected at most ${max} bytes`);
  if (!isUtf8(bytes)) throw new FileFault(name, 'expected UTF-8 text', lineOfBadByte(bytes));
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

function lineOfBadByte(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? undefined : end)) || end === -1) return line;
    start = end + 1;
  }
}

/** Keeps what was made of files until one of them changes. A fault is not kept. */
export function remembered<T>(
  find: () => Promise<readonly FoundFile[]>,
  make: (files: readonly FoundFile[]) => Promise<T>,
): () => Promise<T> {
  let kept: { readonly version: string; readonly value: T } | undefined;
  return async () => {
    const files = await find();
    const version = files.map((file) => `${file.name} ${file.version}`).join('\n');
    if (kept?.version !== version) kept = { version, value: await make(files) };
    return kept.value;
  };
}
