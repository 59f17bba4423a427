import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openSqliteStore } from '../../../lib/adapters/sqlite/store.ts';
import { Fault, isFault } from '../../../lib/core/fault.ts';
import type { Command, RecordStep } from '../../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService, type Service } from '../../../lib/core/service/service.ts';
import { noting } from '../../support/store-hooks.ts';
import { testClock, testRandom, type TestClock } from '../../support/harness.ts';
import { person, registryOf, valveCheck } from '../../support/pure-world.ts';

let folder: string;
let store: StorageBackend;
let clock: TestClock;
let tenants = 0;
let ana = person('Ana');
let ben = person('Ben');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoint-service-'));
  clock = testClock();
  const path = join(folder, 'service.sqlite');
  store = await openSqliteStore({ path, lockTimeoutMs: 1_000, clock, random: testRandom('store') });
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  clock.set(1_772_355_600_000);
  const tenant = `t${++tenants}`;
  ana = { ...person('Ana'), tenant };
  ben = { ...person('Ben'), tenant };
});

interface Process {
  readonly calls: string[];
  readonly faults: string[];
  readonly run: (who: typeof ana, command: Command) => ReturnType<Service['execute']>;
}

/** A process of its own on the store: its own memory, its calls noted. */
function process(versions = [valveCheck], wrap = (inner: StorageBackend) => inner): Process {
  const noted = noting(wrap(store));
  const faults: string[] = [];
  const service = createService({
    store: noted.store,
    registry: registryOf({ domain: 'valves', procedures: versions }),
    clock,
    random: testRandom(`process ${Math.random()}`),
    secrets: secretsOf('a secret of at least thirty-two characters'),
    sinks: ['log'],
    onFault: ({ code }) => faults.push(code),
  });
  const run: Process['run'] = (who, command) => service.execute(who, command, clock.now() + 10_000);
  return { calls: noted.calls, faults, run };
}

const start: Command = {
  type: 'start_workflow',
  procedure: 'valve-check',
  asset: 'V-101',
  key: 's',
};
const begin = async (on: Process): Promise<string> => {
  const outcome = await on.run(ana, start);
  if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
  on.calls.length = 0;
  return outcome.receipt.workflow;
};
const leak = (workflow: string, option = 'dry', key?: string): RecordStep => ({
  type: 'record_step',
  workflow,
  step: 'leak',
  input: { kind: 'choice', option },
  ...(key !== undefined && { key }),
});
const isolated = (workflow: string): RecordStep => ({
  type: 'record_step',
  workflow,
  step: 'isolated',
  input: { kind: 'confirm', confirmed: true },
});

describe('calls to the store', () => {
  it('of a start are one snapshot and one commit', async () => {
    const one = process();
    await one.run(ana, start);
    expect(one.calls).toEqual(['snapshot', 'commit']);
  });

  it('of a step on a warm process are the commit alone, with and without a key', async () => {
    const one = process();
    const workflow = await begin(one);
    await one.run(ana, leak(workflow));
    await one.run(ana, { ...isolated(workflow), key: 'k' });
    expect(one.calls).toEqual(['commit', 'commit']);
  });

  it('of a step on a cold process are one snapshot and one commit', async () => {
    const workflow = await begin(process());
    const cold = process();
    await cold.run(ana, leak(workflow, 'dry', 'k'));
    expect(cold.calls).toEqual(['snapshot', 'commit']);
  });

  it('of a step decided on an old version need no read: the failed commit hands the item back', async () => {
    const one = process();
    const workflow = await begin(one);
    await process().run(ana, isolated(workflow));
    await one.run(ana, leak(workflow));
    expect(one.calls).toEqual(['commit', 'commit']);
  });

  it('of a refusal are one snapshot, also where memory would have refused at once', async () => {
    const one = process();
    const workflow = await begin(one);
    expect((await one.run(ben, leak(workflow))).code).toBe('NOT_ASSIGNED');
    expect(one.calls).toEqual(['snapshot']);
  });
});

describe('a refusal', () => {
  it('is never given from memory', async () => {
    const one = process();
    const workflow = await begin(one);
    await one.run(ana, isolated(workflow));
    const inlet: RecordStep = {
      ...leak(workflow),
      step: 'inlet',
      input: { kind: 'reading', value: 4 },
    };
    // This process remembers that the isolation waits for its second person; it no longer does.
    await process().run(ben, { ...isolated(workflow), confirms: 2 });
    expect((await one.run(ana, inlet)).code).toBe('OK');
  });

  it('of an unknown workflow is the same for another tenant’s workflow', async () => {
    const one = process();
    const workflow = await begin(one);
    const stranger = { ...ana, tenant: `${ana.tenant}-other` };
    expect(await one.run(stranger, leak(workflow))).toEqual({
      code: 'NOT_FOUND',
      what: 'workflow',
      name: workflow,
    });
    expect(await one.run(ana, leak('nope'))).toEqual({
      code: 'NOT_FOUND',
      what: 'workflow',
      name: 'nope',
    });
  });

  it.each([
    ['a service', { kind: 'service' as const }, { why: 'person' }],
    [
      'a person without the scope',
      { scopes: new Set(['audit:read' as const]) },
      { why: 'scope', need: 'procedures:run' },
    ],
  ])('is given to %s before anything is read', async (_name, change, outcome) => {
    const one = process();
    expect(await one.run({ ...ana, ...change }, start)).toMatchObject({
      code: 'FORBIDDEN',
      ...outcome,
    });
    expect(one.calls).toEqual([]);
  });

  it('is given to an agent that would decide about a block, also where its person has decided', async () => {
    const one = process();
    const workflow = await begin(one);
    const robot = {
      ...ana,
      kind: 'agent' as const,
      scopes: new Set(['procedures:supervise' as const]),
    };
    const resolve = { type: 'resolve_block', workflow, block: 2, decision: 'retake' } as const;
    const outcome = await one.run(robot, { ...resolve, reason: 'r', key: 'k' });
    expect(outcome).toMatchObject({ code: 'FORBIDDEN', why: 'person' });
    expect(one.calls).toEqual([]);
  });

  it('for a permission that was lost comes before a replay', async () => {
    const one = process();
    await one.run(ana, start);
    const reader = { ...ana, scopes: new Set(['audit:read' as const]) };
    expect((await one.run(reader, start)).code).toBe('FORBIDDEN');
  });
});

describe('a key', () => {
  it('of a repeat that the state recognised is remembered, and keeps its answer when the state moves on', async () => {
    const one = process();
    const workflow = await begin(one);
    const again = { ...start, key: 'another' };
    const first = await one.run(ana, again);
    expect(first).toMatchObject({ code: 'OK', duplicate: true, receipt: { workflow, seq: 1 } });
    await one.run(ana, { type: 'abandon_workflow', workflow, tenure: 1, reason: 'r' });
    expect(await one.run(ana, again)).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { workflow, seq: 1 },
    });
  });

  it('replays even where the repeat names no workflow but is otherwise another command: a conflict', async () => {
    const one = process();
    const workflow = await begin(one);
    await one.run(ana, leak(workflow, 'dry', 'k'));
    const { workflow: _named, ...bare } = leak(workflow, 'dry', 'k');
    expect(await one.run(ana, bare)).toEqual({
      code: 'IDEMPOTENCY_CONFLICT',
      operation: 'record_step',
      fields: ['workflow_id'],
    });
  });

  it('of a command that was refused is free', async () => {
    const one = process();
    const workflow = await begin(one);
    expect((await one.run(ana, leak(workflow, 'nonsense', 'k'))).code).toBe('INVALID_ARGUMENT');
    expect((await one.run(ana, leak(workflow, 'dry', 'k'))).code).toBe('OK');
  });
});

describe('a command without a workflow', () => {
  it('is answered with the candidates, also where there is only one', async () => {
    const one = process();
    const workflow = await begin(one);
    const { workflow: _named, ...bare } = leak(workflow);
    expect(await one.run(ana, bare)).toEqual({
      code: 'AMBIGUOUS',
      about: 'workflow',
      choices: [{ workflow, asset: 'V-101', procedure: 'valve-check', title: 'Valve check' }],
      state: expect.stringMatching(/^c2\./),
      total: 1,
    });
    expect(await one.run(ben, bare)).toMatchObject({ choices: [], total: 0 });
  });
});

describe('a fault', () => {
  const failing = (code: 'retryable' | 'unknown', after: boolean) => (inner: StorageBackend) => ({
    ...inner,
    commit: async (...args: Parameters<StorageBackend['commit']>) => {
      if (after) await inner.commit(...args);
      throw new Fault(code, 'BACKEND_UNAVAILABLE', 'struck');
    },
  });

  it('before the commit changes nothing, is told, and the command works later', async () => {
    const workflow = await begin(process());
    const struck = process(undefined, failing('retryable', false));
    expect(await struck.run(ana, leak(workflow, 'dry', 'k'))).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1_000,
    });
    expect(struck.faults).toEqual(['BACKEND_UNAVAILABLE']);
    expect(await process().run(ana, leak(workflow, 'dry', 'k'))).toMatchObject({
      code: 'OK',
      duplicate: false,
    });
  });

  it('after the commit makes the repeat a duplicate with and without a key', async () => {
    const workflow = await begin(process());
    const struck = process(undefined, failing('unknown', true));
    await struck.run(ana, leak(workflow, 'dry', 'k'));
    await struck.run(ana, isolated(workflow));
    const later = process();
    expect(await later.run(ana, leak(workflow, 'dry', 'k'))).toMatchObject({
      duplicate: true,
      receipt: { seq: 2 },
    });
    expect(await later.run(ana, isolated(workflow))).toMatchObject({
      duplicate: true,
      receipt: { seq: 3 },
    });
  });

  it('is answered where the process lacks the version that the workflow started with', async () => {
    const workflow = await begin(process());
    const newer = process([{ ...valveCheck, version: 4 }]);
    expect((await newer.run(ana, leak(workflow))).code).toBe('BACKEND_UNAVAILABLE');
    expect(newer.faults).toEqual(['PROCEDURE_VERSION_MISSING']);
  });

  it('is answered where an event lies beyond the head, and nothing is written over it', async () => {
    const workflow = await begin(process());
    const { tenant } = ana;
    const event = { format: 1, tenant, workflow, seq: 2, text: '{}', hash: 'x' };
    const key = { kind: 'event', tenant, workflow, seq: 2 } as const;
    await store.commit({ writes: [{ op: 'create', key, item: event }] }, clock.now() + 1_000);
    const one = process();
    expect((await one.run(ana, leak(workflow))).code).toBe('BACKEND_UNAVAILABLE');
    expect(one.faults).toEqual(['CHAIN_TORN']);
    expect((await store.snapshot([key]))[0]).toEqual(event);
  });

  it('is recognised by name, whichever copy of the module made it', () => {
    const foreign = Object.assign(new Error('from another bundle'), {
      name: 'CheckpointFault',
      kind: 'unknown',
      code: 'BACKEND_UNAVAILABLE',
    });
    expect(isFault(foreign)).toBe(true);
    expect(isFault(new Error('plain'))).toBe(false);
  });
});

describe('a state that would outgrow its bound', () => {
  it('takes no more steps, says so, and can still be ended', async () => {
    const many = {
      ...valveCheck,
      steps: Array.from({ length: 100 }, (_, i) => ({
        id: `s${String(i).padStart(3, '0')}-${'x'.repeat(43)}`,
        title: 'step',
        instruction: 'Do it.',
        kind: 'confirm' as const,
        on_deviation: 'block' as const,
      })),
      rules: [],
    };
    const one = process([many]);
    const subject = `dev:${'a'.repeat(268)}`;
    const long = { ...ana, subject };
    const begun = await one.run(long, start);
    if (begun.code !== 'OK') throw new Error('expected a start');
    const { workflow } = begun.receipt;
    let code = 'OK';
    for (const { id } of many.steps) {
      if (code !== 'OK') break;
      ({ code } = await one.run(long, { ...isolated(workflow), step: id }));
    }
    expect(code).toBe('LIMIT_REACHED');
    const ended = await one.run(long, {
      type: 'abandon_workflow',
      workflow,
      tenure: 1,
      reason: 'r',
    });
    expect(ended).toMatchObject({ code: 'OK', workflow: { state: 'COMPLETED' } });
  });
});
