/** Kills a working process again and again and compares what a target got with what the trails say. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventBody } from '../../lib/core/events.ts';
import { verifyAll } from '../../lib/core/audit.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { STEPS, type EffectsTask } from './effects.ts';
import { Deliveries, doubled } from './history/deliveries.ts';
import { startReceiver } from './receiver.ts';
import type { StoreOpener } from './writers.ts';

/** What is to be done, and how often the process is killed on the way. */
export interface KilledEffects {
  readonly opener: StoreOpener;
  /** The same data, for the test itself. */
  readonly store: StorageBackend;
  readonly tenant: string;
  readonly workflows: number;
  readonly kills: number;
}

/** What came of it. */
export interface EffectsReport {
  /** Effects that the trails promise. */
  readonly expected: number;
  readonly kills: number;
  /** Kills while the target had a request that it had not answered. */
  readonly killedUnanswered: number;
  /** Requests that reached the target. */
  readonly deliveries: number;
  readonly lost: number;
  /** Effects at a target that honours ids, beyond the first of each. */
  readonly doubled: number;
  readonly left: number;
  readonly trailsVerify: boolean;
}

/** Works `workflows` workflows with three effects each to the end. */
export async function killedEffects(task: KilledEffects): Promise<EffectsReport> {
  const todo = new Set(Array.from({ length: task.workflows }, (_, i) => `U-${i + 1}`));
  const effects = new Map<string, { readonly workflow: string; readonly seq: number }>();
  const history = new Deliveries();
  let kills = 0;
  let killedUnanswered = 0;
  let child: ChildProcess | undefined;
  const effectsPerKill = Math.floor((task.workflows * STEPS.length) / (task.kills + 1));

  const target = await startReceiver((response, nth, { body, headers }) => {
    const id = String(headers['idempotency-key']);
    const { data } = JSON.parse(body) as {
      readonly data: { readonly workflow: string; readonly head_seq: number };
    };
    // The target honours ids: only the first request with an id has an effect.
    const effect = { workflow: data.workflow, seq: data.head_seq };
    if (!effects.has(id)) effects.set(id, effect);
    const arrived = (answered: boolean): void => {
      const delivery = { of: `${effect.workflow} ${effect.seq}`, id };
      void history.arrived(`process ${kills}`, delivery, answered);
    };
    const due = effects.size >= (kills + 1) * effectsPerKill && kills < task.kills;
    if (due && child?.exitCode === null && child.signalCode === null) {
      kills += 1;
      // Every second kill hits while this very request waits for its answer.
      if (kills % 2 === 0) {
        killedUnanswered += 1;
        arrived(false);
        child.kill('SIGKILL');
        response.destroy();
        return;
      }
      setTimeout(() => child?.kill('SIGKILL'), nth % 10);
    }
    arrived(true);
    response.writeHead(204).end();
  });

  try {
    const expected = task.workflows * STEPS.length;
    for (
      let round = 0;
      todo.size > 0 || effects.size < expected || (await left(task)) > 0;
      round++
    ) {
      if (round > task.kills * 2 + 10) break;
      child = start({
        opener: task.opener,
        url: target.url,
        tenant: task.tenant,
        assets: [...todo],
        aheadMs: round * 120_000,
      });
      await workedOrKilled(
        child,
        todo,
        async () => effects.size >= expected && (await left(task)) === 0,
      );
    }
    const promised = await promises(task);
    const got = new Set([...effects.values()].map(({ workflow, seq }) => `${workflow} ${seq}`));
    return {
      expected: promised.length,
      kills,
      killedUnanswered,
      deliveries: target.received.length,
      lost: promised.filter((name) => !got.has(name)).length,
      doubled: doubled(history.operations).length,
      left: await left(task),
      trailsVerify: await verifies(task.store),
    };
  } finally {
    child?.kill('SIGKILL');
    await target.close();
  }
}

function start(task: EffectsTask): ChildProcess {
  const script = join(import.meta.dirname, 'effects-child.ts');
  return spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
}

/** Resolves once the child has been killed, or once everything is done, and then ends it. */
async function workedOrKilled(
  child: ChildProcess,
  todo: Set<string>,
  over: () => Promise<boolean>,
): Promise<void> {
  const closed = once(child, 'close');
  let worked = false;
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'worked') worked = true;
      else todo.delete(line);
    });
  }
  const until = Date.now() + 60_000;
  while (child.exitCode === null && child.signalCode === null) {
    await Promise.race([closed, sleep(100)]);
    if ((worked && (await over())) || Date.now() > until) break;
  }
  child.kill('SIGKILL');
  await closed;
}

async function left({ store, tenant }: KilledEffects): Promise<number> {
  return (await store.listTenantOutbox(tenant, 100)).length;
}

/** What the trails of the tenant say must have been told: workflow and sequence. */
async function promises({ store, tenant }: KilledEffects): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.listWorkflows(tenant, 'COMPLETED', {
      limit: 100,
      ...(after !== undefined && { after }),
    });
    for (const { id } of page.items) {
      for (const event of await store.listEvents(tenant, id, { after: 0, limit: 100 })) {
        const { seq, data } = eventBody(event);
        if (data['result'] === 'recorded_with_warning') found.push(`${id} ${seq}`);
      }
    }
    after = page.next;
  } while (after !== undefined);
  return found;
}

async function verifies(store: StorageBackend): Promise<boolean> {
  for await (const report of verifyAll(store)) if (report.faults.length > 0) return false;
  return true;
}
