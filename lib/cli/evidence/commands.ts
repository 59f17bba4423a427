// `checkpoint tools` and `checkpoint init`: what evidence can be read from, and a data folder to start with.
import type { Commands } from '../commands.ts';
import { initialise } from './init.ts';
import { askTools, definitionLines, isSound, jsonLines, pinned, toolLines } from './tools.ts';

interface Flags {
  readonly data?: string;
  readonly json?: boolean;
  readonly definitions?: boolean;
  readonly pin?: true | string[];
}

/** Adds the commands. */
export function addEvidenceCommands({ program, out, settings, fail }: Commands): void {
  program
    .command('init')
    .alias('init-db')
    .description('prepare a data folder: the database, and evidence files to edit; safe to repeat')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags) => {
      for (const line of await initialise(settings(flags))) out(line);
    });
  program
    .command('tools')
    .alias('mcp-tools')
    .description(
      'tools that evidence can be read with; exit code 1 if an allowed one cannot be called',
    )
    .option('--definitions', 'with their descriptions and schemas, to be looked at before a pin')
    .option(
      '--pin [tools...]',
      'print the allowlist with pins: of SERVER/TOOL, or of what is on it',
    )
    .option('--json', 'one JSON object per line')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags) => {
      const current = settings(flags);
      const report = await askTools(current);
      if (flags.pin !== undefined) {
        out(pinned(report, current.evidenceTools, flags.pin === true ? [] : flags.pin));
        return;
      }
      const lines = flags.json === true ? jsonLines(report) : toolLines(report);
      for (const line of lines) out(line);
      if (flags.definitions === true) for (const line of definitionLines(report)) out(line);
      if (!isSound(report, current.evidenceTools)) fail();
    });
}
