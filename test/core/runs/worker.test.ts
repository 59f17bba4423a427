// The worker on a real store, with every call of it cut off once, before and after its effect: the
// reconciler begins the next attempt, and there is one ticket at the end, and a trail without a gap.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createWorkPool } from '../../../lib/adapters/runtime/work-pool.ts';
import { verifyRecord } from '../../../lib/core/audit.ts';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { eventBody } from '../../../lib/core/events.ts';
import { definitionHash } from '../../../lib/core/evidence/definition.ts';
import type { Run } from '../../../lib/core/model/run.ts';
import {
  EvidenceError,
  type AdvertisedTool,
  type EvidenceSource,
} from '../../../lib/core/ports/evidence.ts';
import type { PlannedStep, Planner, PlannerInput } from '../../../lib/core/ports/planner.ts';
import { DeliveryError } from '../../../lib/core/ports/sink.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import type { TicketProvider } from '../../../lib/core/ports/tickets.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { starter } from '../../../lib/core/runs/execution.ts';
import { createRunService } from '../../../lib/core/runs/service.ts';
import { ticketTable } from '../../../lib/core/runs/ticket-table.ts';
import { RUN } from '../../../lib/core/runs/timing.ts';
import { createWorker } from '../../../lib/core/runs/worker.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { testRandom, testRegistry } from '../../support/harness.ts';
import { ACTION, runWorld } from '../../support/runs.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

jest.setTimeout(300_000);

const tenant = 'acme';
const status: AdvertisedTool = { server: 'ops', name: 'status', inputSchema: { type: 'object' } };
const request = { server: 'ops', tool: 'status', arguments: { service: 'checkout' } };

/** Asks once, and proposes with what there is. */
const asksOnce: Planner = {
  name: 'asks once',
  plan: ({ evidence, misses, budget }) => {
    const asked = evidence.length + misses.length > 0 || budget === 0;
    const step: PlannedStep = asked
      ? { next: 'propose', action: ACTION }
      : { next: 'ask', request };
    return Promise.resolve(step);
  },
};

let files: SqliteFiles;
let store: StorageBackend;
beforeEach(async () => {
  files = sqliteFiles();
  store = await files.open();
});
afterEach(() => files.remove());

/** A process with a worker: every call that leaves it goes through `through`. */
function processOf(
  through: <T>(call: () => Promise<T>) => Promise<T> = (call) => call(),
  part: {
    readonly planner?: Planner;
    readonly tickets?: TicketProvider;
    readonly steps?: number;
    readonly source?: Partial<EvidenceSource>;
  } = {},
) {
  const { clock } = files;
  const cut: StorageBackend = {
    ...store,
    snapshot: (keys) => through(() => store.snapshot(keys)),
    commit: (...args) => through(() => store.commit(...args)),
    listEvidence: (...args) => through(() => store.listEvidence(...args)),
  };
  const source: EvidenceSource = {
    servers: ['ops'],
    list: () => through(() => Promise.resolve([status])),
    call: () => through(() => Promise.resolve({ text: 'checkout: degraded', isError: false })),
    argumentFaults: () => [],
    close: () => Promise.resolve(),
    ...part.source,
  };
  const random = testRandom(`worker ${Math.random()}`);
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const { planner = asksOnce, tickets = ticketTable(cut, clock), steps = 4 } = part;
  return createWorker({
    store: cut,
    service: createRunService({ store: cut, clock, random, secrets, sinks: [] }),
    clock,
    planner,
    tickets,
    evidence: {
      source,
      allowlist: [{ server: 'ops', name: 'status', pin: definitionHash(status) }],
      bounds: { steps, callTimeoutMs: 1_000, outputBytes: 16_384 },
      clock,
    },
  });
}

/** A sweeper that starts work on a pool of this process, and waits until it has ended. */
function tending(work = processOf()) {
  const { clock } = files;
  const errors: unknown[] = [];
  const pool = createWorkPool({ work, onError: (error) => errors.push(error) });
  const parts = { store, clock, random: testRandom(`tending ${Math.random()}`) };
  const dispatcher = createDispatcher({ ...parts, sinks: [], starter: starter(store, pool) });
  const sweeper = createSweeper({
    ...parts,
    registry: testRegistry(),
    dispatcher,
    sinks: [],
    runPorts: { orchestrator: pool, tickets: ticketTable(store, clock) },
  });
  return {
    errors,
    sweep: () => sweeper.sweep(0, { goOn: () => true }),
    stop: () => pool.stop(60_000),
  };
}

/** Sweeps on, as time goes by, until the run waits for a person or has ended. */
async function tendUntil(run: Run, states: readonly Run['state'][]): Promise<Run> {
  const { read } = runWorld(store, files.clock, tenant);
  for (let n = 0; n < 12; n++) {
    const now = await read(run.id);
    if (states.includes(now.state)) return now;
    files.clock.advance(RUN.workMs);
    const one = tending();
    await one.sweep();
    await one.stop();
  }
  return read(run.id);
}

async function checkEnd(run: Run): Promise<void> {
  const key = run.proposal?.action.idempotency_key ?? '';
  const [ticket] = await store.snapshot([{ kind: 'ticket', tenant, key }]);
  expect(ticket).toMatchObject({ ...ACTION_FIELDS, action_hash: run.approval?.action_hash });
  expect(run).toMatchObject({
    state: 'completed',
    result: { provider: 'built-in', reference: ticket?.reference },
  });
  expect((await verifyRecord(store, run)).faults).toEqual([]);
  const events = await store.listEvents(tenant, run.id, { after: 0, limit: 100 });
  const types = events.map((event) => eventBody(event).type);
  for (const once of ['run_created', 'action_approved', 'write_made', 'run_completed'] as const) {
    expect([once, types.filter((type) => type === once).length]).toEqual([once, 1]);
  }
  expect(types.indexOf('write_intended')).toBeLessThan(types.indexOf('write_made'));
}
const { policy_version: _version, ...ACTION_FIELDS } = ACTION;

class Killed extends Error {}

/** Cuts off the nth call, before or after its effect, and every call after it: the process is gone. */
function killedAt(nth: number, when: 'before' | 'after') {
  let calls = 0;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    const n = ++calls;
    if (n > nth || (n === nth && when === 'before')) throw new Killed();
    const result = await call();
    if (n === nth) throw new Killed();
    return result;
  };
  return { through, calls: () => calls };
}

describe('a worker that is killed at any of its calls', () => {
  /** Plays a part of a run with a process that dies; answers whether it died at all. */
  const dies = async (run: Run, nth: number, when: 'before' | 'after'): Promise<boolean> => {
    const { through, calls } = killedAt(nth, when);
    const { id, attempt } = run;
    await processOf(through)({ tenant, run: id, attempt }).catch((error: unknown) => {
      // A store that is gone may be told as a fault of the delivery.
      if (!(error instanceof Killed)) throw error;
    });
    return calls() >= nth;
  };

  test.each(['before', 'after'] as const)('%s its effect, while it gathers', async (when) => {
    const { created, cara, ok, decide } = runWorld(store, files.clock, tenant);
    let killed = 0;
    for (let nth = 1; ; nth++) {
      const run = await created(`gathering ${nth}`);
      if (!(await dies(run, nth, when))) break;
      killed += 1;
      const waiting = await tendUntil(run, ['awaiting_approval', 'failed']);
      expect([nth, waiting.state]).toEqual([nth, 'awaiting_approval']);
      const approved = await ok(cara, decide(waiting, true));
      await checkEnd(await tendUntil(approved.run, ['completed', 'failed']));
    }
    process.stdout.write(`killed ${when} each of ${killed} calls while gathering\n`);
    expect(killed).toBeGreaterThan(10);
  });

  test.each(['before', 'after'] as const)('%s its effect, while it writes', async (when) => {
    const { approved } = runWorld(store, files.clock, tenant);
    let killed = 0;
    for (let nth = 1; ; nth++) {
      const run = await approved(`writing ${nth}`);
      if (!(await dies(run, nth, when))) break;
      killed += 1;
      await checkEnd(await tendUntil(run, ['completed', 'failed']));
    }
    process.stdout.write(`killed ${when} each of ${killed} calls while writing\n`);
    expect(killed).toBeGreaterThan(8);
  });
});

describe('a worker', () => {
  const worksOn = (run: Run, work = processOf()) =>
    work({ tenant, run: run.id, attempt: run.attempt });
  const notingTickets = () => {
    const table = ticketTable(store, files.clock);
    const calls: string[] = [];
    const tickets: TicketProvider = {
      ...table,
      create: (order, deadline) => {
        calls.push('create');
        return table.create(order, deadline);
      },
      find: (...args) => {
        calls.push('find');
        return table.find(...args);
      },
    };
    return { tickets, calls };
  };

  test('gathers, proposes, and after the approval writes, reads back and completes', async () => {
    const { created, cara, ok, decide, read } = runWorld(store, files.clock, tenant);
    const run = await created();
    await worksOn(run);
    const waiting = await read(run.id);
    expect(waiting).toMatchObject({ state: 'awaiting_approval', observations: 1 });
    const approved = (await ok(cara, decide(waiting, true))).run;
    await worksOn(approved);
    await checkEnd(await read(run.id));
  });

  test('shows its planner what was observed, what was asked in vain, and what is left', async () => {
    const seen: PlannerInput[] = [];
    const planner: Planner = {
      name: 'noting',
      plan: (input) => {
        seen.push({ ...input, misses: [...input.misses] });
        const nth = seen.length;
        if (nth === 1) return Promise.resolve({ next: 'ask', request: { ...request, tool: 'rm' } });
        return asksOnce.plan({ ...input, misses: nth === 2 ? [] : input.misses }, 0);
      },
    };
    const { created, read } = runWorld(store, files.clock, tenant);
    const run = await created();
    await worksOn(run, processOf(undefined, { planner, steps: 2 }));
    expect(seen.map(({ evidence, misses, budget }) => [evidence.length, misses, budget])).toEqual([
      [0, [], 2],
      [0, [{ server: 'ops', tool: 'rm', code: 'TOOL_REFUSED' }], 1],
      [1, [{ server: 'ops', tool: 'rm', code: 'TOOL_REFUSED' }], 0],
    ]);
    expect((await read(run.id)).state).toBe('awaiting_approval');
  });

  test('that is asked for more than its budget fails the run, and calls nothing', async () => {
    const planner: Planner = {
      name: 'greedy',
      plan: () => Promise.resolve({ next: 'ask', request }),
    };
    const { created, read } = runWorld(store, files.clock, tenant);
    const run = await created();
    await worksOn(run, processOf(undefined, { planner, steps: 2 }));
    expect(await read(run.id)).toMatchObject({
      state: 'failed',
      observations: 2,
      end: { code: 'STEP_BUDGET_EXCEEDED' },
    });
  });

  test.each([
    ['of an attempt that is over', (run: Run) => ({ ...run, attempt: 1 })],
    ['of an attempt that is yet to come', (run: Run) => ({ ...run, attempt: 3 })],
  ])('%s sends nothing', async (_what, as) => {
    const { approved, read } = runWorld(store, files.clock, tenant);
    const { tickets, calls } = notingTickets();
    const run = await approved();
    await worksOn(as(run), processOf(undefined, { tickets }));
    expect(calls).toEqual([]);
    expect(await read(run.id)).toEqual(run);
  });

  test('that comes after the last moment to send looks, and sends nothing', async () => {
    const { approved, read } = runWorld(store, files.clock, tenant);
    const { tickets, calls } = notingTickets();
    const run = await approved();
    files.clock.advance(RUN.approveMs + RUN.sendMs + 1);
    await worksOn(run, processOf(undefined, { tickets }));
    expect(calls).toEqual(['find']);
    expect((await read(run.id)).state).toBe('executing');
  });

  test('takes what was approved and nothing else: a changed record is not sent', async () => {
    const { approved } = runWorld(store, files.clock, tenant);
    const { tickets, calls } = notingTickets();
    const run = await approved();
    const { proposal } = run;
    if (proposal === undefined) throw new Error('there is a proposal');
    for (const [name, value] of Object.entries({
      target: 'elsewhere',
      arguments: { summary: 'Checkout fails', severity: 'low' },
      idempotency_key: 'other',
    })) {
      const action = { ...proposal.action, [name]: value };
      const set = { proposal: JSON.parse(JSON.stringify({ ...proposal, action })) as never };
      const key = { kind: 'run', tenant, id: run.id } as const;
      const writes = [{ op: 'update', key, expect: {}, set }] as const;
      expect(await store.commit({ writes }, files.clock.now() + 1_000)).toEqual({ ok: true });
      await worksOn(run, processOf(undefined, { tickets }));
    }
    expect(calls).not.toContain('create');
  });

  test('that finds something else under its key fails the run, naming what differs', async () => {
    const { approved, read } = runWorld(store, files.clock, tenant);
    const run = await approved();
    const table = ticketTable(store, files.clock);
    const tickets: TicketProvider = {
      ...table,
      find: async (...args) => {
        const found = await table.find(...args);
        return found && { ...found, arguments: { ...found.arguments, severity: 'low' } };
      },
    };
    await worksOn(run, processOf(undefined, { tickets }));
    const failed = await read(run.id);
    expect(failed).toMatchObject({
      state: 'failed',
      end: { code: 'READ_BACK_DIFFERS', from: 'verifying' },
    });
    expect(failed.end?.message).toContain('arguments.severity');
    expect(failed.end?.message).not.toContain('low');
  });

  test.each([
    ['retryable', 'executing', undefined],
    ['unknown', 'executing', undefined],
    ['terminal', 'failed', 'WRITE_REFUSED'],
  ] as const)('whose write fails as %s leaves the run %s', async (kind, state, code) => {
    const { approved, read } = runWorld(store, files.clock, tenant);
    const run = await approved();
    const tickets: TicketProvider = {
      ...ticketTable(store, files.clock),
      create: () => Promise.reject(new DeliveryError(kind, 'HTTP 4xx')),
    };
    const working = worksOn(run, processOf(undefined, { tickets }));
    if (kind === 'terminal') await working;
    else await expect(working).rejects.toMatchObject({ kind });
    const now = await read(run.id);
    expect([now.state, now.end?.code]).toEqual([state, code]);
    if (kind === 'terminal') return;
    // The next attempt writes under the same key.
    await checkEnd(await tendUntil(run, ['completed', 'failed']));
  });

  test('begins nothing more once it is told to end', async () => {
    const { approved, read } = runWorld(store, files.clock, tenant);
    const { tickets, calls } = notingTickets();
    const run = await approved();
    const work = processOf(undefined, { tickets });
    await work({ tenant, run: run.id, attempt: run.attempt }, AbortSignal.abort());
    expect(calls).toEqual([]);
    expect(await read(run.id)).toEqual(run);
  });
});

test('a process that is asked to end while a tool is asked leaves its run as it was', async () => {
  const ending = new AbortController();
  const source = {
    call: () => {
      // What a source answers whose process ends: every connection is closed.
      ending.abort();
      throw new EvidenceError('SERVER_UNREACHABLE', 'ops', 'the source was closed');
    },
  };
  const { created, read } = runWorld(store, files.clock, tenant);
  const { id, attempt } = await created();
  await processOf(undefined, { source, steps: 1 })({ tenant, run: id, attempt }, ending.signal);
  expect(await read(id)).toMatchObject({ state: 'gathering', evidence: [], attempt: 1 });
  const run = await tendUntil(await read(id), ['awaiting_approval', 'failed']);
  expect([run.state, run.evidence.length, run.proposal?.missing]).toEqual([
    'awaiting_approval',
    1,
    undefined,
  ]);
});
