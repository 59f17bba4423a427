/** What the functions really emit: the handlers run over a real store, and their EMF lines are parsed. */
import { jest } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../lib/adapters/sqlite/store.ts';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { rowKey } from '../../../lib/core/dispatch/row.ts';
import { DeliveryError } from '../../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { dueShards } from '../../../lib/core/reconcile/due-shards.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { createHttpFunction } from '../../../lib/lambda/http-handler.ts';
import { createObservers, type Observers } from '../../../lib/lambda/observers.ts';
import { createReconcileFunction } from '../../../lib/lambda/reconcile-handler.ts';
import { createRelayFunction } from '../../../lib/lambda/relay-handler.ts';
import { createRunFunction } from '../../../lib/lambda/run-handler.ts';
import { serviceName, type FunctionName } from '../../../lib/settings/metric-names.ts';
import { makeService, principal, testClock, testRandom, testRegistry } from '../harness.ts';
import { outboxOf } from '../plans.ts';
import { lambdaContext } from './observed.ts';

/** Every metric that was emitted, as `namespace name dimension=value`. */
export interface Emitted {
  readonly names: ReadonlySet<string>;
}

interface EmfLine {
  readonly [member: string]: unknown;
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
}

/** Runs each function so that it has something of everything to tell. */
export async function emittedMetrics(stage: string): Promise<Emitted> {
  const lines: string[] = [];
  process.env['POWERTOOLS_DEV'] = 'true';
  // On a machine of a developer nothing is emitted otherwise.
  process.env['POWERTOOLS_METRICS_DISABLED'] = 'false';
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(console, name).mockImplementation((line: unknown) => {
      lines.push(String(line));
    });
  }
  const as = (name: FunctionName): Observers => {
    process.env['POWERTOOLS_SERVICE_NAME'] = serviceName(stage, name);
    return createObservers();
  };
  await answer(as('http'));
  await relay(as('relay'));
  await reconcile(as('reconcile'));
  await works(as('run'));
  return { names: new Set(lines.flatMap(namesIn)) };
}

/** A function that cannot start, and is asked to work. */
async function works(observers: Observers): Promise<void> {
  const refused = (): Promise<never> => Promise.reject(new Error('nothing is set'));
  const { handler, started } = createRunFunction(observers, refused);
  await started;
  const work = { tenant: 'plant', run: 'run-1', attempt: 1 };
  await handler(work, lambdaContext(60_000)).catch(() => undefined);
}

function namesIn(line: string): readonly string[] {
  let parsed: EmfLine;
  try {
    parsed = JSON.parse(line) as EmfLine;
  } catch {
    return [];
  }
  return (parsed._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name }) =>
        [Namespace, Name, ...names.map((name) => `${name}=${String(parsed[name])}`)].join(' '),
      ),
    ),
  );
}

async function answer(observers: Observers): Promise<void> {
  const told = { duplicate: true, ms: 7 };
  for (const code of ['OK', 'IDEMPOTENCY_CONFLICT', 'ASSET_BUSY']) {
    observers.onToolCall({ tool: 'record_step', code, ...told });
  }
  let starts = 0;
  const { handler } = createHttpFunction(observers, () => {
    starts += 1;
    // A process that cannot start at first tries again.
    if (starts === 1) return Promise.reject(new Error('planted'));
    const fetch = (request: Request): Promise<Response> => {
      if (request.url.endsWith('/hang')) return new Promise(() => undefined);
      observers.onFault({ code: 'BACKEND_UNAVAILABLE', kind: 'retryable' } as never, 'x', 'r');
      return Promise.resolve(new Response('{}', { status: 500 }));
    };
    return Promise.resolve({ fetch } as never);
  });
  const http = { method: 'GET' };
  for (const path of ['/health', '/health', '/hang']) {
    const context = { domainName: 'a.example', http };
    const event = { rawPath: path, requestContext: context, headers: { host: 'a.example' } };
    await handler(event as never, lambdaContext(path === '/hang' ? 1_100 : 60_000));
  }
}

async function withRows(observers: Observers) {
  const clock = testClock();
  const random = testRandom('emitted');
  const path = join(mkdtempSync(join(tmpdir(), 'checkpoint-emitted-')), 'checkpoint.sqlite');
  const store = await openSqliteStore({ path, lockTimeoutMs: 1_000, clock, random });
  const rows = ['good', 'failing', 'refused'].map((id) => {
    const at = new Date(Date.now() - 60_000).toISOString();
    const payload = { kind: 'block', workflow: id, at };
    return outboxOf({ tenant: 'plant', id }, { seq: 1, payload, due_at: clock.now() });
  });
  for (const row of rows) {
    await store.commit(
      { writes: [{ op: 'create', key: rowKey(row), item: row }] },
      clock.now() + 9_000,
    );
  }
  const sink = {
    name: 'log',
    deliver: ({ payload }: { readonly payload: { readonly [name: string]: unknown } }) => {
      if (payload['workflow'] === 'good') return Promise.resolve();
      const kind = payload['workflow'] === 'failing' ? 'retryable' : 'terminal';
      return Promise.reject(new DeliveryError(kind, 'HTTP 500'));
    },
  };
  const { onDelivery } = observers;
  const dispatcher = createDispatcher({ store, clock, random, sinks: [sink], onDelivery });
  return { store, clock, random, dispatcher, rows };
}

async function relay(observers: Observers): Promise<void> {
  const { store, dispatcher, rows } = await withRows(observers);
  const lanes = new Map(rows.map((row) => [row.workflow, row]));
  const { handler } = createRelayFunction(observers, () =>
    Promise.resolve({ dispatcher, laneOf: (keys) => lanes.get(String(keys)) }),
  );
  const Records = [...lanes.keys(), 'foreign'].map((Keys) => ({ dynamodb: { Keys } }));
  await handler({ Records }, lambdaContext());
  await store.close();
}

async function reconcile(observers: Observers): Promise<void> {
  const { store, clock, random, dispatcher } = await withRows(observers);
  const { service } = makeService(store, { clock });
  const who = principal({ tenant: 'plant' });
  for (const asset of ['UNIT-1', 'UNIT-2']) {
    const command = { type: 'start_workflow', procedure: 'sample', asset } as const;
    await service.execute(who, command, clock.now() + 9_000);
  }
  const [broken, drifted] = (await store.listWorkflows('plant', 'CREATED', { limit: 2 })).items;
  if (broken === undefined || drifted === undefined) throw new Error('nothing was started');
  const { tenant, id: workflow } = broken;
  await store.commit(
    {
      writes: [
        {
          op: 'update',
          key: { kind: 'event', tenant, workflow, seq: 1 },
          expect: {},
          set: { text: '{}' },
        },
        {
          op: 'update',
          key: { kind: 'lock', tenant, asset: drifted.asset },
          expect: {},
          set: { held: false },
          remove: ['workflow', 'procedure', 'subject', 'name', 'since'],
        },
      ],
    },
    clock.now() + 9_000,
  );
  clock.advance(4_000_000);
  let overtaken = false;
  const losing: StorageBackend = {
    ...store,
    renewLease: (lease, until) =>
      overtaken ? Promise.resolve(undefined) : store.renewLease(lease, until),
  };
  const { onFinding } = observers;
  const registry = testRegistry();
  const parts = { store: losing, clock, random, dispatcher, registry, sinks: ['log'], onFinding };
  const { handler } = createReconcileFunction(observers, () =>
    Promise.resolve({
      dueShards: () => dueShards(store, clock.now()),
      sweeper: createSweeper(parts),
    }),
  );
  const run = (event: object) => handler(event, lambdaContext());
  await run({ task: 'look' });
  await run({ task: 'sweep', shard: 0 });
  overtaken = true;
  clock.advance(4_000_000);
  await run({ task: 'sweep', shard: 0 });
  await run({ task: 'report', shards: [{ shard: 0, failed: true }] });
  await store.close();
}
