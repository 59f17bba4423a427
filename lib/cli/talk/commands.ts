// The command `talk`: options to a conversation.
import type { Commands } from '../commands.ts';
import { CliProblem } from '../failure.ts';
import { GRAMMAR } from './grammar.ts';
import { talk, type LineInput } from './talk.ts';

interface Flags {
  readonly data?: string;
  readonly as: string;
  readonly name?: string;
  readonly scope: readonly string[];
  readonly tenant: string;
  readonly url?: string;
  readonly token?: string;
}

/** Adds the command; without an input there is nobody to listen to. */
export function addTalkCommand(commands: Commands, input: LineInput | undefined): void {
  const { program, out, settings } = commands;
  program
    .command('talk')
    .description('talk to Checkpoint as an operator would through an assistant')
    .option('--as <subject>', 'who talks', 'ana')
    .option('--name <name>', 'the name that is spoken')
    .option('--scope <scopes...>', 'what they may do, separated by commas', ['procedures:run'])
    .option('--tenant <tenant>', 'the tenant they belong to', 'local')
    .option('--url <url>', 'MCP endpoint of a running server, in place of the data folder')
    .option('--token <token>', 'a token for that server')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .addHelpText('after', `\nWhat can be said:\n${grammarText()}`)
    .action(async ({ as: subject, data, ...flags }: Flags) => {
      if (input === undefined) throw new CliProblem('There is no input to read from.');
      const who = { ...flags, subject, expires: '12h' };
      await talk(settings({ ...(data !== undefined && { data }) }), who, input, out);
    });
}

function grammarText(): string {
  return GRAMMAR.map(([phrase, meaning]) => `  ${phrase.padEnd(32)}${meaning}`.trimEnd()).join(
    '\n',
  );
}
