import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { DomainPolicy } from '../../lib/core/ports/policy.ts';

/** A procedure whose blocks propose to go on, within the hour: after a deviation, and after a deadline of 90 minutes. */
export const guardedProcedure: ProcedureInput = {
  id: 'guarded',
  version: 2,
  title: 'Guarded procedure',
  description: 'Blocks that somebody else may approve to go on from.',
  asset: { type: 'vessel', pattern: 'VESSEL-[0-9]+', example: 'VESSEL-1' },
  steps: [
    {
      id: 'ready',
      kind: 'confirm',
      title: 'Ready',
      instruction: 'Say whether it is ready.',
      on_deviation: 'block',
      second_person: true,
    },
    {
      id: 'pressure',
      kind: 'reading',
      title: 'Pressure',
      instruction: 'Read the pressure.',
      unit: {
        symbol: 'bar',
        spoken: 'bar',
        conversions: [{ symbol: 'psi', spoken: 'psi', factor: 0.0689476 }],
      },
      decimals: 1,
      bounds: { min: 0, max: 12 },
      expected: { min: 2, max: 6 },
      on_deviation: 'block',
      deadline: { minutes: 90, on_overdue: 'block' },
    },
    {
      id: 'remark',
      kind: 'text',
      title: 'Remark',
      instruction: 'Say what you saw.',
      optional: true,
      max_chars: 200,
    },
    {
      id: 'code',
      kind: 'text',
      title: 'Code',
      instruction: 'Say the code.',
      optional: true,
      max_chars: 40,
      sensitive: true,
    },
  ],
  escalation: [{ on: 'block', notify: 'supervisor' }],
  approval: { on: ['deviation', 'overdue'], expires_minutes: 60, notify: 'approver' },
};

/** The same in a domain that answers in code: every text blocks. */
export const guardedDomain: DomainPolicy = {
  domain: 'vessels',
  procedures: [guardedProcedure],
  check: ({ step }) =>
    step === 'remark' || step === 'code'
      ? [{ rule: 'no_texts', message: 'a text was recorded', follows: 'block' }]
      : [],
};
