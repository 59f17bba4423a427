import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordStep, StepInput } from '../../../lib/core/model/commands.ts';
import type { ProcedureInput } from '../../../lib/core/model/procedure.ts';
import { commitment } from '../../../lib/core/redact.ts';
import { viewOf } from '../../../lib/core/view.ts';
import { parsedProcedure } from '../../support/parsed-procedure.ts';
import { person, PureWorld, refusalOf, eventsFound } from '../../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');

/** Two optional steps, of which the first is needed by a required one, and two required ones. */
const round: ProcedureInput = {
  id: 'round',
  version: 1,
  title: 'round',
  description: 'A procedure for tests.',
  asset: { type: 'valve', pattern: 'V-[0-9]{3}', example: 'V-101' },
  steps: [
    confirm('first', { optional: true }),
    confirm('between', { optional: true, requires: ['first'] }),
    confirm('needing', { requires: ['between'] }),
    {
      id: 'level',
      title: 'level',
      instruction: 'Read the level.',
      kind: 'reading',
      optional: true,
      unit: { symbol: 'mm', spoken: 'millimetres' },
      decimals: 0,
      bounds: { min: 0, max: 100 },
      expected: { min: 10, max: 90 },
      on_deviation: 'retake',
    },
    confirm('last', {}),
    confirm('extra', { optional: true }),
    confirm('more', { optional: true, requires: ['extra'] }),
    {
      id: 'remarks',
      title: 'remarks',
      instruction: 'Speak.',
      kind: 'text',
      optional: true,
      max_chars: 100,
      sensitive: true,
    },
  ],
};

function confirm(id: string, more: object): ProcedureInput['steps'][number] {
  const rest = { title: id, instruction: 'Look.', on_deviation: 'retake' } as const;
  return { id, kind: 'confirm', ...rest, ...more };
}

let world: PureWorld;
const skip = (step: string, reason = 'no gauge', more: Partial<RecordStep> = {}): RecordStep => ({
  ...record(step, { kind: 'skip', reason }),
  ...more,
});
const record = (step: string, input: StepInput): RecordStep => ({
  type: 'record_step',
  workflow: world.state.id,
  step,
  input,
});
const replacing = (command: RecordStep, replaces: number) =>
  ({ ...command, type: 'correct_step', replaces }) as const;
const yes: StepInput = { kind: 'confirm', confirmed: true };
const level = (value: number): RecordStep => record('level', { kind: 'reading', value });
const view = () => viewOf(world.state, parsedProcedure(round));

beforeEach(() => {
  world = new PureWorld({ domain: 'rounds', procedures: [round] });
  world.run(ana, { type: 'start_workflow', procedure: 'round', asset: 'V-101' });
});

describe('skipping a sensitive step', () => {
  const why = 'the valve of Mister Brown';

  it('keeps the reason apart, where it can be erased, and nothing of it elsewhere', () => {
    const decision = world.run(ana, skip('remarks', why));
    expect(decision).toMatchObject({ receipt: { result: 'skipped', step: 'remarks', seq: 2 } });
    expect(world.vault).toMatchObject([
      { workflow: world.state.id, seq: 2, value: { skipped: why } },
    ]);
    const event = world.events.at(-1);
    expect(event?.data).not.toHaveProperty('reason');
    expect(event?.data['commitment']).toBe(commitment(world.vault[0]?.key ?? '', { skipped: why }));
    const elsewhere = JSON.stringify([world.events, world.state, world.outbox, decision.kind]);
    expect(elsewhere).not.toContain('Brown');
    // A digest without a key would tell whether a guess of it is right.
    expect(world.state.steps['remarks']).not.toHaveProperty('digest');
  });

  it('knows the repeat by what is kept, and another reason as another', () => {
    world.run(ana, skip('remarks', why));
    expect(world.decide(ana, skip('remarks', ` ${why} `))).toEqual({ kind: 'duplicate', seq: 2 });
    expect(refusalOf(world.decide(ana, skip('remarks', 'other')))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_skipped',
      replaces: 2,
    });
    world.run(ana, replacing(skip('remarks', 'other'), 2));
    const seqs = (reason: string): readonly number[] => {
      const found = world.decide(ana, replacing(skip('remarks', reason), 2));
      if (found.kind !== 'search') throw new Error(found.kind);
      return eventsFound(world, found).map(({ seq }) => seq);
    };
    world.run(ana, replacing(skip('remarks', 'third'), 3));
    expect(seqs(why)).toEqual([]);
    expect(seqs('other')).toEqual([3]);
  });

  it('takes a text of the same words for a text', () => {
    world.run(ana, skip('remarks', why));
    expect(
      refusalOf(world.decide(ana, record('remarks', { kind: 'text', text: why }))),
    ).toMatchObject({ code: 'NEEDS_CONFIRMATION', reason: 'was_skipped', replaces: 2 });
  });

  it('does not know the repeat of a reason that was erased', () => {
    world.run(ana, skip('remarks', why));
    world.vault.length = 0;
    expect(refusalOf(world.decide(ana, skip('remarks', why)))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_skipped',
    });
  });
});

describe('skipping an optional step', () => {
  it('is on record with its reason, and begins the work', () => {
    expect(world.run(ana, skip('level', '  no gauge '))).toMatchObject({
      receipt: { command: 'record_step', result: 'skipped', step: 'level', seq: 2 },
    });
    expect(world.state).toMatchObject({ state: 'RUNNING', version: 2 });
    expect(world.state.steps['level']).toMatchObject({ status: 'skipped', seq: 2, basis: 0 });
    expect(world.events.at(-1)).toMatchObject({
      type: 'step_skipped',
      data: { command: 'record_step', result: 'skipped', step: 'level', reason: 'no gauge' },
    });
    expect(world.outbox).toEqual([]);
  });

  it('passes it over: it is not offered, and completion does not wait for it', () => {
    for (const step of ['first', 'between', 'needing']) world.run(ana, record(step, yes));
    expect(view().next?.step).toBe('level');
    world.run(ana, skip('level'));
    expect(view().next?.step).toBe('last');
    world.run(ana, record('last', yes));
    const complete = { type: 'complete_workflow', workflow: world.state.id } as const;
    expect(world.decide(ana, complete).kind).toBe('commit');
    expect(view()).toMatchObject({ done: 2, required: 2, ready_to_complete: true });
  });

  it('passes nothing over that comes before it', () => {
    world.run(ana, skip('level'));
    expect(view().next?.step).toBe('first');
  });

  it('can be refused by nobody but the person the workflow is assigned to', () => {
    expect(refusalOf(world.decide(ben, skip('level')))).toMatchObject({ code: 'NOT_ASSIGNED' });
  });

  it.each([
    ['a required step', 'last', 'required'],
    ['a step that a required one needs', 'between', 'needed'],
    ['a step that a required one needs in turn', 'first', 'needed'],
  ])('is refused for %s', (_what, step, why) => {
    const before = world.state;
    expect(refusalOf(world.run(ana, skip(step)))).toMatchObject({
      code: 'NOT_SKIPPABLE',
      step,
      why,
    });
    expect(world.state).toBe(before);
  });

  it('is allowed where only optional steps need it', () => {
    expect(world.run(ana, skip('extra')).kind).toBe('commit');
  });

  it('is refused for a step that is on record, also by naming its record', () => {
    world.run(ana, level(50));
    for (const command of [skip('level'), replacing(skip('level'), 2)]) {
      expect(refusalOf(world.run(ana, command))).toMatchObject({
        code: 'NOT_SKIPPABLE',
        why: 'recorded',
      });
    }
  });

  it('is possible for one that has to be repeated, by naming its record', () => {
    const asked = refusalOf(world.run(ana, level(200)));
    const confirmation = asked.code === 'NEEDS_CONFIRMATION' ? asked.confirmation : undefined;
    world.run(ana, { ...level(200), ...(confirmation !== undefined && { confirmation }) });
    expect(world.state.steps['level']?.status).toBe('retake');
    expect(refusalOf(world.run(ana, skip('level')))).toMatchObject({
      reason: 'already_recorded',
      replaces: 2,
    });
    expect(world.run(ana, replacing(skip('level'), 2)).kind).toBe('commit');
    expect(world.state.steps['level']?.status).toBe('skipped');
  });

  it('is refused without a reason, and as an answer of a second person', () => {
    expect(refusalOf(world.decide(ana, skip('level', ' \n')))).toMatchObject({
      faults: [{ path: '/skip_reason' }],
    });
    expect(refusalOf(world.decide(ana, skip('level', 'r', { confirms: 2 })))).toMatchObject({
      faults: [{ path: '/confirms' }],
    });
  });

  it('is refused on a workflow that has ended', () => {
    const end = { type: 'abandon_workflow', workflow: world.state.id, reason: 'r' } as const;
    world.run(ana, { ...end, tenure: 1 });
    expect(refusalOf(world.decide(ana, skip('level')))).toMatchObject({
      code: 'WORKFLOW_COMPLETED',
    });
  });
});

describe('a repeated skip', () => {
  it('with the same reason is a duplicate, whatever happened since', () => {
    world.run(ana, skip('level'));
    world.run(ana, record('first', yes));
    expect(world.run(ana, skip('level'))).toEqual({ kind: 'duplicate', seq: 2 });
  });

  it('is told to whoever skipped or has taken the work over, and to nobody else', () => {
    world.run(ana, skip('level'));
    const command = { type: 'hand_over', workflow: world.state.id, to: ben.subject } as const;
    const to = { tenant: 'acme', subject: ben.subject, name: 'Ben' };
    world.run(ana, { ...command, tenure: 1 }, to);
    for (const who of [ana, ben]) {
      expect(world.run(who, skip('level'))).toEqual({ kind: 'duplicate', seq: 2 });
    }
    expect(refusalOf(world.run(person('Cara'), skip('level')))).toMatchObject({
      code: 'NOT_ASSIGNED',
    });
  });

  it('that names a record where there is none is stale', () => {
    const { otherwise } = world.run(ana, replacing(skip('level'), 2)) as { otherwise?: object };
    expect(otherwise).toMatchObject({ code: 'STALE_REFERENCE', given: 2 });
    expect(otherwise).not.toHaveProperty('current');
  });

  it('with another reason asks, and names the skip that it would replace', () => {
    world.run(ana, skip('level'));
    expect(refusalOf(world.run(ana, skip('level', 'too hot')))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'already_skipped',
      replaces: 2,
    });
    expect(world.run(ana, replacing(skip('level', 'too hot'), 2))).toMatchObject({
      receipt: { command: 'correct_step', result: 'skipped', seq: 3 },
    });
    expect(world.state.steps['level']).toMatchObject({ seq: 3, basis: 2 });
  });

  it('that replaced another one is found where its occasion is over', () => {
    world.run(ana, skip('level'));
    world.run(ana, replacing(skip('level', 'too hot'), 2));
    const found = (reason: string) => {
      const late = world.run(ana, replacing(skip('level', reason), 2));
      if (late.kind !== 'search') throw new Error('expected a search');
      expect(late.otherwise).toMatchObject({ code: 'STALE_REFERENCE', given: 2, current: 3 });
      return eventsFound(world, late).map(({ seq }) => seq);
    };
    expect(found('too hot')).toEqual([3]);
    expect(found('no gauge')).toEqual([]);
  });
});

describe('a skipped step', () => {
  beforeEach(() => {
    world.run(ana, skip('level'));
  });

  it('is recorded later by naming the skip, and asks without', () => {
    expect(refusalOf(world.run(ana, level(50)))).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      reason: 'was_skipped',
      heard: 50,
      unit: 'mm',
      replaces: 2,
    });
    expect(world.run(ana, replacing(level(50), 2))).toMatchObject({
      receipt: { command: 'correct_step', result: 'recorded', value: 50 },
    });
    expect(world.state.steps['level']).toMatchObject({ status: 'done', basis: 2, value: 50 });
    expect(world.run(ana, replacing(level(50), 2)).kind).toBe('search');
  });

  it('that is recorded since is not skipped again by a late repeat', () => {
    world.run(ana, replacing(level(50), 2));
    expect(refusalOf(world.run(ana, skip('level')))).toMatchObject({ why: 'recorded' });
  });

  it('does not fulfil what another step requires', () => {
    world.run(ana, skip('extra'));
    expect(refusalOf(world.run(ana, record('more', yes)))).toMatchObject({
      code: 'STEP_NOT_READY',
      requires: ['extra'],
    });
  });
});
