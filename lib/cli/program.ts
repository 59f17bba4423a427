// The command line: options to settings, commands to functions. No business word.
import { Command, Option } from 'commander';
import { displayLines } from '../core/display.ts';
import { readSettings, type Environment, type Settings } from '../settings.ts';
import { addAuditCommands } from './audit/commands.ts';
import type { Commands } from './commands.ts';
import { addEraseCommand } from './erase.ts';
import { addEvidenceCommands } from './evidence/commands.ts';
import { problemText } from './failure.ts';
import { addLookCommands } from './look/commands.ts';
import { addOutboxCommands } from './outbox/commands.ts';
import { addPolicyCommands } from './policy/commands.ts';
import { banner, startServer } from './serve.ts';
import { addRepairCommands } from './repair/commands.ts';
import { addTrailRepair } from './repair/trails.ts';
import { addRunCommands } from './run/commands.ts';
import { addTalkCommand } from './talk/commands.ts';
import type { LineInput } from './talk/talk.ts';
import { signToken, type TokenOptions } from './token.ts';
import { packageVersion } from '../wiring/version.ts';

/** What the command line talks to. */
export interface Terminal {
  readonly env: Environment;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Lines that are typed or piped in. */
  readonly input?: LineInput;
  /** Resolves when the process is asked to stop. */
  readonly stopped: () => Promise<void>;
}

interface Flags {
  readonly data?: string;
  readonly host?: string;
  readonly port?: string;
}

/** Runs one command line (without the interpreter and script) and answers the exit code. */
export async function runCli(args: readonly string[], given: Terminal): Promise<number> {
  let exitCode = 0;
  // Names of files and what stands in them may come from anybody.
  const terminal: Terminal = {
    ...given,
    out: (text) => {
      given.out(displayLines(text));
    },
    err: (text) => {
      given.err(displayLines(text));
    },
  };
  const { out } = terminal;
  const program = new Command('checkpoint')
    .description('Durable, authoritative workflows for voice and chat agents over MCP')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('(checkpoint --help shows what there is)')
    .configureOutput({
      writeOut: (text) => {
        out(text.trimEnd());
      },
      writeErr: (text) => {
        terminal.err(text.trimEnd());
      },
    });
  const data = (): Option => new Option('--data <folder>', 'data folder (CHECKPOINT_DATA)');

  program
    .command('serve')
    .description('serve MCP over HTTP on the embedded backend')
    .option('--host <host>', 'address to listen on (HOST)')
    .option('--port <port>', 'port to listen on, 0 for a free one (PORT)')
    .addOption(data())
    .action(async (flags: Flags) => {
      const settings = settingsFrom(terminal.env, flags);
      const running = await startServer(settings);
      out(banner(settings, running.url));
      await terminal.stopped();
      await running.stop();
    });

  program
    .command('token')
    .description('sign a development token and print it alone')
    .option('--subject <name>', 'who the token is for')
    .option('--name <name>', 'the name that is spoken')
    .option('--scope <scopes...>', 'what the token may do, separated by commas', [])
    .option('--tenant <tenant>', 'the tenant it speaks for', 'local')
    .option('--expires <time>', 'how long it is valid', '12h')
    .option('--agent', 'an assistant that acts by itself')
    .option('--service', 'a service that acts for nobody')
    .option('--deployment <stage>', 'sign for a deployed development stage, with AWS credentials')
    .addOption(data())
    .action(async (flags: Flags & TokenOptions) => {
      out(await signToken(settingsFrom(terminal.env, flags), flags));
    });

  const demo = program
    .command('demo')
    .description('play a whole pump inspection, with a crash in the middle, and check every answer')
    .action(async () => {
      // Loaded only here: its MCP client takes longer to load than a server to start.
      const { runDemo } = await import('./demo/demo.ts');
      exitCode = await runDemo(terminal);
    });
  demo
    .command('incident')
    .description(
      'play an incident: evidence, a decision, a server that is killed twice, one ticket',
    )
    .action(async () => {
      const { runIncidentDemo } = await import('./demo/incident.ts');
      exitCode = await runIncidentDemo(terminal);
    });

  const commands: Commands = {
    program,
    out,
    settings: (flags) => settingsFrom(terminal.env, flags),
    fail: () => {
      exitCode = 1;
    },
  };
  addEvidenceCommands(commands);
  addLookCommands(commands);
  addAuditCommands(commands);
  addEraseCommand(commands);
  addOutboxCommands(commands);
  addRepairCommands(commands);
  addTrailRepair(commands);
  addPolicyCommands(commands);
  addRunCommands(commands);
  addTalkCommand(commands, terminal.input);

  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return failed(error, terminal);
  }
}

function settingsFrom(env: Environment, flags: Flags): Settings {
  return readSettings({
    ...env,
    ...(flags.data !== undefined && { CHECKPOINT_DATA: flags.data }),
    ...(flags.host !== undefined && { HOST: flags.host }),
    ...(flags.port !== undefined && { PORT: flags.port }),
  });
}

function failed(error: unknown, terminal: Terminal): number {
  if (error instanceof Error && error.name === 'CommanderError') {
    return (error as Error & { exitCode: number }).exitCode;
  }
  const text = problemText(error);
  if (text === undefined) throw error;
  terminal.err(text);
  return 1;
}
