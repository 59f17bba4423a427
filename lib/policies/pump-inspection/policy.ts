// The pump inspection domain: its procedure, and the one rule that takes two readings.
import type { DomainPolicy, Finding, RuleInput } from '../../core/ports/policy.ts';
import { pumpInspectionProcedure, pumpInspectionProcedure1 } from './procedure.ts';

/** Industrial pump inspection. */
export const pumpInspection: DomainPolicy = {
  domain: 'pump inspection',
  procedures: [pumpInspectionProcedure1, pumpInspectionProcedure],
  check: dischargeAboveSuction,
};

/** A pump that runs raises the pressure; equal or reversed gauges mean it does not, or a valve is shut. */
function dischargeAboveSuction({ step, values }: RuleInput): readonly Finding[] {
  if (step !== 'suction_pressure' && step !== 'discharge_pressure') return [];
  const suction = values['suction_pressure'];
  const discharge = values['discharge_pressure'];
  if (typeof suction !== 'number' || typeof discharge !== 'number' || discharge > suction)
    return [];
  return [
    {
      rule: 'discharge_above_suction',
      message: 'the discharge pressure is not above the suction pressure',
      follows: 'block',
    },
  ];
}
