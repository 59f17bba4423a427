/** A session of two people, command by command, with the calls of the table that each one costs. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Command, StepInput } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { createQueries } from '../../../lib/core/queries.ts';
import { makeService, principal, testRegistry, type TestClock } from '../harness.ts';
import { meterOf, type MeteredCall } from './meter.ts';

/** What one command cost. */
export interface Cost {
  readonly name: string;
  readonly calls: readonly MeteredCall[];
}

/** What a session needs. */
export interface SessionParts {
  readonly client: DynamoDBDocumentClient;
  readonly store: StorageBackend;
  readonly clock: TestClock;
}

const TENANT = 'acme';

/** Plays the session; every command is under a key of its own, and nobody else is at work. */
export async function meteredSession({ client, store, clock }: SessionParts): Promise<Cost[]> {
  const meter = meterOf(client);
  const { ok, execute } = makeService(store, { clock });
  const queries = createQueries(store, testRegistry());
  const ana = principal({ tenant: TENANT });
  const sam = principal({
    tenant: TENANT,
    subject: 'dev:sam',
    name: 'Sam',
    scopes: ['procedures:supervise'],
  });
  const costs: Cost[] = [];
  const measure = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    meter.take();
    const result = await work();
    costs.push({ name, calls: meter.take() });
    return result;
  };
  const start = (asset: string): Command => ({
    type: 'start_workflow',
    procedure: 'sample',
    asset,
    key: `start ${asset}`,
  });
  const record = (workflow: string, step: string, input: StepInput): Command => ({
    type: 'record_step',
    workflow,
    step,
    input,
    key: `${workflow} ${step}`,
  });
  const yes = { kind: 'confirm', confirmed: true } as const;
  const no = { kind: 'confirm', confirmed: false } as const;

  // What a process does once: it looks at the table before it serves.
  await store.check();
  await measure('first start of a tenant in a process', () => ok(ana, start('UNIT-1')));
  const begun = await measure('start', () => ok(ana, start('UNIT-2')));
  const { workflow } = begun.receipt;
  await measure('first step', () => ok(ana, record(workflow, 'ready', yes)));
  const reading = record(workflow, 'outlet', { kind: 'reading', value: 12.5 });
  await measure('step', () => ok(ana, reading));
  const code = record(workflow, 'code', { kind: 'text', text: 'four two' });
  await measure('sensitive step', () => ok(ana, code));
  await measure('replay', () => ok(ana, reading));
  const { key: _key, ...keyless } = reading;
  await measure('repeat without a key', () => ok(ana, keyless));
  const early: Command = { type: 'complete_workflow', workflow, key: 'early' };
  await measure('refusal', async () => {
    const outcome = await execute(ana, early);
    if (outcome.code === 'OK') throw new Error('steps are missing');
  });
  const cold = makeService(store, { clock, seed: 'cold' });
  const inlet = record(workflow, 'inlet', { kind: 'reading', value: 4 });
  await measure('step, cold process', () => cold.ok(ana, inlet));

  const other = (await ok(ana, start('UNIT-3'))).receipt.workflow;
  const deviation = record(other, 'ready', no);
  const asked = await measure('question before a block', () => execute(ana, deviation));
  const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
  if (confirmation === undefined) throw new Error(`expected a question: ${JSON.stringify(asked)}`);
  await measure('block', () => ok(ana, { ...deviation, confirmation } as Command));
  const resolve = { type: 'resolve_block', workflow: other, block: 2, key: 'resolve' } as const;
  const retake = { ...resolve, decision: 'retake', reason: 'look again' } as const;
  await measure('resolve a block', () => ok(sam, retake));
  await measure('status', () => queries.getWorkflow(ana, { workflow }));
  await measure('list of one’s own, three of them', () => queries.listMine(ana));
  await measure('list of blocked ones, none', () => queries.listBlocked(sam));
  const abandon = { type: 'abandon_workflow', tenure: 1, reason: 'shift ends' } as const;
  // This service last saw the workflow before the other one wrote.
  await measure('abandon, on an old version', () =>
    ok(ana, { ...abandon, workflow, key: 'abandon' }),
  );
  const short = { type: 'start_workflow', procedure: 'short', asset: 'UNIT-4' } as const;
  const last = (await ok(ana, { ...short, key: 'short' })).receipt.workflow;
  await ok(ana, record(last, 'done', yes));
  await measure('complete', () =>
    ok(ana, { type: 'complete_workflow', workflow: last, key: 'complete' }),
  );
  return costs;
}

/** One line per command, for exact comparison; units only where the engine counts as the service does. */
export function costLine({ name, calls }: Cost, units: boolean): string {
  const told = calls.map(({ operation, items, bytes, readUnits, writeUnits }) => {
    const sent = `${operation} ${items} items ${bytes} B`;
    return units ? `${sent} ${readUnits} R ${writeUnits} W` : sent;
  });
  return `${name}: ${told.join(', ')}`;
}
