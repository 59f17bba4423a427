import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of the package this file belongs to, from its source or its compiled form. */
export function packageVersion(): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error('the command line is not in a package');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
