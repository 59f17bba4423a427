/** Kills sweeping processes in the middle, and has the next one go on after claims and lease are over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { rowKey } from '../../lib/core/dispatch/row.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { RECONCILE } from '../../lib/core/reconcile/timing.ts';
import { create, lockKey } from '../contract/storage/bench.ts';
import { makeService, principal, testClock } from './harness.ts';
import { Deliveries, doubled } from './history/deliveries.ts';
import { outboxOf } from './plans.ts';
import { startReceiver } from './receiver.ts';
import type { StoreOpener } from './writers.ts';

/** What the process is to do. */
export interface SweepTask {
  readonly opener: StoreOpener;
  readonly url: string;
  /** How far the clock of the process is ahead, in milliseconds. */
  readonly aheadMs: number;
}

/** What came of it. */
export interface KilledSweep {
  readonly rows: number;
  /** How many requests there were at each kill, and in all. */
  readonly kills: readonly number[];
  readonly deliveries: number;
  /** Distinct ids that the target took. */
  readonly effects: number;
  /** Rows that arrived under more than one id, and rows that never arrived. */
  readonly doubled: number;
  readonly lost: number;
  readonly left: number;
  /** What a sweep did that came before the lease of the dead one was over. */
  readonly whileHeld: number;
  /** Whether the drift was repaired, and by how many events. */
  readonly repairs: number;
}

const KILLS = 3;

/** Sweeps `rows` due rows of as many workflows, and one workflow that has lost its lock. */
export async function killedSweep(
  opener: StoreOpener,
  store: StorageBackend,
  tenant: string,
  rows: number,
): Promise<KilledSweep> {
  const clock = testClock(Date.now());
  const { service } = makeService(store, { clock });
  const started = await service.execute(
    principal({ tenant }),
    { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' },
    clock.now() + 30_000,
  );
  if (started.code !== 'OK') throw new Error(JSON.stringify(started));
  const { workflow: id } = started.receipt;
  await store.commit(
    {
      writes: [
        {
          op: 'update',
          key: lockKey(tenant, 'UNIT-1'),
          expect: {},
          set: { held: false },
          remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
        },
      ],
    },
    clock.now() + 30_000,
  );
  for (let from = 0; from < rows; from += 50) {
    const writes = Array.from({ length: Math.min(50, rows - from) }, (_, n) => {
      const payload = { kind: 'block', row: from + n };
      const names = { tenant, id: `k${from + n}` };
      const row = outboxOf(names, { lane: 'notify:target', seq: 1, payload, due_at: clock.now() });
      return create(rowKey(row), row);
    });
    await store.commit({ writes }, clock.now() + 30_000);
  }

  const history = new Deliveries();
  const kills: number[] = [];
  let kill: { readonly at: number; readonly now: () => void } | undefined;
  const target = await startReceiver((response, nth, { body, headers }) => {
    const key = String(headers['idempotency-key']);
    const { data } = JSON.parse(body) as { readonly data: { readonly row: number } };
    const arrived = (answered: boolean): void =>
      void history.arrived(`sweep ${kills.length}`, { of: `row ${data.row}`, id: key }, answered);
    if (kill !== undefined && nth >= kill.at) {
      // This very request gets no answer any more.
      arrived(false);
      kill.now();
      kill = undefined;
      kills.push(nth);
      response.destroy();
      return;
    }
    arrived(true);
    response.writeHead(204).end();
  });
  const sweep = async (aheadMs: number, diesAt?: number): Promise<void> => {
    const task: SweepTask = { opener, url: target.url, aheadMs: RECONCILE.checkMs + aheadMs };
    const script = join(import.meta.dirname, 'sweep-child.ts');
    const child = spawn(process.execPath, [script, JSON.stringify(task)], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
    });
    if (diesAt !== undefined) kill = { at: diesAt, now: () => child.kill('SIGKILL') };
    await once(child, 'close');
  };
  const leaseOverMs = RECONCILE.leaseMs + 60_000;
  try {
    for (let n = 0; n < KILLS; n++) {
      await sweep(n * leaseOverMs, Math.floor(((n + 1) * rows) / (KILLS + 1)));
    }
    const before = target.received.length;
    await sweep((KILLS - 1) * leaseOverMs + 1_000);
    const whileHeld = target.received.length - before;
    await sweep(KILLS * leaseOverMs);
    const told = history.operations.map(({ ask }) => ask);
    const events = await store.listEvents(tenant, id, { after: 1, limit: 10 });
    return {
      rows,
      kills,
      deliveries: target.received.length,
      effects: new Set(told.map(({ id }) => id)).size,
      doubled: doubled(history.operations).length,
      lost: rows - new Set(told.map(({ of }) => of)).size,
      left: (await store.listTenantOutbox(tenant, 100)).length,
      whileHeld,
      repairs: events.length,
    };
  } finally {
    await target.close();
  }
}
