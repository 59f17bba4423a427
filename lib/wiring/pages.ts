// Where the files of the interactive page are: beside a bundle, or in a checkout.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pagesOf } from '../adapters/pages/files.ts';
import type { Pages } from '../core/ports/pages.ts';
import { PAGE_FILES, PAGES_FOLDER } from '../settings/page-files.ts';

/** The files that were put beside a bundle in a folder. */
export function pagesBeside(folder: string): Pages {
  const names = Object.keys(PAGE_FILES);
  return pagesOf(new Map(names.map((name) => [name, join(folder, PAGES_FOLDER, name)])));
}

/** The files of a checkout, or of the packed package. */
export function pagesOfPackage(folder: string): Pages {
  const files = Object.entries(PAGE_FILES);
  const isCheckout = files.every(([, path]) => existsSync(join(folder, path)));
  if (!isCheckout) return pagesBeside(join(folder, 'dist'));
  return pagesOf(new Map(files.map(([name, path]) => [name, join(folder, path)])));
}
