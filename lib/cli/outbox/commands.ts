// `checkpoint outbox`: what still has to leave, what is parked and why, and sending it again.
import { parkedRows } from '../../core/dispatch/parked.ts';
import { visibleJson } from '../../core/display.ts';
import { LIMITS } from '../../core/limits.ts';
import { findRow, redriveRow } from '../../core/operations/redrive.ts';
import type { OutboxRow } from '../../core/model/workflow.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { tenantsOf } from '../../core/tenants.ts';
import { systemClock } from '../../wiring/local.ts';
import type { Commands } from '../commands.ts';
import { byHand } from '../by-hand.ts';
import { reading, writing } from '../data-folder.ts';
import { CliProblem } from '../failure.ts';
import { COMMAND } from '../form.ts';
import { waitingCells } from '../look/outbox.ts';
import { aligned, counted, facts, shownTime } from '../text.ts';

interface Flags {
  readonly data?: string;
  readonly tenant?: string;
  readonly parked?: boolean;
  readonly json?: boolean;
  readonly all?: boolean;
}

/** Adds the commands. */
export function addOutboxCommands({ program, out, settings }: Commands): void {
  const outbox = program.command('outbox').description('notifications that still have to leave');
  outbox
    .command('list')
    .description('what waits, the earliest due first; with --parked what waits for a person')
    .option('--parked', 'only rows that were given up')
    .option('--json', 'one JSON object per line')
    .option('--tenant <tenant>', 'only one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((flags: Flags) =>
      reading(settings(flags), async (store) => {
        for await (const line of listed(store, flags)) out(line);
      }),
    );
  outbox
    .command('show')
    .description('one row: its lane, attempts, last error and payload')
    .argument('<id>', 'its id, from outbox list')
    .option('--tenant <tenant>', 'only in one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action((id: string, flags: Flags) =>
      reading(settings(flags), async (store) => {
        for (const line of shown(await rowNamed(store, id, flags.tenant), Date.now())) out(line);
      }),
    );
  outbox
    .command('redrive')
    .description('send parked rows again, from their first attempt on')
    .argument('[id]', 'its id, from outbox list --parked')
    .option('--all', 'every parked row')
    .option('--tenant <tenant>', 'only in one tenant')
    .option('--data <folder>', 'data folder (CHECKPOINT_DATA)')
    .action(async (id: string | undefined, flags: Flags) => {
      if ((id === undefined) === (flags.all !== true)) {
        throw new CliProblem('Name one row by its id, or all parked rows with --all.');
      }
      out(await writing(settings(flags), (store) => redriveRows(store, id, flags.tenant)));
    });
}

async function* listed(
  store: StorageBackend,
  { tenant, parked = false, json = false }: Flags,
): AsyncGenerator<string> {
  const now = Date.now();
  let rows = 0;
  for await (const name of tenantsOf(store, tenant)) {
    const found = parked ? await some(parkedRows(store, name)) : await waiting(store, name);
    rows += found.items.length;
    if (json) {
      for (const row of found.items) yield visibleJson(JSON.stringify(row));
      continue;
    }
    if (found.items.length === 0) continue;
    yield `tenant ${name}`;
    // The ids at the end are copied from here, so what stands before them gives way.
    yield* aligned(
      found.items.map((row) => [
        row.lane,
        ...waitingCells(row, now),
        ...(parked ? [row.error ?? ''] : []),
        row.id,
      ]),
      { give: parked ? 4 : 1 },
    );
    if (found.more) yield `  and more than ${LIMITS.pageItems.max}`;
  }
  if (rows === 0 && !json) yield parked ? 'No row is parked.' : 'Nothing waits.';
}

/** The first rows, and whether there are more. */
async function some(rows: AsyncIterable<OutboxRow>) {
  const items: OutboxRow[] = [];
  for await (const row of rows) {
    if (items.length === LIMITS.pageItems.max) return { items, more: true };
    items.push(row);
  }
  return { items, more: false };
}

async function waiting(store: StorageBackend, tenant: string) {
  const items = await store.listTenantOutbox(tenant, LIMITS.pageItems.max);
  return { items, more: items.length === LIMITS.pageItems.max };
}

function shown(row: OutboxRow, now: number): readonly string[] {
  const [kind = '?', when = '?', attempts = '?'] = waitingCells(row, now);
  return [
    ...facts([
      ['id', row.id],
      ['tenant', row.tenant],
      ['workflow', row.workflow],
      ['lane', row.lane],
      ['event', String(row.seq)],
      ['kind', kind],
      ['state', `${when}, ${attempts}`],
      ['due', `${shownTime(row.due_at)} UTC`],
      ['last error', row.error ?? 'none'],
    ]),
    'payload',
    visibleJson(JSON.stringify(row.payload, null, 2)),
  ];
}

async function rowNamed(
  store: StorageBackend,
  id: string,
  tenant: string | undefined,
): Promise<OutboxRow> {
  for await (const name of tenantsOf(store, tenant)) {
    const row = await findRow(store, name, id);
    if (row !== undefined) return row;
  }
  throw new CliProblem(`No row ${id} waits: it has left, or it was never there.`);
}

async function redriveRows(
  store: StorageBackend,
  id: string | undefined,
  tenant: string | undefined,
): Promise<string> {
  let sent = 0;
  for await (const name of tenantsOf(store, tenant)) {
    const ids: string[] = [];
    for await (const row of parkedRows(store, name)) {
      if (id === undefined || row.id === id) ids.push(row.id);
    }
    for (const each of ids) {
      const redriven = await redriveRow({ store, clock: systemClock }, byHand(name), { id: each });
      if (redriven.code === 'REDRIVEN') sent += 1;
    }
  }
  if (id !== undefined && sent === 0) {
    throw new CliProblem(
      `No row ${id} is parked: ${COMMAND} outbox list --parked shows which are.`,
    );
  }
  if (sent === 0) return 'No row is parked.';
  return `${counted(sent, 'row')} will be sent again; a running server does so within seconds.`;
}
