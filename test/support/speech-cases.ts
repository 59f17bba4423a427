// One example, or several, of everything that can be answered: exhaustive by type, so that a new
// code, result or reason does not compile until it has its words.
import type { CommandType, ReceiptResult } from '../../lib/core/model/workflow.ts';
import type { ConfirmationReason, Outcome, OutcomeCode, Refusal } from '../../lib/core/outcome.ts';
import type { WorkflowView } from '../../lib/core/view.ts';

/** A pump inspection in progress. */
export const view: WorkflowView = {
  workflow: '07jzproqz559sfkohpgz1dmbr3',
  version: 3,
  procedure: 'pump-inspection',
  procedure_version: 1,
  title: 'pump inspection',
  asset: 'PUMP-07',
  asset_type: 'pump',
  state: 'RUNNING',
  holder: 'Ana',
  holder_subject: 'dev:ana',
  tenure: 1,
  offered: false,
  done: 2,
  required: 7,
  steps: [],
  next: {
    step: 'discharge_pressure',
    title: 'discharge pressure',
    instruction: 'Read the pressure on the discharge side gauge.',
    kind: 'reading',
    optional: false,
    second_person: false,
    awaiting_second: false,
    unit: 'bar',
    unit_spoken: 'bar',
    decimals: 2,
    expected: { min: 4, max: 6 },
    bounds: { min: 0, max: 25 },
  },
  ready_to_complete: false,
  started_at: '2026-01-05T08:00:00.000Z',
  updated_at: '2026-01-05T08:01:00.000Z',
};

const { next: _next, ...withoutNext } = view;

/** The same work once it has ended. */
export const ended: WorkflowView = { ...withoutNext, state: 'COMPLETED', result: 'completed' };
/** The same work while it is blocked. */
export const blocked: WorkflowView = {
  ...withoutNext,
  state: 'BLOCKED',
  block: {
    seq: 4,
    reason: 'deviation',
    step: 'suction_pressure',
    title: 'suction pressure',
    message: 'suction pressure is beyond the upper limit.',
    since: '2026-01-05T08:01:00.000Z',
  },
};

type Example = { readonly outcome: Outcome; readonly asked?: CommandType };

const HASH = 'a1'.repeat(32);
const step = 'suction_pressure';
const at = '2026-01-05T08:01:00.000Z';

const results: { readonly [R in ReceiptResult]: readonly [CommandType, object, WorkflowView] } = {
  started: ['start_workflow', {}, view],
  recorded: ['record_step', { step, value: 2.1 }, view],
  recorded_with_warning: ['record_step', { step, value: 4.5 }, view],
  awaiting_second_person: ['record_step', { step: 'isolation_check', value: true }, view],
  confirmed: ['record_step', { step: 'isolation_check', value: true }, view],
  deviation_recorded: ['record_step', { step: 'seal_condition', value: 'dripping' }, view],
  skipped: ['record_step', { step: 'motor_current' }, view],
  retake_required: ['record_step', { step: 'vibration', value: 19 }, view],
  blocked: ['record_step', { step, value: 42 }, blocked],
  continued: ['resolve_block', { step }, view],
  reopened: ['resolve_block', { step }, view],
  approved: ['decide_approval', { step, action_hash: HASH }, view],
  denied: ['decide_approval', { step, action_hash: HASH }, blocked],
  handed_over: ['hand_over', { to: 'dev:ana' }, view],
  completed: ['complete_workflow', {}, ended],
  abandoned: ['abandon_workflow', {}, { ...ended, result: 'abandoned' }],
};

const committed: readonly Example[] = Object.entries(results).flatMap(([result, parts]) =>
  [false, true].map((duplicate): Example => {
    const [command, rest, workflow] = parts;
    const receipt = {
      command,
      workflow: view.workflow,
      seq: 3,
      at,
      result: result as ReceiptResult,
    };
    return { outcome: { code: 'OK', duplicate, receipt: { ...receipt, ...rest }, workflow } };
  }),
);

const reasons: { readonly [R in ConfirmationReason]: readonly Example[] } = {
  out_of_bounds: [
    ...asks({ reason: 'out_of_bounds', heard: 42, limit: 12 }),
    ...asks({
      reason: 'out_of_bounds',
      heard: 13.79,
      original: { value: 200, unit: 'psi' },
      limit: 12,
    }),
  ],
  rule_broken: asks({ reason: 'rule_broken', heard: 9, message: 'the rule says no.' }),
  not_confirmed: asks({ reason: 'not_confirmed', step: 'guards_check', heard: false }),
  deviating_choice: asks({ reason: 'deviating_choice', step: 'seal_condition', heard: 'dripping' }),
  already_recorded: [
    ...asks({ reason: 'already_recorded', heard: 2.3, recorded: -2.1 }),
    ...asks({ reason: 'already_recorded', step: 'operator_remarks' }),
  ],
  was_skipped: [
    ...asks({ reason: 'was_skipped', step: 'motor_current', heard: 90 }),
    ...asks({ reason: 'was_skipped', step: 'operator_remarks' }),
  ],
  already_skipped: asks({ reason: 'already_skipped', step: 'motor_current' }),
  second_person: [
    ...asks({ reason: 'second_person', step: 'isolation_check', heard: true }),
    ...asks({ reason: 'second_person', step: 'operator_remarks' }),
  ],
  ends_assignment: [
    ...asks({ reason: 'ends_assignment', to: 'Ben' }, 'hand_over'),
    ...asks({ reason: 'ends_assignment' }, 'hand_over'),
    ...asks({ reason: 'ends_assignment' }, 'abandon_workflow'),
    ...asks({ reason: 'ends_assignment' }),
  ],
};

function asks(
  parts: Omit<Extract<Refusal, { code: 'NEEDS_CONFIRMATION' }>, 'code' | 'workflow'>,
  asked?: CommandType,
): readonly Example[] {
  const outcome: Outcome = { code: 'NEEDS_CONFIRMATION', step, workflow: view, ...parts };
  return [{ outcome, ...(asked !== undefined && { asked }) }];
}

const choice = (n: number) => ({
  workflow: `07jzproqz559sfkohpgz1dmbr${n}`,
  asset: `PUMP-0${n}`,
  procedure: 'pump-inspection',
  title: 'pump inspection',
});

/** Examples of every outcome, by code. */
export const OUTCOMES: { readonly [C in OutcomeCode]: readonly Example[] } = {
  OK: committed,
  NEEDS_CONFIRMATION: Object.values(reasons).flat(),
  FORBIDDEN: [
    { outcome: { code: 'FORBIDDEN', why: 'scope', need: 'procedures:run' } },
    { outcome: { code: 'FORBIDDEN', why: 'person', need: 'a person' } },
    { outcome: { code: 'FORBIDDEN', why: 'channel', need: 'another channel' } },
    { outcome: { code: 'FORBIDDEN', why: 'involved', need: 'somebody else' } },
  ],
  ALREADY_DECIDED: (['approved', 'denied'] as const).map((decision) => ({
    outcome: {
      code: 'ALREADY_DECIDED',
      decision,
      by: 'dev:dora',
      name: 'Dora',
      at,
      action_hash: HASH,
      workflow: blocked,
    },
  })),
  STALE_PROPOSAL: [{ outcome: { code: 'STALE_PROPOSAL', given: HASH, workflow: blocked } }],
  APPROVAL_EXPIRED: [{ outcome: { code: 'APPROVAL_EXPIRED', expires_at: at, workflow: blocked } }],
  INVALID_ARGUMENT: [
    ...[
      ['/step', 'expected one of: suction_pressure, discharge_pressure'],
      ['/reading', 'expected at most 2 decimal places'],
      ['/unit', 'expected mm/s (millimetres per second)'],
      ['/asset', 'expected the name of a pump such as PUMP-07'],
      ['/choice', 'expected one of: dry, damp, dripping'],
      ['/confirmed', 'suction pressure is a reading step: expected the argument reading'],
      ['/reading', 'guards check is a confirm step: expected the argument confirmed'],
      ['/procedure', 'required'],
      ['/__proto__', 'this is not an argument of this tool'],
      ['', 'expected one of: reading, spoken_reading, choice, text, confirmed, skip_reason'],
      ['/spoken_reading', 'expected one number in bar for suction pressure'],
    ].map(([path = '', message = '']) => ({
      outcome: { code: 'INVALID_ARGUMENT' as const, faults: [{ path, message }] },
    })),
    ...[['PUMP-07'], ['PUMP-07', 'PUMP-17', 'PUMP-70']].map((suggestions) => ({
      outcome: {
        code: 'INVALID_ARGUMENT' as const,
        faults: [{ path: '/asset', message: 'expected the name of a pump such as PUMP-07' }],
        suggestions,
      },
    })),
  ],
  BACKEND_UNAVAILABLE: [
    { outcome: { code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 } },
  ],
  IDEMPOTENCY_CONFLICT: [
    { outcome: { code: 'IDEMPOTENCY_CONFLICT', operation: 'record_step', fields: ['input'] } },
  ],
  AMBIGUOUS: [
    { outcome: { code: 'AMBIGUOUS', about: 'workflow', choices: [], total: 0 } },
    { outcome: { code: 'AMBIGUOUS', about: 'workflow', choices: [choice(1)], total: 1 } },
    {
      outcome: {
        code: 'AMBIGUOUS',
        about: 'workflow',
        choices: [1, 2, 3, 4, 5].map(choice),
        total: 8,
      },
    },
    {
      outcome: {
        code: 'AMBIGUOUS',
        about: 'person',
        choices: [],
        people: [
          { subject: 'dev:ben', name: 'Ben' },
          { subject: 'corp:ben', name: 'ben' },
        ],
        total: 2,
      },
    },
  ],
  NOT_FOUND: [
    { outcome: { code: 'NOT_FOUND', what: 'workflow', name: '07jzproqz559sfkohpgz1dmbr9' } },
    { outcome: { code: 'NOT_FOUND', what: 'procedure', name: 'x', known: ['pump-inspection'] } },
    { outcome: { code: 'NOT_FOUND', what: 'procedure', name: 'x', known: [] } },
    { outcome: { code: 'NOT_FOUND', what: 'person', name: 'Ben' } },
    { outcome: { code: 'NOT_FOUND', what: 'asset', name: 'PUMP-09' } },
    {
      outcome: {
        code: 'NOT_FOUND',
        what: 'asset',
        name: 'pump nine',
        suggestions: ['PUMP-09', 'PUMP-19'],
      },
    },
    {
      outcome: {
        code: 'NOT_FOUND',
        what: 'person',
        name: `ok\u202Egnp.exe **x** https://evil.example/a [y](z) \u001b[2K${'w '.repeat(200)}`,
      },
    },
  ],
  NOT_ASSIGNED: [{ outcome: { code: 'NOT_ASSIGNED', holder: 'Ana', workflow: view } }],
  STALE_REFERENCE: (['block', 'assignment', 'reading', 'confirmation'] as const).flatMap((names) =>
    [view, blocked, ended].map((workflow): Example => {
      return { outcome: { code: 'STALE_REFERENCE', names, given: 1, current: 2, workflow } };
    }),
  ),
  ASSET_BUSY: [
    {
      outcome: {
        code: 'ASSET_BUSY',
        asset: 'PUMP-07',
        holder: 'Ana',
        mine: false,
        procedure: 'pump inspection',
        since: at,
      },
    },
  ],
  WORKFLOW_COMPLETED: [{ outcome: { code: 'WORKFLOW_COMPLETED', workflow: ended } }],
  WORKFLOW_BLOCKED: [{ outcome: { code: 'WORKFLOW_BLOCKED', workflow: blocked } }],
  SECOND_PERSON_REQUIRED: [
    { outcome: { code: 'SECOND_PERSON_REQUIRED', workflow: blocked } },
    { outcome: { code: 'SECOND_PERSON_REQUIRED', step, workflow: view } },
    { outcome: { code: 'SECOND_PERSON_REQUIRED', step, differs: true, workflow: view } },
  ],
  NOT_SKIPPABLE: (['required', 'needed', 'recorded'] as const).map((why): Example => ({
    outcome: { code: 'NOT_SKIPPABLE', step, why, workflow: view },
  })),
  STEP_NOT_READY: [
    {
      outcome: {
        code: 'STEP_NOT_READY',
        step,
        requires: ['guards_check', 'vibration'],
        workflow: view,
      },
    },
  ],
  STEPS_MISSING: [
    {
      outcome: {
        code: 'STEPS_MISSING',
        missing: [
          'guards_check',
          'suction_pressure',
          'discharge_pressure',
          'bearing_temperature',
          'vibration',
          'seal_condition',
          'motor_current',
        ],
        workflow: view,
      },
    },
  ],
  LIMIT_REACHED: [{ outcome: { code: 'LIMIT_REACHED', limit: 'eventsPerWorkflow', max: 10_000 } }],
};
