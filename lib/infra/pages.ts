/** The files of the interactive page beside a bundle: as files they cost a start nothing. */
import { join } from 'node:path';
import { PAGE_FILES, PAGES_FOLDER } from '../settings/page-files.ts';
import { PROJECT_ROOT } from './bundle.ts';
import { quoted } from './own-policies.ts';

/** The commands of a shell that put the files into a folder of `output`. */
export function pageCommands(output: string): string[] {
  const target = join(output, PAGES_FOLDER);
  const copies = Object.entries(PAGE_FILES).map(([name, path]) =>
    ['cp', quoted(join(PROJECT_ROOT, path)), quoted(join(target, name))].join(' '),
  );
  return [`mkdir -p ${quoted(target)}`, ...copies];
}
