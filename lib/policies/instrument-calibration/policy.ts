// The calibration domain: its procedure, and the rules that take two readings.
import type { DomainPolicy, Finding, RuleInput } from '../../core/ports/policy.ts';
import { instrumentCalibrationProcedure, instrumentCalibrationProcedure1 } from './procedure.ts';

/** Largest difference of two placements of one weight, in milligrams. */
const REPEATABILITY_MG = 0.4;

/** Laboratory instrument calibration. */
export const instrumentCalibration: DomainPolicy = {
  domain: 'instrument calibration',
  procedures: [instrumentCalibrationProcedure1, instrumentCalibrationProcedure],
  check: (input) => [...adjustmentHelped(input), ...placementsAgree(input)],
};

/** An adjustment that leaves a larger error than it found went the wrong way. */
function adjustmentHelped(input: RuleInput): readonly Finding[] {
  const pair = readings(input, 'as_found_error', 'as_left_error');
  if (pair === undefined || Math.abs(pair[1]) <= Math.abs(pair[0])) return [];
  return [
    {
      rule: 'as_left_within_as_found',
      message: 'the as left error is larger than the as found error',
      follows: 'block',
    },
  ];
}

/** The same weight has to show the same value; otherwise the single readings mean nothing. */
function placementsAgree(input: RuleInput): readonly Finding[] {
  const pair = readings(input, 'as_left_error', 'repeat_error');
  // Binary fractions: 0.7 - 0.3 must count as 0.4.
  if (pair === undefined || Math.abs(pair[1] - pair[0]) <= REPEATABILITY_MG + 1e-9) return [];
  return [
    {
      rule: 'repeatability',
      message: 'the two placements differ by more than zero point four milligrams',
      follows: 'retake',
    },
  ];
}

/** Both readings where the step concerned is one of them and both are on record. */
function readings(
  { step, values }: RuleInput,
  first: string,
  second: string,
): readonly [number, number] | undefined {
  if (step !== first && step !== second) return undefined;
  const left = values[first];
  const right = values[second];
  return typeof left === 'number' && typeof right === 'number' ? [left, right] : undefined;
}
