import { beforeEach, describe, expect, it } from '@jest/globals';
import { Fault } from '../../lib/core/fault.ts';
import { itemBytes, keyText, tableKey } from '../../lib/core/keys.ts';
import {
  compilePlan,
  rememberKey,
  type CommitPlan,
  type WorkflowChange,
} from '../../lib/core/plan.ts';
import type { ItemKey } from '../../lib/core/ports/storage.ts';
import { ledgerOf, lockOf } from '../support/plans.ts';
import { person, PureWorld, START_MS } from '../support/pure-world.ts';

const ana = person('Ana');
let world: PureWorld;
let step: CommitPlan;

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101', key: 'k' });
  const input = { kind: 'choice', option: 'dry' } as const;
  const decision = world.decide(ana, {
    type: 'record_step',
    workflow: world.state.id,
    step: 'leak',
    input,
  });
  if (decision.kind !== 'commit') throw new Error('expected a commit');
  step = decision.plan;
});

const refusal = (plan: CommitPlan): string => {
  try {
    compilePlan(plan);
  } catch (error) {
    if (error instanceof Fault && ['PLAN_REFUSED', 'STATE_TOO_LARGE'].includes(error.code))
      return error.message;
    throw error;
  }
  return 'compiled';
};
const workflowKey = (): ItemKey => ({ kind: 'workflow', tenant: 'acme', id: world.state.id });

describe('compiling a plan', () => {
  it('makes one write per item, fenced by version and head', () => {
    const { writes } = compilePlan(step);
    expect(writes.map(({ op, key }) => `${op} ${key.kind}`)).toEqual([
      'update workflow',
      'create event',
    ]);
    expect(writes[0]).toMatchObject({
      expect: { version: 1, head_seq: 1, head_hash: world.state.head_hash },
      set: { state: 'RUNNING', version: 2, head_seq: 2 },
      put_in: { steps: { leak: { seq: 2 } } },
    });
  });

  it('changes named attributes only, never the whole item', () => {
    const [update] = compilePlan(step).writes;
    if (update?.op !== 'update') throw new Error('expected an update');
    expect(Object.keys(update.set).sort()).toEqual([
      'due_at',
      'head_hash',
      'head_seq',
      'state',
      'updated_at',
      'version',
    ]);
  });

  it('merges a guard into the write of the same item and checks any other', () => {
    const lock: ItemKey = { kind: 'lock', tenant: 'acme', asset: 'V-101' };
    const guards = [
      { key: workflowKey(), expect: { state: 'CREATED' } },
      { key: lock, expect: { fence: 1 } },
    ];
    const { writes } = compilePlan({ ...step, guards });
    expect(writes).toHaveLength(3);
    expect(writes[0]).toMatchObject({ expect: { state: 'CREATED', version: 1 } });
    expect(writes[2]).toEqual({ op: 'check', key: lock, expect: { fence: 1 } });
  });

  it('takes a guard that expects what the write expects anyway', () => {
    const [write] = compilePlan(step).writes;
    const guards = [{ key: workflowKey(), expect: { version: 1 } }];
    expect(compilePlan({ ...step, guards }).writes[0]).toStrictEqual(write);
  });

  it('refuses a guard on what the plan creates', () => {
    const event = { kind: 'event', tenant: 'acme', workflow: world.state.id, seq: 2 } as const;
    expect(refusal({ ...step, guards: [{ key: event, expect: {} }] })).toBe(
      'plan refused: a guard on a event that is created',
    );
  });

  it('refuses a guard that contradicts the write of the same item', () => {
    expect(
      refusal({ ...step, guards: [{ key: workflowKey(), expect: { version: 9 } }] }),
    ).toContain('two expectations of workflow.version');
  });

  it('refuses two writes of one item', () => {
    const event = step.events[0];
    if (event === undefined) throw new Error('expected an event');
    expect(refusal({ ...step, events: [event, event] })).toContain('writes event twice');
  });

  it('takes 100 items and refuses 101', () => {
    const outbox = Array.from({ length: 99 }, (_, i) => ({
      format: 1,
      tenant: 'acme',
      workflow: 'w',
      lane: 'notify:log',
      seq: i,
      id: String(i),
      payload: {},
      rev: 0,
      attempts: 0,
      due_at: 0,
    }));
    expect(refusal({ ...step, outbox: outbox.slice(0, 98) })).toBe('compiled');
    expect(refusal({ ...step, outbox })).toContain('101 items');
  });

  it('takes a state of 32,768 bytes and refuses one more', () => {
    const after = (bytes: number): CommitPlan => {
      if (step.aggregate.op !== 'update') throw new Error('expected an update');
      const { before, change } = step.aggregate;
      return {
        ...step,
        aggregate: { op: 'update', before: { ...before, asset: 'x'.repeat(bytes) }, change },
      };
    };
    let bytes = 32_768;
    while (refusal(after(bytes)) !== 'compiled') bytes--;
    const plan = after(bytes);
    if (plan.aggregate.op !== 'update') throw new Error('expected an update');
    const { before, change } = plan.aggregate;
    const steps = { ...before.steps, ...change.steps };
    expect(itemBytes({ ...before, ...change.set, steps })).toBe(32_768);
    expect(() => compilePlan(after(bytes + 1))).toThrow(
      expect.objectContaining({
        kind: 'terminal',
        code: 'STATE_TOO_LARGE',
        message: 'a state of 32769 bytes',
      }) as unknown as Error,
    );
  });

  it('never refuses the end of a workflow for the size of its state', () => {
    if (step.aggregate.op !== 'update') throw new Error('expected an update');
    const before = { ...step.aggregate.before, asset: 'x'.repeat(40_000) };
    const change = { set: { state: 'COMPLETED' } } as const;
    expect(refusal({ ...step, aggregate: { op: 'update', before, change } })).toBe('compiled');
    expect(refusal({ ...step, aggregate: { op: 'create', state: before } })).toContain(
      'a state of',
    );
  });
});

describe('a part of a plan', () => {
  const tenant = 'acme';
  const lock = lockOf({ tenant, asset: 'V-101' });
  const { tenant: _t, asset: _a, ...changing } = lock;
  const lockKey = { kind: 'lock', tenant, asset: 'V-101' };
  const held = { asset: 'V-101', workflow: 'w1', fence: 7 } as const;
  const given = { held: true, workflow: 'w1', fence: 7 };
  const ledger = ledgerOf(tenant, 'k', 1);
  const last = { procedure: 'p', version: 1, at: 'then', values: {} };
  const pointer = {
    format: 1,
    tenant,
    subject: 'dev:ana',
    workflow: 'w001',
    asset: 'V-101',
    procedure: 'p',
    since: 'then',
  };
  const vault = { format: 1, tenant, workflow: 'w001', seq: 2, key: 'k', value: 'v' };
  const outbox = {
    format: 1,
    tenant,
    workflow: 'w001',
    lane: 'notify:log',
    seq: 2,
    id: 'i',
    payload: {},
    attempts: 0,
    due_at: 0,
  };
  const ended = ['workflow', 'procedure', 'subject', 'name', 'since'];
  const write = (op: string, key: object, rest: object) => ({ op, key, ...rest });

  it.each([
    [
      'a ledger row is created where none counts any more',
      { ledger },
      write(
        'create',
        { kind: 'ledger', tenant, key: 'k' },
        { item: ledger, expiredAt: 1767323045 },
      ),
    ],
    [
      'a first lock is created',
      { locks: [{ op: 'take', lock, freeAt: undefined }] },
      write('create', lockKey, { item: lock }),
    ],
    [
      'a lock is taken while it is free under the fence that was seen',
      { locks: [{ op: 'take', lock, freeAt: 3 }] },
      write('update', lockKey, { expect: { held: false, fence: 3 }, set: changing }),
    ],
    [
      'a lock is released by its holder alone, and keeps what it remembers',
      { locks: [{ op: 'release', ...held }] },
      write('update', lockKey, { expect: given, set: { held: false }, remove: ended }),
    ],
    [
      'a released lock remembers the values it is given',
      { locks: [{ op: 'release', ...held, last }] },
      write('update', lockKey, { expect: given, set: { held: false, last }, remove: ended }),
    ],
    [
      'a lock handed over changes its holder and nothing else',
      { locks: [{ op: 'hand_over', ...held, subject: 'dev:ben', name: 'Ben' }] },
      write('update', lockKey, { expect: given, set: { subject: 'dev:ben', name: 'Ben' } }),
    ],
    [
      'a pointer replaces whatever is there',
      { pointers: [{ op: 'add', pointer }] },
      write(
        'create',
        { kind: 'pointer', tenant, subject: 'dev:ana', workflow: 'w001' },
        { item: pointer, replace: true },
      ),
    ],
    [
      'a pointer is removed whether it is there or not',
      { pointers: [{ op: 'remove', subject: 'dev:ben' }] },
      write(
        'delete',
        { kind: 'pointer', tenant, subject: 'dev:ben', workflow: 'w001' },
        { expect: {} },
      ),
    ],
    [
      'a sensitive value is created',
      { vault: [vault] },
      write('create', { kind: 'vault', tenant, workflow: 'w001', seq: 2 }, { item: vault }),
    ],
    [
      'an erased value is deleted',
      { erased: [9] },
      write('delete', { kind: 'vault', tenant, workflow: 'w001', seq: 9 }, { expect: {} }),
    ],
    [
      'an outbox row is created',
      { outbox: [outbox] },
      write(
        'create',
        { kind: 'outbox', tenant, workflow: 'w001', lane: 'notify:log', seq: 2 },
        { item: outbox },
      ),
    ],
  ] as [string, Partial<CommitPlan>, object][])('%s', (_name, part, expected) => {
    expect(compilePlan({ ...step, events: [], ...part }).writes.slice(1)).toStrictEqual([expected]);
  });

  it('that changes an aggregate names what is set, put in and removed, and nothing else', () => {
    if (step.aggregate.op !== 'update') throw new Error('expected an update');
    const { before } = step.aggregate;
    const compiled = (change: WorkflowChange): unknown =>
      compilePlan({ ...step, events: [], aggregate: { op: 'update', before, change } }).writes[0];
    const fence = { version: 1, head_seq: 1, head_hash: before.head_hash };
    const update = { op: 'update', key: workflowKey(), expect: fence };
    const set = { version: 2 };
    expect(compiled({ set })).toStrictEqual({ ...update, set });
    expect(compiled({ set, remove: ['block'] })).toStrictEqual({
      ...update,
      set,
      remove: ['block'],
    });
  });

  it('that creates an aggregate wants its key to be free', () => {
    const { state } = world;
    const { writes } = compilePlan({ ...step, events: [], aggregate: { op: 'create', state } });
    expect(writes).toStrictEqual([{ op: 'create', key: workflowKey(), item: state }]);
  });

  it('that is nothing but an answer to remember is one row', () => {
    expect(rememberKey(ledger, START_MS)).toStrictEqual({
      writes: [
        {
          op: 'create',
          key: { kind: 'ledger', tenant, key: 'k' },
          item: ledger,
          expiredAt: 1_767_323_045,
        },
      ],
    });
  });
});

describe('item keys', () => {
  it.each([
    [{ kind: 'workflow', tenant: 'acme', id: 'w1' }, 'T#acme#W#w1', 'STATE'],
    [{ kind: 'event', tenant: 'acme', workflow: 'w1', seq: 7 }, 'T#acme#W#w1', 'E#000000000007'],
    [{ kind: 'vault', tenant: 'acme', workflow: 'w1', seq: 7 }, 'T#acme#W#w1', 'V#000000000007'],
    [
      { kind: 'outbox', tenant: 'acme', workflow: 'w1', lane: 'notify:log', seq: 7 },
      'T#acme#W#w1',
      'O#notify:log#000000000007',
    ],
    [{ kind: 'ledger', tenant: 'acme', key: 'ab' }, 'T#acme#I#ab', 'LEDGER'],
    [{ kind: 'lock', tenant: 'acme', asset: 'V-101' }, 'T#acme#A#V-101', 'LOCK'],
    [
      { kind: 'pointer', tenant: 'acme', subject: 'dev:ana', workflow: 'w1' },
      'T#acme#S#dev:ana',
      'ACTIVE#w1',
    ],
  ] as [ItemKey, string, string][])('of a %o are pinned', (key, pk, sk) => {
    expect(tableKey(key)).toEqual({ pk, sk });
  });

  it('encode what could reach into another key', () => {
    expect(tableKey({ kind: 'lock', tenant: 'a#b', asset: '100%\n' })).toEqual({
      pk: 'T#a%23b#A#100%25%0A',
      sk: 'LOCK',
    });
    const one = keyText({ kind: 'workflow', tenant: 'a#W', id: 'b' });
    expect(one).not.toBe(keyText({ kind: 'workflow', tenant: 'a', id: 'W#b' }));
  });
});

describe('item sizes', () => {
  it.each([
    [null, 1],
    [true, 1],
    ['', 0],
    ['äb', 3],
    ['😀', 4],
    [0, 2],
    [1234, 3],
    [[], 3],
    [['a'], 5],
    [{ ä: 'b' }, 7],
  ])('of %j are %i bytes', (value, bytes) => {
    expect(itemBytes(value)).toBe(bytes);
  });
});
