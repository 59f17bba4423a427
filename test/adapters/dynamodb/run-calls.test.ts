import { expect, test } from '@jest/globals';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import { meterOf } from '../../support/dynamodb/meter.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import { testClock } from '../../support/harness.ts';
import { ACTION, runWorld } from '../../support/runs.ts';

describeOnDynamo('calls of the table for runs', () => {
  const world = dynamoWorld();

  test('one read and one write call for everything that takes effect, and one read for what is refused', async () => {
    const client = world.client();
    const clock = testClock();
    const store = world.open(clock, client);
    const { ana, cara, dan, ok, execute, decide, created, steps, observation } = runWorld(
      store,
      clock,
      'run-calls',
    );
    // What a process does once: it reads the settings and notes the tenant.
    await created('before');
    const meter = meterOf(client);
    const costs: string[] = [];
    const measure = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      meter.take();
      const result = await work();
      const calls = meter.take().map(({ operation, items }) => `${operation} ${items}`);
      costs.push(`${name}: ${calls.join(', ')}`);
      return result;
    };
    let run = await measure('create', () => created('slow'));
    await measure('create again', () => created('slow'));
    run = await measure('begin', () => steps(run, { do: 'begin' }));
    run = await measure('observe', () => steps(run, observation));
    run = await measure('propose', () => steps(run, { do: 'propose', action: ACTION }));
    await measure('refused decision', () => execute(ana, decide(run, true)));
    await measure('requester decides', () =>
      execute({ ...ana, scopes: cara.scopes }, decide(run, true)),
    );
    run = (await measure('approve with a key', () => ok(cara, decide(run, true, 'k1')))).run;
    await measure('replay', () => ok(cara, decide(run, true, 'k1')));
    await measure('same decision again', () => ok(dan, decide(run, true)));
    await measure('other decision', () => execute(dan, decide(run, false)));
    run = await measure('intend', () => steps(run, { do: 'intend', provider: 'builtin' }));
    const wrote = { provider: 'builtin', reference: 'T-1' };
    const fail = { do: 'fail', reason: 'X', message: 'm' } as const;
    run = await measure('fail', () => steps(run, fail));
    run = (await measure('resume', () => ok(ana, { type: 'resume_run', run: run.id }))).run;
    run = await measure('written', () => steps(run, { do: 'written', ...wrote }));
    run = await measure('verified', () => steps(run, { do: 'verified', ...wrote }));
    expect(run.state).toBe('completed');
    await store.close();
    expect(costs).toEqual([
      'create: TransactGetItems 1, TransactWriteItems 4',
      'create again: TransactGetItems 1, TransactGetItems 1',
      'begin: TransactGetItems 1, TransactWriteItems 2',
      'observe: TransactGetItems 1, TransactWriteItems 3',
      'propose: TransactGetItems 1, TransactWriteItems 3',
      'refused decision: ',
      'requester decides: TransactGetItems 1',
      'approve with a key: TransactGetItems 2, TransactWriteItems 4',
      'replay: TransactGetItems 2',
      'same decision again: TransactGetItems 1',
      'other decision: TransactGetItems 1',
      'intend: TransactGetItems 1, TransactWriteItems 2',
      'fail: TransactGetItems 1, TransactWriteItems 3',
      'resume: TransactGetItems 1, TransactWriteItems 3',
      'written: TransactGetItems 1, TransactWriteItems 2',
      'verified: TransactGetItems 1, TransactWriteItems 2',
    ]);
  });
});
