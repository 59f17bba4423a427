// What was approved is changed in the store afterwards, one bound field after the other: nothing is written
// outside, on each backend.
import { expect, test } from '@jest/globals';
import type { Json } from '../../lib/core/json.ts';
import type { Action } from '../../lib/core/model/run.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import type { TicketProvider } from '../../lib/core/ports/tickets.ts';
import { BOUND_FIELDS } from '../../lib/core/runs/action.ts';
import { ticketTable } from '../../lib/core/runs/ticket-table.ts';
import { createWorker } from '../../lib/core/runs/worker.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock, type TestClock } from '../support/harness.ts';
import { runWorld } from '../support/runs.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

/** Another value of each field, which would do something else or do it later. */
const OTHER: { readonly [F in keyof Action]: Json } = {
  type: 'ticket.delete',
  target: 'elsewhere',
  arguments: { summary: 'Checkout fails', severity: 'low' },
  evidence: ['f'.repeat(64)],
  policy_version: 'incident-tickets@2',
  idempotency_key: 'another key',
  requester: 'dev:cara',
  expires_at: '2099-01-01T00:00:00.000Z',
  not_after: '2099-01-01T00:00:00.000Z',
};

async function changedAfterApproval(
  store: StorageBackend,
  clock: TestClock,
  tenant: string,
  field?: keyof Action,
): Promise<void> {
  const { approved, read, service } = runWorld(store, clock, tenant);
  const run = await approved(`the ${field ?? 'whole'} is changed`);
  const { proposal } = run;
  if (proposal === undefined) throw new Error('there is a proposal');
  const action = { ...proposal.action, ...(field !== undefined && { [field]: OTHER[field] }) };
  const set = { proposal: JSON.parse(JSON.stringify({ ...proposal, action })) as Json };
  const key = { kind: 'run', tenant, id: run.id } as const;
  const change = { op: 'update', key, expect: {}, set } as const;
  expect(await store.commit({ writes: [change] }, clock.now() + 10_000)).toEqual({ ok: true });
  const sent: string[] = [];
  const table = ticketTable(store, clock);
  const tickets: TicketProvider = {
    ...table,
    create: (order, deadlineMs) => {
      sent.push(order.key);
      return table.create(order, deadlineMs);
    },
  };
  const works = createWorker({
    store,
    service,
    clock,
    planner: { name: 'none', plan: () => Promise.reject(new Error('it is approved already')) },
    evidence: {
      source: {
        servers: [],
        list: () => Promise.resolve([]),
        call: () => Promise.reject(new Error('nothing is asked')),
        argumentFaults: () => [],
        close: () => Promise.resolve(),
      },
      allowlist: [],
      bounds: { steps: 1, callTimeoutMs: 1_000, outputBytes: 1_024 },
      clock,
    },
    tickets,
  });
  await works({ tenant, run: run.id, attempt: run.attempt });
  const { idempotency_key } = proposal.action;
  const kept = await Promise.all(
    [idempotency_key, 'another key'].map((name) =>
      store.snapshot([{ kind: 'ticket', tenant, key: name }]),
    ),
  );
  const written = kept.flat().filter((ticket) => ticket !== undefined).length;
  const { result } = await read(run.id);
  const effects = [sent.length, written, result === undefined ? 0 : 1];
  // As it was approved it is written, so that the refusals are about the change.
  expect(effects).toEqual(field === undefined ? [1, 1, 1] : [0, 0, 0]);
}

test('every bound field has another value here', () => {
  expect(Object.keys(OTHER).toSorted()).toEqual([...BOUND_FIELDS].toSorted());
});

test.each([undefined, ...BOUND_FIELDS])(
  'sqlite: with another %s nothing is written',
  async (field) => {
    const files = sqliteFiles();
    try {
      await changedAfterApproval(await files.open(), files.clock, 'acme', field);
    } finally {
      await files.remove();
    }
  },
);

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();

  test.each([undefined, ...BOUND_FIELDS])('with another %s nothing is written', async (field) => {
    const clock = testClock();
    const store = world.open(clock);
    await changedAfterApproval(
      store,
      clock,
      `bound-${(field ?? 'none').replaceAll('_', '-')}`,
      field,
    );
    await store.close();
  });
});
