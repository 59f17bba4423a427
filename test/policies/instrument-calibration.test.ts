import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../lib/core/json.ts';
import type { Finding } from '../../lib/core/ports/policy.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import { instrumentCalibration } from '../../lib/policies/instrument-calibration/policy.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';

const procedure = parsedProcedure(instrumentCalibration.procedures.at(-1));

function findings(step: string, values: Record<string, Json>): readonly Finding[] {
  const built = buildRegistry([instrumentCalibration]);
  if (!built.ok) throw new Error('the registry refuses the domain');
  return built.registry.check(procedure, { step, values });
}

test('the calibration has its steps in the order in which a technician works', () => {
  expect(procedure.id).toBe('instrument-calibration');
  expect(procedure.asset.example).toBe('BAL-001');
  expect(procedure.steps.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
    'level_check confirm',
    'room_temperature reading',
    'as_found_error reading',
    'adjustment choice',
    'as_left_error reading',
    'repeat_error reading',
    'corner_error reading',
    'customer_reference text',
    'label_check confirm',
  ]);
});

describe('the error that is left', () => {
  const broken = [
    {
      rule: 'as_left_within_as_found',
      message: 'the as left error is larger than the as found error',
      follows: 'block',
    },
  ];

  test('blocks when it is larger than the one found, whatever its sign', () => {
    expect(findings('as_left_error', { as_found_error: 0.5, as_left_error: -0.6 })).toEqual(broken);
    expect(findings('as_found_error', { as_found_error: 0.5, as_left_error: 0.6 })).toEqual(broken);
  });

  test('is accepted when it is as large as the one found', () => {
    expect(findings('as_left_error', { as_found_error: 0.5, as_left_error: -0.5 })).toEqual([]);
  });
});

describe('two placements of one weight', () => {
  test('have to be repeated when they differ by more than 0.4 milligrams', () => {
    expect(findings('repeat_error', { as_left_error: 0.3, repeat_error: 0.8 })).toEqual([
      {
        rule: 'repeatability',
        message: 'the two placements differ by more than zero point four milligrams',
        follows: 'retake',
      },
    ]);
  });

  test('agree at exactly 0.4 milligrams, in spite of binary fractions', () => {
    expect(findings('repeat_error', { as_left_error: 0.3, repeat_error: 0.7 })).toEqual([]);
    expect(findings('repeat_error', { as_left_error: -0.1, repeat_error: 0.3 })).toEqual([]);
  });
});
