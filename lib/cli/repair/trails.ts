// `checkpoint repair`: trails that no rule may put right. Events beyond the head are moved aside, and a
// person who has looked at a broken trail lets its work go on.
import { acknowledgeFaults } from '../../core/operations/acknowledge.ts';
import { isFault } from '../../core/fault.ts';
import { isRunId, recordKey } from '../../core/model/aggregate.ts';
import { isTorn, repairTorn, type TornRepair } from '../../core/operations/torn.ts';
import { everyItem } from '../../core/pages.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { systemClock } from '../../wiring/local.ts';
import { byHand, checkReason } from '../by-hand.ts';
import { chainText } from '../chain-words.ts';
import type { Commands } from '../commands.ts';
import { reading, writing } from '../data-folder.ts';
import { CliProblem } from '../failure.ts';
import { findTrail, type WorkflowName } from '../look/find.ts';
import { counted, wrapped } from '../text.ts';

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
  readonly torn?: string | true;
  readonly unfreeze?: string;
  readonly reason?: string;
  readonly seen?: string;
  readonly dryRun?: boolean;
}

/** Adds the command. */
export function addTrailRepair({ program, out, settings, fail }: Commands): void {
  program
    .command('repair')
    .description('put right what needs a person: torn trails, and work that is frozen')
    .option(
      '--torn [workflow]',
      'move events beyond the head aside, of one workflow or run or of all',
    )
    .option('--unfreeze <workflow>', 'let a workflow or a run go on whose trail you have looked at')
    .option('--reason <text>', 'why it may go on; it stands in the trail')
    .option('--seen <code>', 'what you looked at, as the look without it names it')
    .option('--dry-run', 'say what would be done, and change nothing')
    .option('--tenant <tenant>', 'only in one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags) => {
      const { torn, unfreeze, reason = '', dryRun = false } = flags;
      if ((torn === undefined) === (unfreeze === undefined)) {
        throw new CliProblem('Say what to repair: --torn, or --unfreeze with a workflow.');
      }
      if (unfreeze !== undefined) checkReason(reason);
      const looks = dryRun || (unfreeze !== undefined && flags.seen === undefined);
      const open = looks ? reading : writing;
      const done = await open(settings(flags), (store) =>
        unfreeze === undefined
          ? repairedAll(store, torn, flags)
          : unfrozen(store, unfreeze, reason.trim(), flags),
      );
      for (const line of done.lines) for (const each of wrapped(line)) out(each);
      if (!done.good) fail();
    });
}

interface Done {
  readonly lines: readonly string[];
  readonly good: boolean;
}

async function repairedAll(
  store: StorageBackend,
  torn: Flags['torn'],
  { tenant, dryRun = false }: Flags,
): Promise<Done> {
  const lines: string[] = [];
  let good = true;
  const names =
    typeof torn === 'string' ? [await findTrail(store, torn, tenant)] : tornOnes(store, tenant);
  for await (const name of names) {
    const done = await repaired(store, name, dryRun);
    lines.push(...done.lines);
    good &&= done.good;
  }
  return lines.length === 0 ? { lines: ['No trail is torn.'], good } : { lines, good };
}

/** Every workflow and run with something beyond its head; one that cannot be read hides no other. */
async function* tornOnes(
  store: StorageBackend,
  tenant: string | undefined,
): AsyncGenerator<WorkflowName> {
  for await (const trail of everyItem((page) => store.scanTrails(page))) {
    const { tenant: of, workflow: id } = trail;
    if (tenant !== undefined && of !== tenant) continue;
    try {
      const [record] = await store.snapshot([recordKey(of, id)]);
      if (record === undefined || !(await isTorn(store, record))) continue;
    } catch (error) {
      if (!isFault(error)) throw error;
    }
    yield { tenant: of, id };
  }
}

async function repaired(
  store: StorageBackend,
  { tenant, id }: WorkflowName,
  dryRun: boolean,
): Promise<Done> {
  const parts = { store, clock: systemClock };
  const name = `tenant ${tenant}, ${kindOf(id)} ${id}`;
  let result: TornRepair;
  try {
    result = await repairTorn(parts, byHand(tenant), { workflow: id, dryRun });
  } catch (error) {
    if (!isFault(error) || error.kind === 'unknown') throw error;
    return { lines: [`${name}: cannot be repaired: ${error.message}.`], good: false };
  }
  switch (result.code) {
    case 'MOVED': {
      const left = result.faults.map(chainText).join('; ');
      const broken = left === '' ? '' : ` It is broken elsewhere: ${left}.`;
      const moved = counted(result.events, 'event');
      return {
        lines: [`${name}: ${moved} moved aside; the trail keeps them.${broken}`],
        good: left === '',
      };
    }
    case 'TORN':
      return {
        lines: [`${name}: ${counted(result.events, 'event')} beyond the head, nothing changed.`],
        good: false,
      };
    case 'WHOLE':
      return { lines: [`${name}: nothing lies beyond the head.`], good: true };
    case 'NOT_FOUND':
      throw new CliProblem(`There is no ${kindOf(id)} ${id}.`);
    case 'REPEATED':
    case 'IDEMPOTENCY_CONFLICT':
      throw new Error('a command line has no key');
  }
}

async function unfrozen(
  store: StorageBackend,
  text: string,
  reason: string,
  { tenant: only, dryRun = false, seen }: Flags,
): Promise<Done> {
  const { tenant, id } = await findTrail(store, text, only);
  const parts = { store, clock: systemClock };
  const command = { workflow: id, reason, ...(seen !== undefined && !dryRun && { seen }) };
  const result = await acknowledgeFaults(parts, byHand(tenant), command);
  switch (result.code) {
    case 'ACKNOWLEDGED':
    case 'FROZEN': {
      const faults = result.faults.map(chainText);
      const what = faults.length === 0 ? ['its trail verifies again'] : faults;
      const then =
        result.code === 'FROZEN'
          ? `nothing changed. Once you have looked at it, say --seen ${result.seen}.`
          : 'it goes on, and verification keeps naming the place.';
      return {
        lines: [`${titled(kindOf(id))} ${id}: ${what.join('; ')}: ${then}`],
        good: result.code === 'ACKNOWLEDGED',
      };
    }
    case 'WELL':
      throw new CliProblem(
        `${titled(kindOf(id))} ${id} is not frozen, and its trail has no open fault.`,
      );
    case 'TORN':
      throw new CliProblem(`${titled(kindOf(id))} ${id} is torn: repair --torn ${id} comes first.`);
    case 'NOT_FOUND':
      throw new CliProblem(`There is no ${kindOf(id)} ${id}.`);
    case 'REPEATED':
    case 'IDEMPOTENCY_CONFLICT':
      throw new Error('a command line has no key');
  }
}

const kindOf = (id: string): string => (isRunId(id) ? 'run' : 'workflow');

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
