import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import validate from 'asl-validator';
import { verifyRecord } from '../../lib/core/audit.ts';
import type { Run } from '../../lib/core/model/run.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createRunService } from '../../lib/core/runs/service.ts';
import { ticketTable } from '../../lib/core/runs/ticket-table.ts';
import { createWorker, type Worker } from '../../lib/core/runs/worker.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createRunFunction } from '../../lib/lambda/run-handler.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock, testRandom, type TestClock } from '../support/harness.ts';
import { execute, runDefinition, type Executed } from '../support/lambda/machine.ts';
import { lambdaContext, observed } from '../support/lambda/observed.ts';
import { ACTION, runWorld } from '../support/runs.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

jest.setTimeout(120_000);

afterEach(() => {
  jest.restoreAllMocks();
});

interface Definition {
  readonly States: {
    readonly Work: { readonly TimeoutSeconds: number; readonly Retry: { MaxAttempts: number }[] };
    readonly More: { readonly Choices: { And: { NumericLessThan?: number }[] }[] };
  };
}

describe('the state machine of runs', () => {
  test('is valid to the published validator', () => {
    const { isValid, errorsText } = validate(runDefinition());
    expect([isValid, isValid ? '' : errorsText()]).toEqual([true, '']);
  });

  test('stays far below 25,000 events, whatever fails', () => {
    const { Work, More } = (runDefinition() as unknown as Definition).States;
    const rounds = More.Choices[0]?.And[1]?.NumericLessThan ?? Number.NaN;
    const attempts = 1 + (Work.Retry[0]?.MaxAttempts ?? Number.NaN);
    // Entered and exited; scheduled, started and ended once for each attempt; the choice; the ends.
    const events = rounds * (2 + attempts * 3 + 2) + 8;
    expect([rounds, attempts, events]).toEqual([8, 4, 136]);
  });

  test('waits for nobody: it has no wait, no callback, and every task has its time', () => {
    const text = JSON.stringify(runDefinition());
    expect(text).not.toMatch(/"Wait"|waitForTaskToken|"Timestamp/);
    expect((runDefinition() as unknown as Definition).States.Work.TimeoutSeconds).toBe(120);
  });
});

interface Opened {
  readonly store: StorageBackend;
  readonly clock: TestClock;
  readonly tenant: string;
  readonly close: () => Promise<void>;
}

describe('on sqlite', () => {
  machineCases(async () => {
    const files = sqliteFiles();
    const { clock } = files;
    return { store: await files.open(), clock, tenant: 'acme', close: () => files.remove() };
  });
});

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();
  let tenants = 0;
  machineCases(() => {
    const clock = testClock();
    const store = world.open(clock);
    const tenant = `machine-${tenants++}`;
    return Promise.resolve({ store, clock, tenant, close: () => store.close() });
  });
});

const noTools = () => Promise.reject(new Error('asked for tools'));

/** The machine over a store, with the real function behind its task. */
function machineCases(open: () => Promise<Opened>): void {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => opened.close());

  const workerOf = (asks = 0): Worker => {
    const { store, clock, tenant } = opened;
    const random = testRandom(`machine ${tenant}`);
    const secrets = secretsOf('a secret of at least thirty-two characters');
    return createWorker({
      store,
      service: createRunService({ store, clock, random, secrets, sinks: [] }),
      clock,
      planner: {
        name: 'asks first',
        plan: ({ evidence, misses }) =>
          Promise.resolve(
            evidence.length + misses.length < asks
              ? { next: 'ask', request: { server: 'ops', tool: 'status', arguments: {} } }
              : { next: 'propose', action: ACTION },
          ),
      },
      tickets: ticketTable(store, clock),
      evidence: {
        source: {
          servers: ['ops'],
          list: () => Promise.resolve([]),
          call: () => Promise.reject(new Error('nothing is allowed')),
          argumentFaults: () => [],
          close: () => Promise.resolve(),
        },
        allowlist: [],
        bounds: { steps: 4, callTimeoutMs: 1_000, outputBytes: 16_384 },
        clock,
      },
    });
  };

  const executed = (worker: Worker, run: Run, part: object = {}, remainingMs = 120_000) => {
    const { observers } = observed();
    const { handler } = createRunFunction(observers, () =>
      Promise.resolve({ worker, tools: noTools }),
    );
    const { tenant, id, attempt } = run;
    const machine = { definition: runDefinition(), tasks: ['Work'] };
    const input = { tenant, run: id, attempt, ...part };
    return execute(handler, input, `execution-${attempt}`, remainingMs, machine);
  };

  const world = () => runWorld(opened.store, opened.clock, opened.tenant);
  const soundEnd = async (run: Run) => {
    const { store, tenant } = opened;
    const end = await world().read(run.id);
    const key = end.proposal?.action.idempotency_key ?? '';
    const [ticket] = await store.snapshot([{ kind: 'ticket', tenant, key }]);
    const verdict = await verifyRecord(store, end);
    return [end.state, ticket?.reference === end.result?.reference, verdict.faults];
  };
  const rounds = ({ calls }: Executed): readonly unknown[] => calls.map(({ round }) => round);

  test('gathers and proposes in one execution, writes and verifies in the next, with a few bytes', async () => {
    const { created, read, ok, cara, decide } = world();
    const run = await created();
    const first = await executed(workerOf(2), run);
    const waiting = await read(run.id);
    expect([waiting.state, rounds(first)]).toEqual(['awaiting_approval', [0]]);
    const { run: approved } = await ok(cara, decide(waiting, true));
    const second = await executed(workerOf(), approved);
    expect(await soundEnd(run)).toEqual(['completed', true, []]);
    expect(Math.max(first.bytesMost, second.bytesMost)).toBeLessThan(300);
  });

  test('an execution of an older attempt, and one that comes again, change nothing', async () => {
    const { approved, read } = world();
    const run = await approved();
    await executed(workerOf(), run, { attempt: run.attempt - 1 });
    expect((await read(run.id)).version).toBe(run.version);
    await executed(workerOf(), run);
    const end = await read(run.id);
    await executed(workerOf(), run);
    expect(await read(run.id)).toEqual(end);
    expect(await soundEnd(run)).toEqual(['completed', true, []]);
  });

  test.each(['before', 'after'])(
    'a task that dies %s its work is tried again under the same attempt: one ticket',
    async (when) => {
      const run = await world().approved();
      let deaths = 0;
      const worker = workerOf();
      const dying: Worker = async (of, signal) => {
        if (when === 'after') await worker(of, signal);
        if (deaths++ === 0) throw new Error('killed');
        if (when === 'before') await worker(of, signal);
      };
      const { calls } = await executed(dying, run);
      expect(calls).toHaveLength(2);
      expect(await soundEnd(run)).toEqual(['completed', true, []]);
    },
  );

  test('work that the function has no time for goes on in another round, at most eight times', async () => {
    const run = await world().created();
    let began = 0;
    const worker = workerOf();
    const slow: Worker = async (of, signal) => {
      began += 1;
      if (began < 3) return expect(signal?.aborted).toBe(true);
      return worker(of);
    };
    // Less is left than one call may take, so every round says that there is more.
    await expect(executed(slow, run, {}, 30_000)).rejects.toThrow('did not come to its end');
    expect(began).toBe(8);
    expect((await world().read(run.id)).state).toBe('awaiting_approval');
  });

  test('a task that always fails ends the execution as unfinished, and leaves the run as it is', async () => {
    const run = await world().approved();
    const failing: Worker = () => Promise.reject(new Error('the pressure of Ana'));
    await expect(executed(failing, run)).rejects.toThrow('did not come to its end');
    expect(await world().read(run.id)).toEqual(run);
  });

  test.each([
    ['no tenant', { tenant: undefined }, 'expected tenant to be a text'],
    ['a run that is no text', { run: 7 }, 'expected run to be a text'],
    ['half an attempt', { attempt: 1.5 }, 'expected attempt to be a whole number from 0'],
    ['a round below nought', { round: -1 }, 'expected round to be a whole number from 0'],
  ])('%s is refused by name, and nothing is worked on', async (_what, part, message) => {
    const { observers } = observed();
    const worker: Worker = () => Promise.reject(new Error('worked'));
    const { handler } = createRunFunction(observers, () =>
      Promise.resolve({ worker, tools: noTools }),
    );
    const event = { tenant: 'acme', run: 'run-1', attempt: 1, ...part };
    await expect(handler(event, lambdaContext())).rejects.toThrow(message);
  });
}
