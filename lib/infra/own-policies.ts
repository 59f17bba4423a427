/**
 * Own procedures beside a bundle: JSON files as they are, and each module in one file with everything it
 * imports. Nothing else of the folder leaves the machine that deploys. Which files count is what the
 * loader of the folder says; a test holds the two together.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLE, PROJECT_ROOT } from './bundle.ts';

/** Some libraries ask for Node's modules when they run, which a module has no function for. */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

/**
 * The commands of a shell that put the procedures of `source` into `target`, a folder to be made. A module
 * that cannot be bundled fails when they run.
 */
export function policyCommands(source: string, target: string): string[] {
  const files = readdirSync(source).filter(
    (name) => !name.startsWith('.') && !name.endsWith('.d.ts'),
  );
  const ending = (pattern: RegExp): readonly string[] =>
    files.filter((name) => pattern.test(name)).map((name) => join(source, name));
  const definitions = ending(/\.json$/);
  const modules = ending(/\.(?:mjs|js|ts)$/);
  return [
    `mkdir -p ${quoted(target)}`,
    ...(definitions.length > 0
      ? [`cp ${definitions.map(quoted).join(' ')} ${quoted(target)}`]
      : []),
    ...(modules.length > 0
      ? [bundleCommand(modules, '--out-extension:.js=.mjs', `--outdir=${target}`)]
      : []),
  ];
}

/** The command of a shell that puts each entry into one file with everything it imports; `more` are options. */
export function bundleCommand(entries: readonly string[], ...more: readonly string[]): string {
  const words = [
    join(PROJECT_ROOT, 'node_modules/.bin/esbuild'),
    ...entries,
    '--bundle',
    `--platform=${BUNDLE.platform}`,
    `--format=${BUNDLE.format}`,
    `--target=${BUNDLE.target}`,
    `--main-fields=${BUNDLE.mainFields.join(',')}`,
    '--log-level=warning',
    `--banner:js=${REQUIRE}`,
    ...more,
  ];
  return words.map(quoted).join(' ');
}

/** One word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
