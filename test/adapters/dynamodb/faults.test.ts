// What the service does and no emulator does. Each kind goes through the real SDK, store and core: a
// command either takes effect once, or is answered retryable and has one effect when it comes again.
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { Outcome } from '../../../lib/core/outcome.ts';
import { writeCursor } from '../../../lib/core/pages.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { releaseLock } from '../../../lib/core/release-lock.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import {
  cancelled,
  cutOff,
  exception,
  firstCalls,
  itemsOf,
  jsonOf,
  shimOn,
  sortKeysOf,
  type Answer,
  type PassingCall,
  type Shim,
} from '../../support/dynamodb/shim.ts';
import { beforeFirstCommit } from '../../support/store-hooks.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import {
  makeService,
  principal,
  testClock,
  testRegistry,
  type TestClock,
  type TestService,
} from '../../support/harness.ts';

const UNAVAILABLE = { code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 };
const WRITE = 'TransactWriteItems';
const READ = 'TransactGetItems';

/** The codes of a cancelled transaction: `code` for its first item, `others` for the rest. */
const reasons = (call: PassingCall, code: string, others = 'None'): Answer =>
  cancelled(Array.from({ length: itemsOf(call) }, (_, i) => (i === 0 ? code : others)));

/** The effect happens, and the answer is lost on the way. */
const lost =
  (code: string) =>
  async (call: PassingCall): Promise<Answer> => {
    await call.pass();
    return cutOff(code);
  };

describeOnDynamo('faults of the service', () => {
  const world = dynamoWorld();
  let n = 0;
  let tenant: string;
  let clock: TestClock;
  let store: StorageBackend;
  let shim: Shim;
  let service: TestService;

  beforeEach(async () => {
    tenant = `t${++n}`;
    clock = testClock();
    const client = world.client();
    shim = shimOn(client);
    store = world.open(clock, client);
    service = makeService(store, { clock });
    await store.check();
    shim.sent();
  });

  const who = () => principal({ tenant });
  const start: Command = {
    type: 'start_workflow',
    procedure: 'sample',
    asset: 'UNIT-1',
    key: 'k0',
  };
  const reading = (workflow: string, value = 5, key = 'k1'): Command => ({
    type: 'record_step',
    workflow,
    step: 'outlet',
    input: { kind: 'reading', value },
    key,
  });
  const started = async (): Promise<string> => {
    const { workflow } = (await service.ok(who(), start)).receipt;
    shim.sent();
    return workflow;
  };
  const events = (workflow: string) => store.listEvents(tenant, workflow, { after: 0, limit: 100 });

  /** However the command was answered, saying it again ends with exactly one effect. */
  const expectOneEffect = async (command: Command, first: Outcome, workflow: string) => {
    shim.set(() => undefined);
    const again = await service.ok(who(), command);
    if (first.code === 'OK') {
      expect(again).toMatchObject({ duplicate: true, receipt: first.receipt });
    }
    const found = await events(workflow);
    expect(found.map(({ seq }) => seq)).toEqual([1, 2]);
  };

  /** Each is met by the first `count` writes; the answer is what the command says then. */
  const KINDS: readonly (readonly [
    name: string,
    count: number,
    (call: PassingCall, n: number) => Promise<Answer>,
    answer: 'takes effect' | 'is retryable',
  ])[] = [
    [
      'one conflict',
      1,
      (call) => Promise.resolve(reasons(call, 'TransactionConflict')),
      'takes effect',
    ],
    [
      'seven conflicts',
      7,
      (call) => Promise.resolve(reasons(call, 'TransactionConflict')),
      'takes effect',
    ],
    [
      'eight conflicts',
      8,
      (call) => Promise.resolve(reasons(call, 'TransactionConflict')),
      'is retryable',
    ],
    [
      'a throttled item',
      1,
      (call) => Promise.resolve(reasons(call, 'ThrottlingError')),
      'is retryable',
    ],
    [
      'a throttled item among conflicts',
      1,
      (call) =>
        Promise.resolve(reasons(call, 'ProvisionedThroughputExceeded', 'TransactionConflict')),
      'is retryable',
    ],
    [
      'a throttled item among failed conditions',
      1,
      (call) => Promise.resolve(reasons(call, 'ThrottlingError', 'ConditionalCheckFailed')),
      'takes effect',
    ],
    [
      'a reason that nobody knows',
      1,
      (call) => Promise.resolve(reasons(call, 'SomethingNew')),
      'is retryable',
    ],
    [
      'a cancellation without reasons',
      1,
      () => Promise.resolve(exception('TransactionCanceledException')),
      'is retryable',
    ],
    [
      'one throttled call',
      1,
      () => Promise.resolve(exception('ThrottlingException')),
      'takes effect',
    ],
    [
      'throttled calls without an end',
      1_000,
      () => Promise.resolve(exception('ProvisionedThroughputExceededException')),
      'is retryable',
    ],
    [
      'a transaction in progress',
      1,
      () => Promise.resolve(exception('TransactionInProgressException')),
      'takes effect',
    ],
    ['a lost answer', 1, lost('ECONNRESET'), 'takes effect'],
    ['a timeout after the effect', 1, lost('TimeoutError'), 'takes effect'],
    ['lost answers without an end', 1_000, lost('ECONNRESET'), 'is retryable'],
    [
      'a lost answer, and then a transaction in progress',
      2,
      (call, nth) =>
        nth === 1
          ? lost('ECONNRESET')(call)
          : Promise.resolve(exception('TransactionInProgressException')),
      'takes effect',
    ],
    [
      'a failure of the service before the effect',
      1,
      () => Promise.resolve(exception('InternalServerError', {}, 500)),
      'takes effect',
    ],
    [
      'failures of the service after the effect',
      1_000,
      async (call) => {
        await call.pass();
        return exception('InternalServerError', {}, 500);
      },
      'is retryable',
    ],
    ['no way to the service', 1_000, () => cutOff('ECONNREFUSED'), 'is retryable'],
    ['a name that does not resolve', 1_000, () => cutOff('ENOTFOUND'), 'is retryable'],
    [
      'a table that is missing',
      1,
      () => Promise.resolve(exception('ResourceNotFoundException')),
      'is retryable',
    ],
    [
      'permissions that are missing',
      1_000,
      () => Promise.resolve(exception('AccessDeniedException')),
      'is retryable',
    ],
    [
      'credentials that have expired',
      1,
      () => Promise.resolve(exception('ExpiredTokenException')),
      'is retryable',
    ],
    [
      'a token that was used before',
      1,
      () => Promise.resolve(exception('IdempotentParameterMismatchException')),
      'is retryable',
    ],
  ];

  test.each(KINDS)('a step that meets %s (%d times) has one effect', async (...kind) => {
    const [, count, interfere, answer] = kind;
    const workflow = await started();
    shim.set(firstCalls(WRITE, count, interfere));
    const first = await service.execute(who(), reading(workflow));
    if (answer === 'takes effect') expect(first).toMatchObject({ code: 'OK', duplicate: false });
    else expect(first).toEqual(UNAVAILABLE);
    await expectOneEffect(reading(workflow), first, workflow);
  });

  test.each([
    ['conflicts', 2, (call: PassingCall) => reasons(call, 'TransactionConflict'), true],
    [
      'conflicts without an end',
      1_000,
      (call: PassingCall) => reasons(call, 'TransactionConflict'),
      false,
    ],
    ['a throttled item', 1, (call: PassingCall) => reasons(call, 'ThrottlingError'), false],
    ['one throttled call', 1, () => exception('ThrottlingException'), true],
    ['one failure of the service', 1, () => exception('InternalServerError', {}, 500), true],
  ])('a refusal whose snapshot meets %s is a refusal, or is not given', async (...kind) => {
    const [, count, interfere, answered] = kind;
    const workflow = await started();
    const early: Command = { type: 'complete_workflow', workflow };
    shim.set(firstCalls(READ, count, (call) => Promise.resolve(interfere(call))));
    const outcome = await service.execute(who(), early);
    expect(outcome.code).toBe(answered ? 'STEPS_MISSING' : 'BACKEND_UNAVAILABLE');
    expect(await events(workflow)).toHaveLength(1);
  });

  test('of twenty readings at once, in each other’s way, as many are counted as took effect', async () => {
    const workflow = await started();
    let writing = 0;
    // Whoever comes while another transaction is under way is cancelled, as the service does it.
    shim.set((call) => {
      if (call.operation !== WRITE) return undefined;
      return (async () => {
        if (writing > 0) return reasons(call, 'TransactionConflict');
        writing += 1;
        try {
          return await call.pass();
        } finally {
          writing -= 1;
        }
      })();
    });
    const corrections = Array.from({ length: 20 }, (_, i) => reading(workflow, i / 2, `r${i}`));
    const outcomes = await Promise.all(corrections.map((one) => service.execute(who(), one)));
    const codes = new Set(outcomes.map(({ code }) => code));
    expect(
      [...codes].filter(
        (code) => !['OK', 'NEEDS_CONFIRMATION', 'BACKEND_UNAVAILABLE'].includes(code),
      ),
    ).toEqual([]);
    const effects = outcomes.filter(({ code }) => code === 'OK').length;
    expect(effects).toBe(1);
    const [item] = await store.snapshot([{ kind: 'workflow', tenant, id: workflow }]);
    expect(item?.version).toBe(1 + effects);
  });

  test.each(['0', '%21', 'A'.repeat(1_048_576), Buffer.from('["x"]').toString('base64url')])(
    'a cursor that no list gave costs no call',
    async (after) => {
      const at = { after, limit: 5 };
      const refused = { name: 'InputError', faults: [{ path: '/cursor' }] };
      await expect(store.listWorkflows(tenant, 'CREATED', at)).rejects.toMatchObject(refused);
      await expect(store.listLocks(tenant, at)).rejects.toMatchObject(refused);
      await expect(store.listTenants(at)).rejects.toMatchObject(refused);
      await expect(store.scanWorkflows(at)).rejects.toMatchObject(refused);
      await expect(store.scanTrails(at)).rejects.toMatchObject(refused);
      expect(shim.sent()).toEqual([]);
    },
  );

  test('a cursor of the right list with a place that no table has is refused, not sent', async () => {
    const name = ['state', tenant, 'CREATED'];
    for (const place of [
      ['', ''],
      ['x', ''],
      ['', 'x'],
      ['x', 'y'.repeat(2_049)],
      ['\ud800', 'x'],
    ] as const) {
      const list = store.listWorkflows(tenant, 'CREATED', {
        after: writeCursor(name, place),
        limit: 5,
      });
      await expect(list).rejects.toMatchObject({ name: 'InputError' });
    }
    expect(shim.sent()).toEqual([]);
  });

  test('a tenant that cannot be noted keeps no start from being made, and is noted with the next', async () => {
    shim.set(firstCalls('PutItem', 1, () => Promise.resolve(exception('AccessDeniedException'))));
    const listed = async () => (await store.listTenants({ limit: 100 })).items.includes(tenant);
    await service.ok(who(), start);
    expect(await listed()).toBe(false);
    await service.ok(who(), { ...start, asset: 'UNIT-2', key: 'k2' } as Command);
    expect(await listed()).toBe(true);
  });

  test.each([
    ['a conflict', () => Promise.resolve(exception('TransactionConflictException'))],
    ['a throttled call', () => Promise.resolve(exception('ThrottlingException'))],
    ['a lost answer', lost('ECONNRESET')],
  ])('bookkeeping that meets %s is done once', async (_what, interfere) => {
    shim.set(firstCalls('PutItem', 1, interfere));
    expect(await store.registerProcedure(`procedure-${tenant}`, 1, 'one')).toBe('one');
    shim.set(firstCalls(WRITE, 1, interfere));
    await store.noteProfile({ tenant, subject: 'dev:ana', name: 'Ana' });
    expect(await store.findProfiles(tenant, 'ana', 5)).toEqual([
      { tenant, subject: 'dev:ana', name: 'Ana' },
    ]);
  });

  test.each([
    ['is throttled', () => Promise.resolve(exception('ThrottlingException'))],
    ['fails', () => Promise.resolve(exception('InternalServerError', {}, 500))],
    ['is lost', () => cutOff('ECONNRESET')],
  ])(
    'a forced release that took effect and whose answer %s keeps its conditions when it comes again',
    async (_what, answer) => {
      const first = await started();
      const ben = principal({ tenant, subject: 'dev:ben', name: 'Ben' });
      const other = makeService(world.open(clock), { clock, seed: `ben ${tenant}` });
      let second = '';
      shim.set(
        firstCalls(WRITE, 1, async (call) => {
          await call.pass();
          second = (await other.ok(ben, { ...start, key: 'b0' } as Command)).receipt.workflow;
          return answer();
        }),
      );
      const olga = principal({ tenant, subject: 'dev:olga', scopes: ['ops:admin'] });
      const secrets = secretsOf('a secret of at least thirty-two characters')(tenant);
      const asked = {
        principal: olga,
        deadlineMs: clock.now() + 10_000,
        key: { text: 'release', secrets },
      };
      const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
      const release = () => releaseLock(parts, asked, { asset: 'UNIT-1', reason: 'fire' });
      expect(await release()).toMatchObject({ code: 'RELEASED', workflow: first });
      expect(await release()).toMatchObject({ code: 'REPEATED', receipt: { workflow: first } });
      expect(second).not.toBe('');
      const [lock, workflow] = await store.snapshot([
        { kind: 'lock', tenant, asset: 'UNIT-1' },
        { kind: 'workflow', tenant, id: second },
      ]);
      expect(lock).toMatchObject({ held: true, workflow: second, fence: workflow?.fence });
      expect(workflow).toMatchObject({ state: 'CREATED' });
    },
  );

  test('a forced release without the right to read the lock changes nothing', async () => {
    const workflow = await started();
    const before = await store.snapshot([{ kind: 'lock', tenant, asset: 'UNIT-1' }]);
    shim.set(firstCalls(READ, 1_000, () => Promise.resolve(exception('AccessDeniedException'))));
    const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
    const asked = { principal: who(), deadlineMs: clock.now() + 10_000 };
    shim.sent();
    await expect(
      releaseLock(parts, asked, { asset: 'UNIT-1', reason: 'fire' }),
    ).rejects.toMatchObject({ kind: 'retryable', code: 'BACKEND_UNAVAILABLE' });
    expect(shim.sent()).not.toContain(WRITE);
    shim.set(() => undefined);
    expect(await store.snapshot([{ kind: 'lock', tenant, asset: 'UNIT-1' }])).toEqual(before);
    expect(await events(workflow)).toHaveLength(1);
  });

  describe('reasons of several kinds', () => {
    test.each([0, 1, 2])('a failed condition in place %i is told of that very write', async (n) => {
      const keys = [0, 1, 2].map((i) => ({ kind: 'ledger', tenant, key: `${i}` }) as const);
      const writes = keys.map((key) => ({ op: 'delete', key, expect: {} }) as const);
      const codes = keys.map((_, i) => (i === n ? 'ConditionalCheckFailed' : 'None'));
      shim.set(firstCalls(WRITE, 1, () => Promise.resolve(cancelled(codes))));
      expect(await store.commit({ writes }, clock.now() + 1_000)).toEqual({
        ok: false,
        failed: [{ key: keys[n] }],
      });
    });

    test('a conflict beside a failed condition is looked at again, and never taken for a torn chain', async () => {
      const workflow = await started();
      // Half of somebody else's transaction: the event is there, the record is being written.
      const half = (call: PassingCall): Promise<Answer> => {
        const codes = sortKeysOf(call).map((sk) =>
          sk === 'STATE'
            ? 'TransactionConflict'
            : sk.startsWith('E#')
              ? 'ConditionalCheckFailed'
              : 'None',
        );
        return Promise.resolve(cancelled(codes));
      };
      shim.set(firstCalls(WRITE, 1, half));
      const outcome = await service.execute(who(), reading(workflow));
      expect(outcome).toMatchObject({ code: 'OK', duplicate: false });
      expect(shim.sent()).toEqual([WRITE, READ, WRITE]);
    });

    test('a conflict beside a taken key is a replay, and nothing is decided again', async () => {
      const workflow = await started();
      const command = reading(workflow);
      const other = makeService(store, { clock, seed: 'other' });
      const racing = beforeFirstCommit(store, async () => {
        await other.ok(who(), command);
        shim.set(firstCalls(WRITE, 1, withoutRecord));
        shim.sent();
      });
      const late = makeService(racing, { clock, seed: 'late' });
      expect(await late.ok(who(), command)).toMatchObject({ duplicate: true, receipt: { seq: 2 } });
      expect(shim.sent()).toEqual([WRITE, READ]);
    });

    test('an item that is handed back replaces the second read', async () => {
      const workflow = await started();
      const other = makeService(store, { clock, seed: 'other' });
      const racing = beforeFirstCommit(store, async () => {
        const input = { kind: 'choice', option: 'auto' } as const;
        await other.ok(who(), { type: 'record_step', workflow, step: 'mode', input });
        shim.sent();
      });
      const late = makeService(racing, { clock, seed: 'late' });
      expect((await late.ok(who(), reading(workflow))).receipt).toMatchObject({ seq: 3 });
      expect(shim.sent()).toEqual([WRITE, WRITE]);
    });

    test.each([
      ['ValidationError', 'terminal', 'PLAN_REFUSED'],
      ['ItemCollectionSizeLimitExceeded', 'terminal', 'PLAN_REFUSED'],
      ['ThrottlingError', 'retryable', 'BACKEND_UNAVAILABLE'],
      ['ProvisionedThroughputExceeded', 'retryable', 'BACKEND_UNAVAILABLE'],
      ['DuplicateItem', 'retryable', 'BACKEND_UNAVAILABLE'],
    ])('%s in any place is %s %s', async (code, kind, faultCode) => {
      for (const place of [0, 1, 2]) {
        const codes = [0, 1, 2].map((i) => (i === place ? code : 'None'));
        shim.set(firstCalls(WRITE, 1, () => Promise.resolve(cancelled(codes))));
        const writes = [0, 1, 2].map((i) => ({
          op: 'delete' as const,
          key: { kind: 'ledger', tenant, key: `${i}` } as const,
          expect: {},
        }));
        await expect(store.commit({ writes }, clock.now() + 1_000)).rejects.toMatchObject({
          kind,
          code: faultCode,
        });
      }
    });
  });
});

/** Passes a call on, and makes of the failed condition of its first item a conflict. */
async function withoutRecord(call: PassingCall): Promise<Answer> {
  const { answer, content } = await jsonOf(call);
  const [, ...others] = content['CancellationReasons'] as readonly object[];
  const CancellationReasons = [{ Code: 'TransactionConflict' }, ...others];
  const text = JSON.stringify({ ...content, CancellationReasons });
  return { ...answer, body: Buffer.from(text, 'utf8') };
}
