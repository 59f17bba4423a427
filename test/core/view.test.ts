import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StepInput } from '../../lib/core/model/commands.ts';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { Timers, Workflow } from '../../lib/core/model/workflow.ts';
import { parseProcedure } from '../../lib/core/parse-procedure.ts';
import { viewOf, type WorkflowView } from '../../lib/core/view.ts';
import { person, PureWorld, valveCheck } from '../support/pure-world.ts';

const ana = person('Ana');
const ben = person('Ben');
let world: PureWorld;

const procedure = (input: ProcedureInput = valveCheck) => {
  const parsed = parseProcedure(input);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.procedure;
};
const view = (): WorkflowView => viewOf(world.state, procedure());
const record = (step: string, input: StepInput, who = ana, confirms?: number): void => {
  const named = confirms === undefined ? {} : { confirms };
  world.run(who, { type: 'record_step', workflow: world.state.id, step, input, ...named });
};
const yes: StepInput = { kind: 'confirm', confirmed: true };

beforeEach(() => {
  world = new PureWorld();
  world.run(ana, { type: 'start_workflow', procedure: 'valve-check', asset: 'V-101' });
});

describe('the next step', () => {
  it('is the first open one, with all that has to be said about it', () => {
    record('isolated', yes);
    record('isolated', yes, ben, 2);
    expect(view().next).toEqual({
      step: 'inlet',
      title: 'inlet pressure',
      instruction: 'Read the inlet gauge.',
      kind: 'reading',
      optional: false,
      second_person: false,
      awaiting_second: false,
      unit: 'bar',
      unit_spoken: 'bar',
      decimals: 1,
      expected: { min: 2, max: 6 },
      bounds: { min: 0, max: 12 },
    });
  });

  it('passes over steps whose requirements are not done', () => {
    record('isolated', yes);
    expect(view().next?.step).toBe('leak');
  });

  it('is the one that waits for a second person only when nothing else is open', () => {
    record('isolated', yes);
    record('leak', { kind: 'choice', option: 'dry' });
    record('remarks', { kind: 'text', text: 'x' });
    expect(view().next).toMatchObject({ step: 'isolated', awaiting_second: true, confirms: 2 });
  });

  it('offers an optional step in its turn, and not once it was passed over', () => {
    const first = {
      ...valveCheck.steps[4],
      id: 'early',
      optional: true,
    } as ProcedureInput['steps'][0];
    const input = { ...valveCheck, steps: [first, ...valveCheck.steps] };
    expect(viewOf(world.state, procedure(input)).next?.step).toBe('early');
    record('leak', { kind: 'choice', option: 'dry' });
    expect(viewOf(world.state, procedure(input)).next?.step).toBe('isolated');
  });

  it('is absent while a workflow is blocked or over', () => {
    world.workflow = { ...world.state, state: 'BLOCKED' };
    expect(view()).not.toHaveProperty('next');
    world.workflow = { ...world.state, state: 'COMPLETED', result: 'completed' };
    expect(view()).toMatchObject({ ready_to_complete: false, result: 'completed' });
    expect(view()).not.toHaveProperty('next');
  });
});

describe('the count of steps', () => {
  it('counts required steps only, and a step that waits is not done', () => {
    expect(view()).toMatchObject({ done: 0, required: 4 });
    record('isolated', yes);
    record('remarks', { kind: 'text', text: 'x' });
    expect(view()).toMatchObject({ done: 0, required: 4 });
    record('leak', { kind: 'choice', option: 'dry' });
    expect(view()).toMatchObject({ done: 1, required: 4 });
  });
});

describe('a view', () => {
  it('never holds a sensitive text', () => {
    record('remarks', { kind: 'text', text: 'Köhler' });
    expect(JSON.stringify(view())).not.toContain('hler');
  });
});

describe('the times of a workflow', () => {
  const due_at = '2026-01-02T04:00:00.000Z';
  const ms = Date.parse(due_at);
  const with_ = (timers: Timers, part: Partial<Workflow> = {}): WorkflowView =>
    viewOf({ ...world.state, timers, ...part }, procedure());

  it('stand with the step, with the next step and with the whole, and say whether they passed', () => {
    const timers = { deadline: { due_at: ms }, steps: { isolated: { due_at: ms, passed: true } } };
    const seen = with_(timers as Timers);
    expect(seen).toMatchObject({ due_at, next: { step: 'isolated', due_at, overdue: true } });
    expect(seen).not.toHaveProperty('overdue');
    expect(seen.steps[0]).toMatchObject({ step: 'isolated', due_at, overdue: true });
    expect(seen.steps[1]).not.toHaveProperty('due_at');
  });

  it('of a block say how often it was told, and when next', () => {
    const block = { seq: 2, reason: 'overdue', by: 'x', at: due_at, message: 'm' } as const;
    const blocked = { state: 'BLOCKED', block } as const;
    const escalation = { block: 2, since: ms - 1, told: 1 };
    expect(with_({ steps: {}, escalation: { ...escalation, due_at: ms } }, blocked)).toMatchObject({
      block: { told_again: 1, told_next: due_at },
    });
    expect(with_({ steps: {}, escalation }, blocked).block).not.toHaveProperty('told_next');
  });

  it('are not there where the procedure has none', () => {
    expect(view()).not.toHaveProperty('due_at');
    expect(view().next).not.toHaveProperty('due_at');
  });
});
