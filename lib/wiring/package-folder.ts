import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The folder of the package this file belongs to, from its source or its compiled form. */
export function packageFolder(): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error('this code is not in a package');
  return dirname(manifest);
}
