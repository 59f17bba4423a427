// What a command that takes effect writes, member by member: trail, state, receipt and notification.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { receiptOf, type Decision } from '../../../lib/core/decide/decision.ts';
import { newRow } from '../../../lib/core/dispatch/new-row.ts';
import { ledgerRow } from '../../../lib/core/ledger.ts';
import type { Command, RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import type { EventBody } from '../../../lib/core/model/workflow.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { person, PureWorld, START_MS, valveCheck } from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
const cara = person('Cara', ['procedures:supervise']);
const profile = { tenant: 'acme', subject: 'dev:ben', name: 'Ben' };
const at = '2026-01-02T03:04:05.678Z';
const due_at = START_MS + RECONCILE.checkMs;
/** A sensitive text stands in the trail as what commits to it. */
const commitment: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);
const yes: StepInput = { kind: 'confirm', confirmed: true };
const reading = (value: number, unit?: string): StepInput => ({
  kind: 'reading',
  value,
  ...(unit !== undefined && { unit }),
});
const text = (said: string): StepInput => ({ kind: 'text', text: said });
const choice = (option: string): StepInput => ({ kind: 'choice', option });
const skip = (reason: string): StepInput => ({ kind: 'skip', reason });

let world: PureWorld;
const record = (step: string, input: StepInput, more: Partial<RecordStep> = {}): RecordStep => ({
  type: 'record_step',
  workflow: world.state.id,
  step,
  input,
  ...more,
});
const correct = (step: string, input: StepInput, replaces: number, more: object = {}): Command => ({
  ...record(step, input),
  type: 'correct_step',
  replaces,
  ...more,
});
const isolate = (): void => {
  world.run(ana, record('isolated', yes));
  world.run(ben, record('isolated', yes, { confirms: 2 }));
};
/** Runs a command, after confirming what is read back. */
const run = (who: typeof ana, command: Command): Extract<Decision, { kind: 'commit' }> => {
  const first = world.decide(who, command, profile);
  const asked = first.kind === 'refuse' ? first.outcome : undefined;
  const confirmation = asked?.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
  const sent = confirmation === undefined ? command : { ...command, confirmation };
  const decision = world.run(who, sent as Command, profile);
  if (decision.kind !== 'commit') throw new Error(`expected an effect, not ${decision.kind}`);
  return decision;
};
const lastEvent = (): EventBody => world.events.at(-1) as EventBody;

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' });
});

describe('the trail', () => {
  it('begins with who started what, where, and for which request', () => {
    world = new PureWorld();
    world.more = { requestId: 'r-1' };
    run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'v-101' });
    expect(lastEvent()).toStrictEqual({
      format: 1,
      tenant: 'acme',
      workflow: world.state.id,
      seq: 1,
      prev: '0'.repeat(64),
      type: 'workflow_started',
      at,
      actor: { subject: 'dev:ana', name: 'Ana', kind: 'person', via: 'mcp' },
      data: {
        command: 'start_workflow',
        result: 'started',
        procedure: 'valve-check',
        procedure_version: 3,
        asset: 'V-101',
        request_id: 'r-1',
      },
    });
  });

  const corrected = { command: 'correct_step', step: 'inlet', unit: 'bar' };
  it.each([
    [
      'a converted reading',
      ana,
      () => record('outlet', reading(40, 'psi')),
      'step_recorded',
      {
        command: 'record_step',
        result: 'recorded',
        step: 'outlet',
        value: 2.8,
        original: { value: 40, unit: 'psi' },
        unit: 'bar',
      },
    ],
    [
      'a value out of bounds',
      ana,
      () => record('inlet', reading(42)),
      'step_recorded',
      {
        command: 'record_step',
        result: 'retake_required',
        step: 'inlet',
        value: 42,
        rule: 'retake',
        unit: 'bar',
        deviations: ['bounds'],
        message: 'inlet pressure is beyond the upper limit',
      },
    ],
    [
      'a deviating choice',
      ana,
      () => record('leak', choice('wet')),
      'step_recorded',
      {
        command: 'record_step',
        result: 'deviation_recorded',
        step: 'leak',
        value: 'wet',
        rule: 'record_and_notify',
        deviations: ['choice'],
        message: 'leak is dripping',
      },
    ],
    [
      'a denied confirmation',
      ana,
      () => correct('isolated', { kind: 'confirm', confirmed: false }, 2),
      'step_corrected',
      {
        command: 'correct_step',
        result: 'blocked',
        step: 'isolated',
        value: false,
        rule: 'block',
        replaces: 2,
        deviations: ['confirm'],
        message: 'isolation is not confirmed',
      },
    ],
    [
      'a correction',
      ana,
      () => {
        world.run(ana, record('inlet', reading(4)));
        return correct('inlet', reading(5), 4);
      },
      'step_corrected',
      { ...corrected, result: 'recorded', value: 5, replaces: 4 },
    ],
    [
      'a skip',
      ana,
      () => record('remarks', skip(' no gauge ')),
      'step_skipped',
      { command: 'record_step', result: 'skipped', step: 'remarks', commitment },
    ],
    [
      'a skip in place of another one',
      ana,
      () => {
        world.run(ana, record('remarks', skip('none')));
        return correct('remarks', skip('no gauge'), 4);
      },
      'step_skipped',
      {
        command: 'correct_step',
        result: 'skipped',
        step: 'remarks',
        commitment,
        replaces: 4,
      },
    ],
    [
      'a resolved block',
      cara,
      () => {
        run(ana, record('outlet', reading(42)));
        const { id } = world.state;
        return { type: 'resolve_block', workflow: id, block: 4, decision: 'continue', reason: 'r' };
      },
      'block_resolved',
      { command: 'resolve_block', result: 'continued', step: 'outlet', block: 4, reason: 'r' },
    ],
    [
      'a hand-over',
      ana,
      () => ({ type: 'hand_over', workflow: world.state.id, to: 'dev:ben', tenure: 1 }),
      'workflow_handed_over',
      {
        command: 'hand_over',
        result: 'handed_over',
        to: 'dev:ben',
        to_name: 'Ben',
        tenure: 1,
        from: 'dev:ana',
      },
    ],
    [
      'an early end',
      ana,
      () => ({ type: 'abandon_workflow', workflow: world.state.id, tenure: 1, reason: 'r' }),
      'workflow_abandoned',
      { command: 'abandon_workflow', result: 'abandoned', tenure: 1, reason: 'r' },
    ],
    [
      'a completion',
      ana,
      () => {
        world.run(ana, record('inlet', reading(5)));
        world.run(ana, record('outlet', reading(3)));
        world.run(ana, record('leak', choice('dry')));
        return { type: 'complete_workflow', workflow: world.state.id };
      },
      'workflow_completed',
      { command: 'complete_workflow', result: 'completed' },
    ],
  ] as [string, typeof ana, () => Command, string, object][])(
    'says all there is to %s, and a repeat gets its receipt from there',
    (_what, who, command, type, data) => {
      isolate();
      const { receipt } = run(who, command());
      const event = lastEvent();
      expect([event.type, event.data]).toStrictEqual([type, data]);
      expect(event).toMatchObject({ at, actor: { subject: who.subject } });
      expect(receiptOf(event)).toStrictEqual(receipt);
      expect(receipt).toMatchObject({ workflow: 'w001', seq: event.seq, at });
    },
  );

  it('says of a second person what was confirmed, and of whom', () => {
    world.run(ana, record('isolated', yes));
    const { receipt } = run(ben, record('isolated', yes, { confirms: 2 }));
    expect(lastEvent()).toMatchObject({ type: 'step_confirmed', actor: { subject: 'dev:ben' } });
    expect(lastEvent().data).toStrictEqual({
      command: 'record_step',
      result: 'confirmed',
      step: 'isolated',
      value: true,
      confirms: 2,
    });
    expect(receiptOf(lastEvent())).toStrictEqual(receipt);
  });

  it('says what a second person confirmed in the unit it was said in', () => {
    isolate();
    world.run(ana, record('outlet', reading(40, 'psi')));
    const { steps } = world.state;
    const outlet = { ...steps['outlet'], status: 'awaiting_second' } as never;
    world.workflow = { ...world.state, steps: { ...steps, outlet } };
    run(ben, record('outlet', reading(40, 'psi'), { confirms: 4 }));
    expect(lastEvent().data).toMatchObject({ value: 2.8, original: { value: 40, unit: 'psi' } });
  });

  it('names the request and the key of a change, never in the receipt', () => {
    const keyed = { tenant: 'acme', key: 'k', operation: 'o', digest: 'd', fields: {} };
    world.more = { requestId: 'r-2', keyed };
    const { receipt, plan } = run(ana, record('leak', choice('dry')));
    expect(lastEvent().data).toMatchObject({ request_id: 'r-2' });
    expect(receipt).not.toHaveProperty('request_id');
    expect(plan.ledger).toStrictEqual(ledgerRow(keyed, receipt, START_MS));
    world.more = {};
    expect(run(ana, correct('leak', choice('wet'), 2)).plan).not.toHaveProperty('ledger');
  });
});

describe('a start', () => {
  it('writes lock, pointer, state and key from one moment', () => {
    world = new PureWorld();
    const keyed = { tenant: 'acme', key: 'k', operation: 'o', digest: 'd', fields: {} };
    world.more = { keyed };
    const { plan, receipt } = run(ana, {
      type: 'start_workflow',
      procedure: 'valve-check',
      asset: 'V-101',
    });
    const { events, aggregate, ...rest } = plan;
    const { id } = world.state;
    expect(receipt).toStrictEqual({
      command: 'start_workflow',
      result: 'started',
      workflow: id,
      seq: 1,
      at,
    });
    expect(aggregate).toStrictEqual({
      op: 'create',
      state: {
        format: 1,
        tenant: 'acme',
        id,
        version: 1,
        procedure: 'valve-check',
        procedure_version: 3,
        asset: 'V-101',
        state: 'CREATED',
        holder: { subject: 'dev:ana', name: 'Ana' },
        tenure: 1,
        offered: false,
        fence: 1,
        steps: {},
        head_seq: 1,
        head_hash: events[0]?.hash,
        created_at: at,
        updated_at: at,
        due_at,
      },
    });
    const by = { procedure: 'valve-check', subject: 'dev:ana', workflow: id, since: at };
    expect(rest).toStrictEqual({
      tenant: 'acme',
      now: START_MS,
      ledger: ledgerRow(keyed, receipt, START_MS),
      locks: [
        {
          op: 'take',
          freeAt: undefined,
          lock: {
            format: 1,
            tenant: 'acme',
            asset: 'V-101',
            fence: 1,
            held: true,
            name: 'Ana',
            ...by,
          },
        },
      ],
      pointers: [{ op: 'add', pointer: { format: 1, tenant: 'acme', asset: 'V-101', ...by } }],
      vault: [],
      outbox: [],
      guards: [],
    });
  });

  it('relies on the fence at which it found the lock free', () => {
    run(ana, { type: 'abandon_workflow', workflow: 'w001', tenure: 1, reason: 'r' });
    const start = { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' } as const;
    const { plan } = run(ben, start);
    expect(plan.locks).toMatchObject([{ freeAt: 1, lock: { fence: 2 } }]);
    expect(plan).not.toHaveProperty('ledger');
  });
});

describe('the state', () => {
  const change = (decision: Extract<Decision, { kind: 'commit' }>): unknown => {
    const { aggregate } = decision.plan;
    if (aggregate.op !== 'update') throw new Error('expected an update');
    const { head_hash, ...set } = aggregate.change.set;
    expect(head_hash).toBe(decision.plan.events[0]?.hash);
    return { ...aggregate.change, set };
  };
  const at4 = { version: 4, head_seq: 4, updated_at: at, due_at };
  const slot = { seq: 4, basis: 0, by: 'dev:ana', at };

  it.each([
    [
      'a converted reading',
      'outlet',
      reading(40, 'psi'),
      { status: 'done', value: 2.8, original: { value: 40, unit: 'psi' } },
    ],
    ['a choice', 'leak', choice('dry'), { status: 'done', value: 'dry' }],
    ['a sensitive text', 'remarks', text('Köhler'), { status: 'done' }],
    ['a skip', 'remarks', skip('no gauge'), { status: 'skipped' }],
  ] as [string, string, StepInput, object][])(
    'keeps of %s one slot',
    (_what, step, input, kept) => {
      isolate();
      expect(change(run(ana, record(step, input)))).toStrictEqual({
        set: { ...at4, state: 'RUNNING' },
        steps: { [step]: { ...slot, ...kept } },
      });
    },
  );

  it('keeps of a block who met it, where, when and why', () => {
    isolate();
    expect(change(run(ana, record('outlet', reading(42))))).toStrictEqual({
      set: {
        ...at4,
        state: 'BLOCKED',
        block: {
          seq: 4,
          reason: 'deviation',
          step: 'outlet',
          by: 'dev:ana',
          at,
          message: 'outlet pressure is beyond the upper limit',
        },
      },
      steps: { outlet: { ...slot, status: 'done', value: 42 } },
    });
  });

  it.each([
    ['continue', 'continued', { state: 'RUNNING' }, {}],
    [
      'retake',
      'reopened',
      { state: 'RUNNING' },
      { steps: { outlet: { ...slot, status: 'retake', value: 42 } } },
    ],
    ['abandon', 'abandoned', { state: 'COMPLETED', result: 'abandoned', ended_seq: 5 }, {}],
  ] as const)('after a block resolved with %s is open or over', (decision, result, set, more) => {
    isolate();
    run(ana, record('outlet', reading(42)));
    const command = { type: 'resolve_block', workflow: 'w001', block: 4, decision } as const;
    const effect = run(cara, { ...command, reason: 'r' });
    const due = decision === 'abandon' ? START_MS + RECONCILE.lastCheckMs : due_at;
    expect(change(effect)).toStrictEqual({
      set: { version: 5, head_seq: 5, updated_at: at, due_at: due, ...set },
      remove: ['block'],
      ...more,
    });
    expect(effect.receipt).toMatchObject({ result });
    expect(effect.plan.locks).toHaveLength(decision === 'abandon' ? 1 : 0);
  });

  it('after a confirmation names the second person beside the first', () => {
    world.run(ana, record('isolated', yes));
    expect(change(run(ben, record('isolated', yes, { confirms: 2 })))).toStrictEqual({
      set: { version: 3, head_seq: 3, updated_at: at, due_at },
      steps: {
        isolated: {
          ...slot,
          seq: 2,
          status: 'done',
          value: true,
          witness: { seq: 3, by: 'dev:ben' },
        },
      },
    });
  });

  it('after a hand-over has another holder, with lock and pointers to match', () => {
    isolate();
    const command = { type: 'hand_over', workflow: 'w001', to: 'dev:ben', tenure: 1 } as const;
    const effect = run(ana, command);
    expect(change(effect)).toStrictEqual({
      set: { ...at4, holder: { subject: 'dev:ben', name: 'Ben' }, tenure: 4, offered: true },
    });
    const { locks, pointers, ...rest } = effect.plan;
    expect(locks).toStrictEqual([
      {
        op: 'hand_over',
        asset: 'V-101',
        workflow: 'w001',
        fence: 1,
        subject: 'dev:ben',
        name: 'Ben',
      },
    ]);
    expect(pointers).toStrictEqual([
      { op: 'remove', subject: 'dev:ana' },
      {
        op: 'add',
        pointer: {
          format: 1,
          tenant: 'acme',
          subject: 'dev:ben',
          workflow: 'w001',
          asset: 'V-101',
          procedure: 'valve-check',
          since: at,
        },
      },
    ]);
    expect(rest).toMatchObject({ tenant: 'acme', vault: [], outbox: [], guards: [] });
  });

  it('stays offered until its receiver acts, whatever others do', () => {
    isolate();
    run(ana, record('outlet', reading(42)));
    run(cara, { type: 'hand_over', workflow: 'w001', to: 'dev:ben', tenure: 1 });
    const resolve = { type: 'resolve_block', workflow: 'w001', block: 4, reason: 'r' } as const;
    run(cara, { ...resolve, decision: 'continue' });
    expect(world.state.offered).toBe(true);
    run(ben, record('leak', choice('dry')));
    expect(world.state.offered).toBe(false);
  });
});

describe('a text that is not sensitive', () => {
  const open = {
    ...valveCheck,
    id: 'open',
    steps: valveCheck.steps.map((step) =>
      step.kind === 'text' ? { ...step, sensitive: false } : step,
    ),
  };

  beforeEach(() => {
    world = new PureWorld({ domain: 'open', procedures: [open] });
    world.run(ana, { type: 'start_workflow', procedure: 'open', asset: 'V-101' });
  });

  it('stands in the trail and not in the state, which keeps its digest', () => {
    const { receipt } = run(ana, record('remarks', text('Grüße')));
    expect(receipt).toMatchObject({ value: 'Grüße' });
    expect(lastEvent().data).toMatchObject({ value: 'Grüße' });
    expect(lastEvent().data).not.toHaveProperty('commitment');
    expect(world.state.steps['remarks']).toStrictEqual({
      seq: 2,
      basis: 0,
      status: 'done',
      by: 'dev:ana',
      at,
      digest: 'edd93218644482c19cd97f61c9484d39efc7e2095aab6ae91719c9adef834d94',
    });
    expect(world.vault).toStrictEqual([]);
  });

  it('repeated is a duplicate, and another one a question', () => {
    run(ana, record('remarks', text('Grüße')));
    expect(world.run(ana, record('remarks', text('Grüße')))).toStrictEqual({
      kind: 'duplicate',
      seq: 2,
    });
    const other = world.decide(ana, record('remarks', text('other')));
    expect(other).toMatchObject({ outcome: { reason: 'already_recorded', heard: 'other' } });
  });
});

describe('a sensitive value', () => {
  it('is one row apart under a key of its own', () => {
    const { plan } = run(ana, record('remarks', text('Köhler')));
    expect(plan.vault).toStrictEqual([
      {
        format: 1,
        tenant: 'acme',
        workflow: 'w001',
        seq: 2,
        key: expect.stringMatching(/^0{62}\d\d$/),
        value: 'Köhler',
      },
    ]);
    expect(Object.keys(lastEvent().data)).toStrictEqual(
      ['commitment', 'command', 'result', 'step'].sort(),
    );
  });
});

describe('the time at which work is looked at', () => {
  it('is written by a command as it stands, though the command comes later', () => {
    world.nowMs += 60_000;
    run(ana, record('isolated', yes));
    expect(world.state.due_at).toBe(START_MS + 3_600_000);
  });

  it('comes back by a command where it was lost', () => {
    const { due_at: _lost, ...rest } = world.state;
    world.workflow = rest;
    world.nowMs += 60_000;
    run(ana, record('isolated', yes));
    expect(world.state.due_at).toBe(START_MS + 60_000 + 3_600_000);
  });
});

describe('a notification', () => {
  const row = {
    format: 1,
    tenant: 'acme',
    workflow: 'w001',
    seq: 4,
    rev: 0,
    attempts: 0,
    due_at: START_MS + 30_000,
  };
  const place = { workflow: 'w001', asset: 'V-101', procedure: 'valve-check@3', head_seq: 4, at };

  it('goes to each sink on a lane of its own, with an id that never changes', () => {
    isolate();
    world.more = { sinks: ['log', 'mail'] };
    const { plan } = run(ana, record('outlet', reading(200, 'psi')));
    const payload = {
      ...place,
      kind: 'block',
      audiences: ['supervisor'],
      head_hash: world.state.head_hash,
      step: 'outlet',
      title: 'outlet pressure',
      result: 'blocked',
      value: 13.8,
      original: { value: 200, unit: 'psi' },
      message: 'outlet pressure is beyond the upper limit',
    };
    expect(plan.outbox).toStrictEqual([
      { ...row, lane: 'notify:log', id: 'fabb8cb8058e78026cb48f6f9a62c4ca', payload },
      { ...row, lane: 'notify:mail', id: '9eab11dc1b33ce5b497d7db4c0aff523', payload },
    ]);
  });

  it('has another id where another event took the same place in the trail', () => {
    const lane = { tenant: 'acme', workflow: 'w1', lane: 'notify:log' };
    const idAt = (hash: string): string => newRow(lane, { seq: 3, hash }, {}, 0).id;
    expect(idAt('a'.repeat(64))).toBe(idAt('a'.repeat(64)));
    expect(idAt('a'.repeat(64))).not.toBe(idAt('b'.repeat(64)));
  });

  it('of a warning says the value and no deviation', () => {
    isolate();
    const { plan } = run(ana, record('inlet', reading(11)));
    expect(plan.outbox.map(({ payload }) => payload)).toStrictEqual([
      {
        ...place,
        kind: 'warning',
        audiences: ['shift'],
        head_hash: world.state.head_hash,
        step: 'inlet',
        title: 'inlet pressure',
        result: 'recorded_with_warning',
        value: 11,
      },
    ]);
  });

  it('is not written where nobody is to be told', () => {
    const quiet = { ...valveCheck, id: 'quiet', escalation: [] };
    world = new PureWorld({ domain: 'quiet', procedures: [quiet] });
    world.run(ana, { type: 'start_workflow', procedure: 'quiet', asset: 'V-101' });
    const { plan } = run(ana, record('leak', choice('wet')));
    expect(plan.outbox).toStrictEqual([]);
  });
});

describe('an end', () => {
  const end = { type: 'abandon_workflow', workflow: 'w001', tenure: 1, reason: 'r' } as const;

  it('frees the asset under the fence of the workflow and points nobody to it', () => {
    const { plan } = run(ana, end);
    expect(plan.locks).toStrictEqual([
      { op: 'release', asset: 'V-101', fence: 1, workflow: 'w001' },
    ]);
    expect(plan.pointers).toStrictEqual([{ op: 'remove', subject: 'dev:ana' }]);
  });

  it('leaves what was recorded on the lock', () => {
    world.run(ana, record('leak', choice('dry')));
    const { plan } = run(ana, end);
    expect(plan.locks).toMatchObject([{ op: 'release', last: { at, values: { leak: 'dry' } } }]);
  });

  it('that came early is no completion', () => {
    run(ana, end);
    const complete = { type: 'complete_workflow', workflow: 'w001' } as const;
    expect(world.decide(ana, complete)).toMatchObject({ outcome: { code: 'WORKFLOW_COMPLETED' } });
  });
});
