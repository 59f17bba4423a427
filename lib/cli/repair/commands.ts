// `checkpoint locks` and `checkpoint reconcile`: who holds what, taking it away, and putting right what
// has drifted.
import { visibleJson } from '../../core/display.ts';
import type { Lock } from '../../core/model/workflow.ts';
import { everyItem } from '../../core/pages.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import type { Rule } from '../../core/reconcile/rules.ts';
import type { SweepReport } from '../../core/reconcile/sweep.ts';
import { releaseLock } from '../../core/release-lock.ts';
import { tenantsOf } from '../../core/tenants.ts';
import { systemClock, type Local, type WriteLine } from '../../wiring/local.ts';
import type { Commands } from '../commands.ts';
import { byHand, checkReason } from '../by-hand.ts';
import { opened, reading } from '../data-folder.ts';
import { CliProblem } from '../failure.ts';
import { aligned, counted, lasted, wrapped } from '../text.ts';

interface ReleaseFlags {
  readonly reason: string;
  readonly tenant: string;
  readonly fence?: string;
}

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
}

/** The rules that a sweep can be asked for; R1 is the lease of every sweep. */
const BY_HAND = ['R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8'] as const satisfies readonly Rule[];

/** Adds the commands. */
export function addRepairCommands({ program, out, settings, fail }: Commands): void {
  const locks = program.command('locks').description('who holds which asset');
  locks
    .command('list')
    .description('held assets, longest first')
    .option('--tenant <tenant>', 'only one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((flags: Flags) =>
      reading(settings(flags), async (store) => {
        for await (const line of heldLines(store, flags.tenant)) out(line);
      }),
    );
  locks
    .command('release')
    .description('take an asset away from whoever holds it; their work is blocked')
    .argument('<asset>', 'the asset')
    .requiredOption('--reason <text>', 'why; it stands in the trail')
    .option('--fence <number>', 'only if it is still held under this fence of the list')
    .option('--tenant <tenant>', 'the tenant of the asset', 'local')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (asset: string, flags: Flags & ReleaseFlags) => {
      const line = await opened(settings(flags), (local) => released(local, asset, flags));
      for (const each of wrapped(line)) out(each);
    });
  program
    .command('reconcile')
    .description('deliver what is due and repair what has drifted, once')
    .option('--once', 'one sweep, which is what this does anyway')
    .option('--dry-run', 'say what would be repaired, and change nothing')
    .option('--rule <rule>', `only this rule: ${BY_HAND.join(', ')}`)
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (flags: Flags & { dryRun?: boolean; rule?: string }) => {
      const { dryRun = false, rule } = flags;
      if (rule !== undefined && !isRule(rule)) {
        throw new CliProblem(`--rule: expected one of ${BY_HAND.join(', ')}.`);
      }
      const write: WriteLine = (fields, message) => {
        out(visibleJson(JSON.stringify({ msg: message, ...fields })));
      };
      const reports = await opened(
        settings(flags),
        (local) => local.sweep(write, { dryRun, ...(rule !== undefined && { rules: [rule] }) }),
        { register: !dryRun },
      );
      for (const line of sweepLines(reports, dryRun)) out(line);
      if (reports.some(({ findings }) => findings.some(({ repaired }) => !repaired))) fail();
    });
}

const isRule = (text: string): text is Rule => (BY_HAND as readonly string[]).includes(text);

async function* heldLines(store: StorageBackend, only: string | undefined): AsyncGenerator<string> {
  let assets = 0;
  for await (const tenant of tenantsOf(store, only)) {
    const rows: string[][] = [];
    const held = everyItem((page) => store.listLocks(tenant, page));
    for await (const lock of held) rows.push(cells(lock));
    if (rows.length === 0) continue;
    assets += rows.length;
    yield `tenant ${tenant}`;
    yield* aligned(rows, { give: 3 });
  }
  if (assets === 0) yield 'Nobody holds an asset.';
}

function cells({ asset, name = '?', since, procedure = '?', fence, workflow = '?' }: Lock) {
  const age = since === undefined ? '?' : lasted(Date.now() - Date.parse(since));
  return [asset, `held by ${name}`, `for ${age}`, procedure, `fence ${fence}`, workflow];
}

async function released(
  { store, registry, sinks }: Local,
  asset: string,
  { tenant, reason, fence }: ReleaseFlags,
): Promise<string> {
  checkReason(reason);
  if (fence !== undefined && !/^[1-9]\d{0,8}$/u.test(fence)) {
    throw new CliProblem('--fence: expected the number that locks list shows.');
  }
  const parts = { store, registry, clock: systemClock, sinks };
  const command = {
    asset,
    reason: reason.trim(),
    ...(fence !== undefined && { fence: Number(fence) }),
  };
  const result = await releaseLock(parts, byHand(tenant), command);
  switch (result.code) {
    case 'REPEATED':
    case 'IDEMPOTENCY_CONFLICT':
      throw new Error('a command line has no key');
    case 'RELEASED':
      return `${asset} is free. Workflow ${result.workflow} of ${result.name} is blocked until a supervisor decides.`;
    case 'LEFT_BEHIND':
      return `The lock of ${asset} was left behind by workflow ${result.workflow}: the next start takes it over.`;
    case 'HELD_ANEW':
      throw new CliProblem(
        `${asset} is held under fence ${result.fence} by now, by workflow ${result.workflow}.`,
      );
    case 'FREE':
      throw new CliProblem(`Nobody holds ${asset} in tenant ${tenant}.`);
  }
}

/** How much each rule found, where it is more than what stands in one line anyway. */
function* countLines(reports: readonly SweepReport[]): Generator<string> {
  const totals = new Map<string, number>();
  for (const [rule, n] of reports.flatMap(({ counts }) => Object.entries(counts))) {
    totals.set(rule, (totals.get(rule) ?? 0) + n);
  }
  if ([...totals.values()].reduce((sum, n) => sum + n, 0) < 2) return;
  const each = [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1));
  yield `found by rule: ${each.map(([rule, n]) => `${rule} ${n}`).join(', ')}`;
}

function* sweepLines(reports: readonly SweepReport[], dryRun: boolean): Generator<string> {
  const looked = reports.reduce((sum, report) => sum + report.looked, 0);
  const sent = reports.reduce((sum, { delivered }) => sum + delivered.delivered, 0);
  const failed = reports.reduce((sum, { delivered }) => sum + delivered.failed, 0);
  const parked = reports.reduce((sum, { delivered }) => sum + delivered.parked, 0);
  yield `${counted(looked, 'workflow')} looked at${dryRun ? ', nothing changed' : ''}`;
  if (!dryRun) {
    yield `${counted(sent, 'notification')} sent, ${failed} failed, ${parked} parked`;
  }
  const findings = reports.flatMap((report) => report.findings);
  if (findings.length === 0) yield 'Nothing had drifted, and nothing was overdue.';
  yield* aligned(
    findings.map(({ rule, repaired, tenant, what }) => [
      rule,
      !repaired ? 'found' : rule === 'R6' ? 'told' : 'repaired',
      tenant,
      what,
    ]),
    { give: 3 },
  );
  yield* countLines(reports);
  for (const { end, shard } of reports) {
    if (end === 'held') yield `Shard ${shard} is being swept by another process.`;
    if (end === 'lost') yield `Another process took shard ${shard} over.`;
  }
}
