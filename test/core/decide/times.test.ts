// What commands make of the times that a procedure asks for.
import { expect, test } from '@jest/globals';
import type { ProcedureInput } from '../../../lib/core/model/procedure.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { person, PureWorld, START_MS } from '../../support/pure-world.ts';

const MINUTE = 60_000;
const ana = person('Ana');
const round: ProcedureInput = {
  id: 'round',
  version: 1,
  title: 'Round',
  description: 'Two questions, in time.',
  asset: { type: 'unit', pattern: 'U-[0-9]', example: 'U-1' },
  steps: ['first', 'second'].map((id) => ({
    id,
    kind: 'confirm' as const,
    title: id,
    instruction: 'Say.',
    on_deviation: 'retake' as const,
  })),
  reminder: { idle_minutes: 10, times: 1 },
  escalation: [{ on: 'reminder', notify: 'operator' }],
};

test('a command begins the waiting anew, and the end of the work ends it', () => {
  const world = new PureWorld({ domain: 'rounds', procedures: [round] });
  const confirm = (step: string): void => {
    world.run(ana, {
      type: 'record_step',
      workflow: world.state.id,
      step,
      input: { kind: 'confirm', confirmed: true },
    });
  };
  world.run(ana, { type: 'start_workflow', procedure: 'round', asset: 'U-1' });
  expect(world.state.timers?.reminder).toEqual({
    since: START_MS,
    told: 0,
    due_at: START_MS + 10 * MINUTE,
  });
  world.nowMs = START_MS + 5 * MINUTE;
  confirm('first');
  expect(world.state.timers?.reminder).toEqual({
    since: world.nowMs,
    told: 0,
    due_at: world.nowMs + 10 * MINUTE,
  });
  confirm('second');
  world.run(ana, { type: 'complete_workflow', workflow: world.state.id });
  expect(world.state).toMatchObject({
    state: 'COMPLETED',
    due_at: world.nowMs + RECONCILE.lastCheckMs,
  });
  expect(world.state).not.toHaveProperty('timers');
  const { aggregate } = world.plan ?? {};
  expect(aggregate?.op === 'update' && aggregate.change.remove).toEqual(['timers']);
});
