/** Lists the files that belong to the project: tracked or about to be, never ignored ones. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

/** Absolute path of the top of the repository. */
export const projectRoot = join(import.meta.dirname, '../..');

/** Paths of all files of the project, from its top, with forward slashes, sorted. */
export function projectFiles(): string[] {
  return (filesByGit() ?? filesByWalking()).toSorted();
}

function filesByGit(): string[] | undefined {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  try {
    const top = git('rev-parse', '--show-prefix').trim();
    // A prefix means that the checkout around this folder is another project's.
    return top === ''
      ? git(...list)
          .split('\0')
          .filter(Boolean)
      : undefined;
  } catch {
    return undefined;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** Without git (an unpacked archive) the simple patterns of `.gitignore` are read instead. */
function filesByWalking(): string[] {
  const ignored = readFileSync(join(projectRoot, '.gitignore'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isIgnored = (name: string): boolean =>
    name === '.git' || ignored.some((pattern) => matchesGlob(name, pattern));
  return globSync('**/*', {
    cwd: projectRoot,
    withFileTypes: true,
    exclude: (entry) => isIgnored(entry.name),
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(projectRoot.length + 1))
    .map((path) => path.replaceAll('\\', '/'));
}
