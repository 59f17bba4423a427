import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../lib/core/json.ts';
import type { Finding } from '../../lib/core/ports/policy.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import { pumpInspection } from '../../lib/policies/pump-inspection/policy.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';

const procedure = parsedProcedure(pumpInspection.procedures.at(-1));

function findings(step: string, values: Record<string, Json>): readonly Finding[] {
  const built = buildRegistry([pumpInspection]);
  if (!built.ok) throw new Error('the registry refuses the domain');
  return built.registry.check(procedure, { step, values });
}

describe('the pump inspection', () => {
  test('has its steps in the order in which an operator walks', () => {
    expect(procedure.id).toBe('pump-inspection');
    expect(procedure.asset).toEqual({ type: 'pump', pattern: 'PUMP-[0-9]{2}', example: 'PUMP-07' });
    expect(procedure.steps.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'guards_check confirm',
      'suction_pressure reading',
      'discharge_pressure reading',
      'bearing_temperature reading',
      'vibration reading',
      'seal_condition choice',
      'motor_current reading',
      'operator_remarks text',
      'isolation_check confirm',
    ]);
  });

  test('marks what is optional, sensitive and for two people', () => {
    const ids = (wanted: (step: (typeof procedure.steps)[number]) => boolean): string[] =>
      procedure.steps.filter(wanted).map(({ id }) => id);
    expect(ids(({ optional }) => optional)).toEqual(['motor_current', 'operator_remarks']);
    expect(ids((step) => step.kind === 'text' && step.sensitive)).toEqual(['operator_remarks']);
    expect(ids((step) => step.second_person)).toEqual(['isolation_check']);
  });

  test('blocks a suction pressure beyond twelve bar', () => {
    expect(procedure.steps[1]).toMatchObject({
      unit: { symbol: 'bar', spoken: 'bar' },
      bounds: { min: 0, max: 12 },
      expected: { min: 1.5, max: 3 },
      on_deviation: 'block',
    });
  });

  test('tells the supervisor, the operator of idleness, and the plant manager of a block that stands', () => {
    expect(procedure.deadline).toEqual({ minutes: 480, on_overdue: 'notify' });
    expect(procedure.reminder).toEqual({ idle_minutes: 30, times: 2 });
    expect(procedure.escalation).toEqual([
      { on: 'warning', notify: 'supervisor' },
      { on: 'deviation', notify: 'supervisor' },
      { on: 'block', notify: 'supervisor' },
      { on: 'block', notify: 'supervisor', after_minutes: 30 },
      { on: 'block', notify: 'plant_manager', after_minutes: 120 },
      { on: 'overdue', notify: 'supervisor' },
      { on: 'reminder', notify: 'operator' },
    ]);
  });

  test('has a first version that differs from it in its times alone', () => {
    const { version, deadline, reminder, escalation, ...rest } = procedure;
    const first = parsedProcedure(pumpInspection.procedures[0]);
    expect([version, deadline, reminder].includes(undefined)).toBe(false);
    expect(first).toEqual({ ...rest, version: 1, escalation: escalation.slice(0, 3) });
  });
});

describe('discharge pressure against suction pressure', () => {
  const broken = [
    {
      rule: 'discharge_above_suction',
      message: 'the discharge pressure is not above the suction pressure',
      follows: 'block',
    },
  ];

  test.each(['suction_pressure', 'discharge_pressure'])('blocks when not above, at %s', (step) => {
    expect(findings(step, { suction_pressure: 3, discharge_pressure: 2.99 })).toEqual(broken);
    expect(findings(step, { suction_pressure: 3, discharge_pressure: 3 })).toEqual(broken);
  });

  test('is content when above', () => {
    expect(
      findings('discharge_pressure', { suction_pressure: 3, discharge_pressure: 3.01 }),
    ).toEqual([]);
  });

  test('says nothing while one of them is missing, or at another step', () => {
    expect(findings('discharge_pressure', { discharge_pressure: 1 })).toEqual([]);
    expect(findings('vibration', { suction_pressure: 3, discharge_pressure: 1 })).toEqual([]);
  });
});
