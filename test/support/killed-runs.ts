/** Kills a process at one named point of a run's work, starts another one, and looks at what came of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { verifyRecord } from '../../lib/core/audit.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import type { StoreOpener } from './writers.ts';

/** What a process is to do. */
export interface RunTask {
  readonly opener: StoreOpener;
  readonly tenant: string;
  /** A run that another process has left; a new one where left out. */
  readonly run?: string;
  /** Where it ends itself, such as `before ticket`; nowhere where left out. */
  readonly point?: string;
}

/** The calls between approval and completion, in their order. */
export const CALLS = [
  'action_approved',
  'row claimed',
  'first read',
  'write_intended',
  'ticket',
  'write_made',
  'read-back',
  'run_completed',
] as const;

/** What came of a run. */
export interface KilledRun {
  readonly signal: NodeJS.Signals | null;
  readonly state: string | undefined;
  readonly tickets: number;
  /** Events of each type of the work. */
  readonly made: number;
  readonly completed: number;
  readonly faults: number;
  readonly gapless: boolean;
}

/** Kills at a point and lets another process go on. */
export async function killedRun(
  task: Omit<RunTask, 'run'> & { readonly store: StorageBackend },
): Promise<KilledRun> {
  const { opener, tenant, store, point } = task;
  const first = await ended({ opener, tenant, ...(point !== undefined && { point }) });
  const id = first.out.trim();
  const second = await ended({ opener, tenant, run: id });
  if (second.code !== 0) throw new Error(`the second process failed: ${second.err}`);
  const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
  if (run === undefined) throw new Error('the run is gone');
  const key = run.proposal?.action.idempotency_key ?? '';
  const [ticket] = await store.snapshot([{ kind: 'ticket', tenant, key }]);
  const events = (await store.listEvents(tenant, id, { after: 0, limit: 100 })).map(eventBody);
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const { faults } = await verifyRecord(store, run);
  const right = ticket?.action_hash === run.approval?.action_hash;
  return {
    signal: first.signal,
    state: run.state,
    tickets: ticket !== undefined && right ? 1 : 0,
    made: count('write_made'),
    completed: count('run_completed'),
    faults: faults.length,
    gapless: events.every(({ seq }, i) => seq === i + 1) && events.length === run.head_seq,
  };
}

async function ended(task: RunTask) {
  const script = join(import.meta.dirname, 'run-child.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, out, err };
}
