/** The bundled evidence server on files of a test. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../project-files.ts';
import { tempFolder } from '../temp-folder.ts';
import { soon, sourceTo } from './sources.ts';

/** The entry file. */
export const SERVER = join(projectRoot, 'bin/evidence-server.ts');

/** The example files that come along. */
export const EXAMPLES = join(projectRoot, 'examples/evidence');

/** A folder with the example files, to be edited. */
export async function exampleFolder(): Promise<string> {
  const folder = await tempFolder();
  await cp(EXAMPLES, folder, { recursive: true });
  return folder;
}

/** A folder with these files only. */
export async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder();
  await mkdir(join(folder, 'runbooks'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** Calls tools of a server on a folder. */
export function bundledOn(folder: string) {
  const args = [SERVER, folder];
  const { source } = sourceTo([{ name: 'bundled', command: process.execPath, args, env: {} }]);
  return {
    list: () => source.list('bundled', soon(30_000)),
    call: (name: string, args: { readonly [name: string]: string }) =>
      source.call({ server: 'bundled', name, inputSchema: { type: 'object' } }, args, soon(30_000)),
  };
}
