// The commands of `checkpoint policy`.
import { visibleJson } from '../../core/display.ts';
import type { Commands } from '../commands.ts';
import { activeLines, missing, versionsInUse } from './active.ts';
import { checkFiles } from './check.ts';
import { newPolicy } from './new.ts';
import { findProcedures, procedureLines } from './show.ts';

/** Adds the commands. */
export function addPolicyCommands({ program, out, settings, fail }: Commands): void {
  const policy = program.command('policy').description('procedures: check, write, show');
  policy
    .command('check')
    .description('check files of procedures; exit code 1 if one has a fault')
    .argument('<files...>', 'JSON files or modules')
    .action(async (files: readonly string[]) => {
      const { lines, faults } = await checkFiles(files);
      for (const line of lines) out(line);
      if (faults > 0) fail();
    });
  policy
    .command('new')
    .description('write a complete procedure to start from')
    .argument('<id>', 'its id, which is also the name of the file')
    .option('--title <title>', 'what it is called when spoken')
    .option('--folder <folder>', 'where to write it', '.')
    .action(async (id: string, { folder, title }: { folder: string; title?: string }) => {
      out(await newPolicy(id, folder, title));
    });
  policy
    .command('show')
    .description('show a procedure: steps, bounds, rules')
    .argument('<procedure>', 'ID, ID@VERSION, or a file')
    .option('--json', 'as JSON, with every default filled in')
    .action(async (name: string, { json }: { json?: boolean }) => {
      for (const [i, found] of (await findProcedures(settings({}), name)).entries()) {
        if (i > 0) out('');
        if (json === true) out(visibleJson(JSON.stringify(found.procedure, null, 2)));
        else for (const line of procedureLines(found)) out(line);
      }
    });
  policy
    .command('active')
    .description('procedure versions of active workflows; exit code 1 if this release lacks one')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: { data?: string }) => {
      const versions = await versionsInUse(settings(flags));
      for (const line of activeLines(versions)) out(line);
      if (missing(versions).length > 0) fail();
    });
}
