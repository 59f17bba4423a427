// `checkpoint status`: what is going on, one screen per tenant.
import type { Workflow } from '../../core/model/workflow.ts';
import { overviewOf, type Overview } from '../../core/overview.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { tenantsOf } from '../../core/tenants.ts';
import { aligned, lasted, shownTime } from '../text.ts';
import { boundedCount } from '../bounded-count.ts';
import { runCounts, runSection, undecidedSection } from '../run/stored.ts';
import { waitingCells } from './outbox.ts';
import { deadlineTexts } from './times.ts';

/** As many as stand on one screen beside each other. */
const SHOWN = 10;

/** The lines of one tenant, or of every tenant that has a workflow or a run, oldest things first. */
export async function* statusLines(
  store: StorageBackend,
  tenant: string | undefined,
  now: number,
): AsyncGenerator<string> {
  let first = true;
  for await (const name of tenantsOf(store, tenant)) {
    if (!first) yield '';
    first = false;
    const overview = await overviewOf(store, name, SHOWN, now);
    yield* overviewLines(overview, now);
    yield* undecidedSection(overview, now);
    yield* runCounts(overview);
    yield* await runSection(store, name, SHOWN, now);
  }
  if (first) yield 'There is no workflow and no run yet.';
}

function overviewLines(
  { tenant, counts, sweptAt, ...lists }: Overview,
  now: number,
): readonly string[] {
  const { locks, blocked, timed, outbox, parked, findings } = lists;
  const count = Object.entries(counts).map(([state, n]) => `${state} ${boundedCount(n)}`);
  const since = (at: string | undefined): string =>
    at === undefined ? '?' : lasted(now - Date.parse(at));
  return [
    `tenant ${tenant}, ${shownTime(now)} UTC`,
    `  ${count.join('   ')}`,
    ...section(
      'locks, longest held first',
      locks.items.map(({ asset, name = '?', procedure = '?', since: at, workflow = '?' }) => [
        asset,
        `held by ${name}`,
        `for ${since(at)}`,
        procedure,
        workflow,
      ]),
      locks.more,
    ),
    ...section(
      'blocked, longest running first',
      blocked.items.map(({ asset, holder, block, id }: Workflow) => [
        asset,
        `with ${holder.name}`,
        `for ${since(block?.at)}`,
        block?.message ?? '?',
        id,
      ]),
      blocked.more,
    ),
    ...(timed.items.length === 0 ? [] : timedSection(timed, now)),
    ...section(
      'outbox, earliest due first',
      outbox.items.map((row) => [row.lane, ...waitingCells(row, now), row.workflow]),
      outbox.more,
    ),
    ...(parked.items.length === 0 ? [] : parkedSection(parked, now)),
    ...(findings.items.length === 0 ? [] : findingsSection(findings)),
    `  last sweep with work: ${sweptAt === undefined ? 'none since yesterday' : `${since(sweptAt)} ago`}`,
  ];
}

/** Deadlines are shown only where there are some. */
function timedSection(timed: Overview['timed'], now: number): readonly string[] {
  const rows = timed.items.map((workflow) => [
    workflow.asset,
    `with ${workflow.holder.name}`,
    workflow.state,
    deadlineTexts(workflow, now)[0] ?? '',
    workflow.id,
  ]);
  return section('deadlines, earliest first', rows, timed.more);
}

/** What waits for a person is shown only where there is some, with what to do about it. */
function parkedSection(parked: Overview['parked'], now: number): readonly string[] {
  const rows = parked.items.map((row) => [row.lane, ...waitingCells(row, now), row.id]);
  return section('parked, oldest first: see checkpoint outbox list --parked', rows, parked.more);
}

/** Drift that nobody has put right, frozen work included. */
function findingsSection(findings: Overview['findings']): readonly string[] {
  const rows = findings.items.map(({ rule, what, workflow }) => [rule, what, workflow]);
  return section('found and left for a person, by the reconciler', rows, findings.more);
}

function section(
  title: string,
  rows: readonly (readonly string[])[],
  more: boolean,
): readonly string[] {
  if (rows.length === 0) return [`  ${title.split(',')[0] ?? ''}: none`];
  // The ids at the end are copied from here, so what stands before them gives way.
  const lines = aligned(rows, { indent: 4, give: 3 });
  return [`  ${title}`, ...lines, ...(more ? ['    and more'] : [])];
}
