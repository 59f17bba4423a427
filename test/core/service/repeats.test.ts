import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openSqliteStore } from '../../../lib/adapters/sqlite/store.ts';
import { keyedCommand, ledgerRow } from '../../../lib/core/ledger.ts';
import type { Command, RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { rememberKey } from '../../../lib/core/plan.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import type { Attempt } from '../../../lib/core/service/attempt.ts';
import { createRepeats } from '../../../lib/core/service/repeats.ts';
import { createService, type Service } from '../../../lib/core/service/service.ts';
import { START_MS, testClock, testRandom } from '../../support/harness.ts';
import { person, registryOf, valveCheck } from '../../support/pure-world.ts';
import { noting } from '../../support/store-hooks.ts';

const registry = registryOf({ domain: 'valves', procedures: [valveCheck] });
const secrets = secretsOf('a secret of at least thirty-two characters');
const clock = testClock();

let folder: string;
let store: StorageBackend;
let calls: string[];
let service: Service;
let tenants = 0;
let ana = person('Ana');
let ben = person('Ben');
let workflow: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoint-repeats-'));
  const path = join(folder, 'repeats.sqlite');
  store = await openSqliteStore({ path, lockTimeoutMs: 1_000, clock, random: testRandom('store') });
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  const tenant = `t${++tenants}`;
  ana = { ...person('Ana'), tenant };
  ben = { ...person('Ben'), tenant };
  const noted = noting(store);
  ({ calls } = noted);
  const random = testRandom(tenant);
  service = createService({ store: noted.store, registry, clock, random, secrets, sinks: [] });
  await store.noteProfile({ tenant, subject: ben.subject, name: ben.name });
  const outcome = await run(ana, {
    type: 'start_workflow',
    procedure: 'valve-check',
    asset: 'V-101',
  });
  if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
  workflow = outcome.receipt.workflow;
});

const run = (who: typeof ana, command: Command) =>
  service.execute(who, command, clock.now() + 10_000);
const record = (step: string, input: StepInput): RecordStep => ({
  type: 'record_step',
  workflow,
  step,
  input,
});
const remark = (text: string) => record('remarks', { kind: 'text', text });
const correction = (text: string, replaces: number): Command => ({
  ...remark(text),
  type: 'correct_step',
  replaces,
});
const handOver = (): Command => ({ type: 'hand_over', workflow, tenure: 1, to: ben.subject });

describe('a repeat of what ended its own occasion', () => {
  it('is told the first receipt, however long the trail has grown', async () => {
    await run(ana, remark('0'));
    for (let seq = 2; seq <= 150; seq++) await run(ana, correction(`${seq}`, seq));
    const first = await run(ana, handOver());
    expect(first).toMatchObject({ code: 'OK', duplicate: false, receipt: { seq: 152 } });
    calls.length = 0;
    expect(await run(ana, handOver())).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { seq: 152, result: 'handed_over', to: ben.subject, to_name: 'Ben' },
    });
    // Nothing sensitive is read for an event that commits to nothing.
    expect(calls).toEqual(['findProfiles', 'snapshot', 'listEvents', 'listEvents']);
  });

  it('is refused where the whole trail holds no such effect', async () => {
    await run(ana, handOver());
    const late: Command = { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' };
    calls.length = 0;
    expect(await run(ana, late)).toMatchObject({ code: 'NOT_ASSIGNED', holder: 'Ben' });
    expect(calls.filter((name) => name === 'listEvents')).toHaveLength(1);
  });

  it('is recognised by its sensitive text, and another text is another command', async () => {
    await run(ana, remark('first'));
    await run(ana, correction('second', 2));
    await run(ana, correction('third', 3));
    expect(await run(ana, correction('second', 2))).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { seq: 3 },
    });
    expect(await run(ana, correction('third', 2))).toMatchObject({
      code: 'STALE_REFERENCE',
      current: 4,
    });
  });
});

describe('answers to repeats', () => {
  const attempt = (deadlineMs: number): Attempt => ({
    principal: ana,
    command: handOver(),
    keyed: undefined,
    deadlineMs,
    requestId: undefined,
    to: undefined,
  });
  const stored = async (): Promise<Workflow> => {
    const [item] = await store.snapshot([{ kind: 'workflow', tenant: ana.tenant, id: workflow }]);
    if (item === undefined) throw new Error('expected the workflow');
    return item;
  };

  it('are searched for until the deadline and not at it', async () => {
    const repeats = createRepeats(store, registry, clock);
    const search = async (deadlineMs: number) =>
      repeats.search(attempt(deadlineMs), await stored(), {
        kind: 'search',
        after: 0,
        matches: () => false,
        otherwise: { code: 'NOT_FOUND', what: 'workflow', name: 'w' },
      });
    expect(await search(START_MS + 1)).toBeUndefined();
    await expect(search(START_MS)).rejects.toMatchObject({
      kind: 'retryable',
      code: 'DEADLINE_EXCEEDED',
      message: 'the trail was too long to search',
    });
  });

  it('wait for another delivery of the same key that is being written, and are told what that did', async () => {
    const command: Command = {
      type: 'start_workflow',
      procedure: 'valve-check',
      asset: 'V-101',
      key: 'k',
    };
    const keyed = keyedCommand(secrets(ana.tenant).ledger, ana, command);
    if (keyed === undefined) throw new Error('expected a key');
    const receipt = {
      command: 'start_workflow',
      workflow,
      seq: 1,
      at: 'then',
      result: 'started',
    } as const;
    let contended = 0;
    const contending: StorageBackend = {
      ...store,
      commit: async (transaction, deadlineMs) => {
        if (contended > 0 || transaction.writes.some(({ key }) => key.kind !== 'ledger')) {
          return store.commit(transaction, deadlineMs);
        }
        contended += 1;
        const row = ledgerRow(keyed, receipt, clock.now());
        await store.commit(rememberKey(row, clock.now()), deadlineMs);
        return { ok: false, failed: [], contended: true };
      },
    };
    const random = testRandom('contending');
    const parts = { store: contending, registry, clock, random, secrets, sinks: [] };
    const outcome = await createService(parts).execute(ana, command, clock.now() + 10_000);
    expect(contended).toBe(1);
    expect(outcome).toMatchObject({ code: 'OK', duplicate: true, receipt });
  });

  it('are never made up where the event of a receipt is missing', async () => {
    const repeats = createRepeats(store, registry, clock);
    await expect(repeats.duplicate(attempt(START_MS + 1), await stored(), 2)).rejects.toMatchObject(
      {
        kind: 'retryable',
        code: 'CHAIN_TORN',
        message: 'the event of a receipt is missing',
      },
    );
  });

  it('are never made up where a receipt names a workflow that is missing', async () => {
    const repeats = createRepeats(store, registry, clock);
    const keyed = keyedCommand('secret', ana, { ...handOver(), key: 'k' });
    if (keyed === undefined) throw new Error('expected a key');
    const receipt = {
      command: 'hand_over',
      workflow: 'gone',
      seq: 2,
      at: 'then',
      result: 'handed_over',
    } as const;
    const row = ledgerRow(keyed, receipt, START_MS);
    await expect(repeats.fromLedger(keyed, row)).rejects.toMatchObject({
      kind: 'retryable',
      code: 'BACKEND_UNAVAILABLE',
      message: 'a receipt names a missing workflow',
    });
    expect(await repeats.fromLedger(keyed, undefined)).toBeUndefined();
  });
});
