// `checkpoint erase`: deletes what was said for a sensitive step, and says so in the trail.
import { randomUUID } from 'node:crypto';
import { commandLine, eraseStep } from '../core/erase.ts';
import type { Settings } from '../settings.ts';
import { systemClock } from '../wiring/local.ts';
import { checkReason } from './by-hand.ts';
import type { Commands } from './commands.ts';
import { writing } from './data-folder.ts';
import { CliProblem } from './failure.ts';
import { findWorkflow } from './look/find.ts';
import { counted, wrapped } from './text.ts';

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
  readonly reason: string;
}

/** Adds the command. */
export function addEraseCommand({ program, out, settings }: Commands): void {
  program
    .command('erase')
    .description('delete the sensitive values of a step; the trail still verifies')
    .argument('<workflow>', 'its id, or the asset it is on')
    .argument('<step>', 'the id of the step')
    .requiredOption('--reason <text>', 'why; it stands in the trail in clear text')
    .option('--tenant <tenant>', 'only in one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (workflow: string, step: string, flags: Flags) => {
      for (const line of wrapped(await erase(settings(flags), workflow, step, flags))) out(line);
    });
}

async function erase(
  settings: Settings,
  name: string,
  step: string,
  { reason, tenant: only }: Flags,
): Promise<string> {
  checkReason(reason);
  return writing(settings, async (store) => {
    const { tenant, id } = await findWorkflow(store, name, only);
    const erasure = await eraseStep(
      { store, clock: systemClock },
      commandLine(tenant),
      { workflow: id, step, reason: reason.trim() },
      systemClock.now() + DEADLINE_MS,
      randomUUID(),
    );
    switch (erasure.code) {
      case 'ERASED':
        return `Erased ${counted(erasure.records.length, 'value')} of ${step} in workflow ${id}.${left(erasure.purged)}`;
      case 'ALREADY_ERASED':
        return `What was said for ${step} in workflow ${id} is erased already.${left(erasure.purged)}`;
      case 'NEVER_SENSITIVE':
        throw new CliProblem(`Workflow ${id} has no sensitive value for the step ${step}.`);
      case 'NOT_FOUND':
        throw new CliProblem(`There is no workflow ${id}.`);
    }
  });
}

const DEADLINE_MS = 30_000;

function left(purged: boolean): string {
  if (purged) return '';
  return ' The database log still holds it, because another process is reading: run this once more.';
}
