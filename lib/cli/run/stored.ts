// Runs as `status` and `why` find them in a data folder.
import { verifyRecord } from '../../core/audit.ts';
import { display } from '../../core/display.ts';
import { readableEvent } from '../../core/events.ts';
import { LIMITS } from '../../core/limits.ts';
import { RUN_STATES, WORKING, type Run } from '../../core/model/run.ts';
import type { Overview } from '../../core/overview.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import { tenantsOf } from '../../core/tenants.ts';
import { chainText } from '../chain-words.ts';
import { boundedCount } from '../bounded-count.ts';
import { CliProblem } from '../failure.ts';
import { aligned, counted, lasted, wrapped } from '../text.ts';
import { eventLines, runLines } from './lines.ts';
import type { Answer } from './server.ts';

/** What waits for a decision is shown only where there is some, whatever has to be decided first at the top. */
export function undecidedSection({ undecided }: Overview, now: number): readonly string[] {
  if (undecided.items.length === 0) return [];
  const rows = undecided.items.map(({ kind, about, expires_at, id }) => {
    const left = Date.parse(expires_at) - now;
    const until = left < 0 ? 'its time is over' : `to be decided within ${lasted(left)}`;
    return [kind, display(about).text, until, id];
  });
  return [
    '  waits for a decision, earliest end first: see checkpoint run pending',
    ...aligned(rows, { indent: 4, give: 1 }),
    ...(undecided.more ? ['    and more'] : []),
  ];
}

/** Runs by state, without the states that none is in. */
export function runCounts({ runs }: Overview): readonly string[] {
  const counts = RUN_STATES.flatMap((state) =>
    runs[state] === 0 ? [] : [`${boundedCount(runs[state])} ${state}`],
  );
  return counts.length === 0 ? [] : wrapped(`runs: ${counts.join(', ')}`, 2);
}

/** Runs in the overview of a tenant: those at work, and those that failed. */
export async function runSection(
  store: StorageBackend,
  tenant: string,
  most: number,
  now: number,
): Promise<readonly string[]> {
  const rows: string[][] = [];
  let more = false;
  for (const state of [...WORKING, 'failed'] as const) {
    const page = await store.listRuns(tenant, state, { limit: most });
    more ||= page.next !== undefined;
    rows.push(...page.items.map((run) => cells(run, now)));
  }
  if (rows.length === 0) return [];
  const shown = aligned(rows.slice(0, most), { indent: 4, give: 1 });
  const rest = more || rows.length > most ? ['    and more'] : [];
  return ['  runs at work or failed: see checkpoint run show', ...shown, ...rest];
}

function cells({ id, state, service, created_at, end }: Run, now: number): string[] {
  const what = end?.code ?? `for ${lasted(now - Date.parse(created_at))}`;
  return [state, display(service).text, what, id];
}

/** Finds a run in one tenant or in all. Throws a problem where there is none. */
export async function storedRun(
  store: StorageBackend,
  id: string,
  tenant: string | undefined,
): Promise<Run> {
  for await (const name of tenantsOf(store, tenant)) {
    const [run] = await store.snapshot([{ kind: 'run', tenant: name, id }]);
    if (run !== undefined) return run;
  }
  throw new CliProblem(`There is no run ${id}.`);
}

/** The story of a run: its record, whether its trail verifies, and every event. */
export async function runStory(
  store: StorageBackend,
  run: Run,
): Promise<{ readonly lines: readonly string[]; readonly data: object }> {
  const { faults, events: count } = await verifyRecord(store, run);
  const events: Answer[] = [];
  for (let after = 0; after < run.head_seq;) {
    const page = await store.listEvents(run.tenant, run.id, { after, limit: LIMITS.pageItems.max });
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
    for (const event of page) {
      const { seq, type, at, actor, data } = readableEvent(event);
      const untrusted = data['untrusted'] === true;
      events.push({ seq, type, at, actor: { ...actor }, data, untrusted });
    }
  }
  const verdict =
    faults.length === 0
      ? `${counted(count, 'event')}, every one verifies`
      : `BROKEN: ${faults.map(chainText).join('; ')}`;
  const lines = [
    ...runLines(viewOf(run)),
    '',
    `trail: ${verdict}; head ${run.head_seq} ${run.head_hash.slice(0, 16)}…`,
    ...eventLines(events),
  ];
  return { lines, data: { run, events, verification: { events: count, faults } } };
}

/** The record under the names by which a server answers it. */
function viewOf(run: Run): Answer {
  const { proposal, approval, end, result } = run;
  const view = {
    run_id: run.id,
    status: run.state,
    service: run.service,
    symptom: run.symptom,
    requester: run.requester,
    attempt: run.attempt,
    ...(proposal !== undefined && {
      proposed_action: proposal.action,
      action_hash: proposal.action_hash,
      ...(proposal.missing !== undefined && { missing: proposal.missing }),
    }),
    ...(approval !== undefined && { approval: { ...approval, decided_by: approval } }),
    ...(end !== undefined && { ended: end }),
    ...(result !== undefined && { result }),
    ...(run.frozen !== undefined && { frozen: true }),
  };
  return view as unknown as Answer;
}
