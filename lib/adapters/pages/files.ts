// Files of the interactive page, read once each, when they are first asked for. Serves the names it was
// given and no path.
import { readFile } from 'node:fs/promises';
import type { PageFile, Pages } from '../../core/ports/pages.ts';

const TYPES: { readonly [extension: string]: string } = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

/** Serves files by their names, each at an absolute path. One that cannot be read is not there. */
export function pagesOf(paths: ReadonlyMap<string, string>): Pages {
  const known = new Map<string, Promise<PageFile | undefined>>();
  const read = async (name: string, path: string): Promise<PageFile | undefined> => {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    try {
      return { type, bytes: new Uint8Array(await readFile(path)) };
    } catch {
      return undefined;
    }
  };
  return {
    file: (name) => {
      const path = paths.get(name);
      if (path === undefined) return Promise.resolve(undefined);
      const seen = known.get(name) ?? read(name, path);
      known.set(name, seen);
      return seen;
    },
  };
}
