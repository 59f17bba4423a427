// The id of a request stands in the event that it caused, and in nothing that is compared.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventBody } from '../../../lib/core/events.ts';
import { Fault } from '../../../lib/core/fault.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService } from '../../../lib/core/service/service.ts';
import { makeService, principal, testRandom, testRegistry } from '../../support/harness.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

let files: SqliteFiles;
let store: StorageBackend;
const ana = principal();
const start: Command = { type: 'start_workflow', procedure: 'short', asset: 'A-1', key: 'k' };

beforeEach(async () => {
  files = sqliteFiles();
  store = await files.open();
});
afterEach(() => files.remove());

const deadline = (): number => files.clock.now() + 10_000;

async function requestIds(workflow: string): Promise<readonly unknown[]> {
  const events = await store.listEvents('acme', workflow, { after: 0, limit: 10 });
  return events.map((event) => eventBody(event).data['request_id']);
}

test('an event names the request that caused it, and one without a request names none', async () => {
  const { service } = makeService(store, { clock: files.clock });
  const started = await service.execute(ana, start, deadline(), 'r-1');
  if (started.code !== 'OK') throw new Error(started.code);
  const { workflow } = started.receipt;
  const input = { kind: 'confirm', confirmed: true } as const;
  const done: Command = { type: 'record_step', workflow, step: 'done', input };
  await service.execute(ana, done, deadline(), 'r-2');
  await service.execute(ana, { type: 'complete_workflow', workflow }, deadline());
  expect(await requestIds(workflow)).toEqual(['r-1', 'r-2', undefined]);
});

test('a repeat under another request id gets the first receipt, without any request id', async () => {
  const { service } = makeService(store, { clock: files.clock });
  const first = await service.execute(ana, start, deadline(), 'r-1');
  const again = await service.execute(ana, start, deadline(), 'r-2');
  const { key: _key, ...bare } = start;
  const byState = await service.execute(ana, bare as Command, deadline(), 'r-3');
  if (first.code !== 'OK') throw new Error(first.code);
  const { receipt } = first;
  expect(again).toMatchObject({ code: 'OK', duplicate: true, receipt });
  expect(byState).toMatchObject({ code: 'OK', duplicate: true });
  expect(byState.code === 'OK' && byState.receipt).toEqual(receipt);
  expect(JSON.stringify(receipt)).not.toContain('r-1');
  expect(await requestIds(receipt.workflow)).toEqual(['r-1']);
});

test('a fault is reported with the request that met it', async () => {
  const told: unknown[] = [];
  const broken = new Fault('retryable', 'BACKEND_UNAVAILABLE', 'gone');
  const service = createService({
    store: { ...store, snapshot: () => Promise.reject(broken) },
    registry: testRegistry(),
    clock: files.clock,
    random: testRandom('broken'),
    secrets: secretsOf('a secret of at least thirty-two characters'),
    sinks: [],
    onFault: (fault, operation, requestId) => told.push([fault.code, operation, requestId]),
  });
  await service.execute(ana, start, deadline(), 'r-9');
  expect(told).toEqual([['BACKEND_UNAVAILABLE', 'start_workflow', 'r-9']]);
});
