// The commands of `checkpoint audit`.
import type { Command } from 'commander';
import { exportLines, recordsOf } from '../../core/trail/export.ts';
import { headLines } from '../../core/trail/heads.ts';
import { headsFingerprint, headsKeyPem } from '../../core/trail/heads-key.ts';
import { localHeadsSigner } from '../../wiring/local.ts';
import { auditLines, verifyAudit } from '../audit.ts';
import type { Commands } from '../commands.ts';
import { CliProblem } from '../failure.ts';
import { writeLines } from '../lines-file.ts';
import { existingDataFile, reading } from '../data-folder.ts';
import { exportReportLines, verifyExport } from './export-file.ts';
import { headsReportLines, pinnedKey, verifyHeads } from './heads-file.ts';

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
  readonly workflow?: string;
}

interface VerifyFlags {
  readonly all?: true;
  readonly file?: string;
  readonly heads?: string;
  readonly key?: string;
}

/** Adds the commands. */
export function addAuditCommands(commands: Commands): void {
  const { program, settings } = commands;
  const audit = program.command('audit').description('the audit trail');
  addVerify(audit, commands);
  audit
    .command('export')
    .description('write trails as JSON lines that verify without a database')
    .option('--tenant <tenant>', 'only the trails of one tenant')
    .option('--workflow <id>', 'only one trail')
    .option('--out <file>', 'a new file, in place of standard output')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((flags: Flags & { out?: string }) =>
      reading(settings(flags), (store) =>
        give(commands, flags.out, exportLines(store, flags, Date.now())),
      ),
    );
  audit
    .command('heads')
    .description('write a signed list of the heads of all trails, to be kept elsewhere')
    .option('--out <file>', 'a new file, in place of standard output')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((flags: Flags & { out?: string }) =>
      reading(settings(flags), async (store) => {
        const signer = await localHeadsSigner(settings(flags));
        const list = { now: Date.now(), part: 1, more: false };
        await give(commands, flags.out, headLines(recordsOf(store, {}), signer, list));
        if (flags.out === undefined) return;
        commands.out(`Signed under the key ${headsFingerprint(signer.publicKey)}`);
      }),
    );
  audit
    .command('heads-key')
    .description('print the public key that lists of heads are signed under, and its fingerprint')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags) => {
      existingDataFile(settings(flags));
      const { publicKey } = await localHeadsSigner(settings(flags));
      commands.out(`Fingerprint ${headsFingerprint(publicKey)}`);
      commands.out(headsKeyPem(publicKey).trimEnd());
    });
}

function addVerify(audit: Command, { out, settings, fail }: Commands): void {
  audit
    .command('verify')
    .description('verify every trail; exit code 1 if one does not')
    .option('--all', 'every trail: what is verified where nothing is chosen')
    .option('--tenant <tenant>', 'only the trails of one tenant')
    .option('--workflow <id>', 'only one trail')
    .option('--file <export>', 'an export, in place of the data folder')
    .option('--heads <list>', 'against a signed list of heads')
    .option('--key <key>', 'the key of the list: its fingerprint, or a file as heads-key prints it')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags & VerifyFlags) => {
      const { all, file, heads, key, tenant, workflow } = flags;
      const chosen = [all, file, heads, tenant ?? workflow].filter((given) => given !== undefined);
      if (chosen.length > 1) {
        throw new CliProblem('--all, --file, --heads and the choice of trails exclude each other.');
      }
      if (key !== undefined && heads === undefined) {
        throw new CliProblem('--key is the key of a list: expected --heads beside it.');
      }
      const say = (lines: readonly string[], good: boolean): void => {
        for (const line of lines) out(line);
        if (!good) fail();
      };
      if (file !== undefined) {
        const report = await verifyExport(file);
        say(exportReportLines(report), report.faults.length === 0);
      } else if (heads !== undefined) {
        const report = await reading(settings(flags), async (store) =>
          verifyHeads(
            store,
            heads,
            key === undefined
              ? headsFingerprint((await localHeadsSigner(settings(flags))).publicKey)
              : await pinnedKey(key),
          ),
        );
        say(headsReportLines(report), report.faults.length === 0);
      } else {
        const result = await verifyAudit(settings(flags), flags);
        say(auditLines(result), result.broken.length === 0);
      }
    });
}

/** To a new file, or to standard output. */
async function give(
  { out }: Commands,
  file: string | undefined,
  lines: AsyncIterable<string>,
): Promise<void> {
  if (file === undefined) for await (const line of lines) out(line);
  else out(`${file}: ${await writeLines(file, lines)} lines`);
}
