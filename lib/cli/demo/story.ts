// The story of the demo: one pump inspection with everything that goes wrong in real life.
import type { Assistant } from './assistant.ts';
import { valueAt, type Transcript } from './transcript.ts';

/** The people of the story and what can be done to the server behind them. */
export interface Stage {
  readonly ana: Assistant;
  readonly ben: Assistant;
  readonly cara: Assistant;
  readonly transcript: Transcript;
  /** Arranges that the server is killed after the next commit, before its answer. */
  readonly killAtNextAnswer: () => void;
  /** Starts the server again on the same data. */
  readonly restart: () => Promise<void>;
  readonly audit: () => Promise<{ readonly code: number; readonly output: string }>;
}

/** Plays the whole story; throws a `Deviation` where an answer is not the right one. */
export async function playStory(stage: Stage): Promise<void> {
  const workflow = await startAndMeasure(stage);
  const firstBlock = await blockAndResolve(stage, workflow);
  await crashAndRepeat(stage, workflow);
  const other = await contention(stage, workflow);
  await lateAnswer(stage, workflow, firstBlock);
  await handOver(stage, workflow);
  await complete(stage, workflow, other);
  await verifyTrail(stage);
}

async function startAndMeasure({ ana, transcript }: Stage): Promise<string> {
  transcript.scene('Ana starts the inspection and reports what she sees');
  const started = await transcript.turn(
    ana,
    'Start the inspection on pump seven.',
    'start_workflow',
    { procedure: 'pump-inspection', asset: 'PUMP-07', idempotency_key: 'start-07' },
    { code: 'OK', duplicate: false, 'workflow.state': 'CREATED', 'next_step.step': 'guards_check' },
  );
  const workflow_id = String(started.fields['workflow_id']);
  await transcript.turn(
    ana,
    'The guards are on.',
    'record_step',
    { workflow_id, step: 'guards_check', confirmed: true, idempotency_key: 'guards' },
    { code: 'OK', 'workflow.state': 'RUNNING', 'next_step.step': 'suction_pressure' },
  );
  await transcript.turn(
    ana,
    'Suction pressure two point one bar.',
    'record_step',
    {
      workflow_id,
      step: 'suction_pressure',
      reading: 2.1,
      unit: 'bar',
      idempotency_key: 'suction',
    },
    {
      code: 'OK',
      'receipt.value': 2.1,
      'next_step.step': 'discharge_pressure',
      'next_step.unit': 'bar',
    },
  );
  return workflow_id;
}

/** A value out of bounds: read back, confirmed, blocked, and opened again by a supervisor. */
async function blockAndResolve(stage: Stage, workflow_id: string): Promise<number> {
  const { ana, cara, transcript } = stage;
  transcript.scene('A value out of bounds is read back, and blocks once it is confirmed');
  const block = await deviate(stage, workflow_id, 42, undefined);
  transcript.scene('A supervisor finds the block and wants a new measurement');
  await transcript.turn(
    cara,
    'What is blocked?',
    'list_blocked',
    {},
    { code: 'OK', 'workflows.0.asset': 'PUMP-07' },
  );
  await transcript.turn(
    cara,
    'Measure it again, please.',
    'resolve_block',
    {
      workflow_id,
      block,
      decision: 'retake',
      reason: 'gauge was read wrongly',
      idempotency_key: 'r-1',
    },
    { code: 'OK', 'workflow.state': 'RUNNING', 'next_step.step': 'discharge_pressure' },
  );
  await transcript.turn(
    ana,
    'Discharge pressure seven point two.',
    'record_step',
    {
      workflow_id,
      step: 'discharge_pressure',
      reading: 7.2,
      replaces: block,
      idempotency_key: 'd-2',
    },
    { code: 'OK', 'receipt.result': 'recorded', 'next_step.step': 'bearing_temperature' },
  );
  return block;
}

/** Reports a discharge pressure out of bounds and confirms it; answers the number of the block. */
async function deviate(
  { ana, transcript }: Stage,
  workflow_id: string,
  reading: number,
  replaces: number | undefined,
): Promise<number> {
  const args = {
    workflow_id,
    step: 'discharge_pressure',
    reading,
    idempotency_key: `d-${reading}`,
    ...(replaces !== undefined && { replaces }),
  };
  const asked = await transcript.turn(
    ana,
    `Discharge pressure ${reading} bar.`,
    'record_step',
    args,
    {
      code: 'NEEDS_CONFIRMATION',
      'detail.reason': 'out_of_bounds',
      'detail.limit': 25,
      'workflow.state': 'RUNNING',
    },
  );
  const confirmation_token = asked.fields['confirmation_token'];
  const blocked = await transcript.turn(
    ana,
    'Yes, that is what it says.',
    'record_step',
    { ...args, confirmation_token },
    { code: 'OK', 'receipt.result': 'blocked', 'workflow.state': 'BLOCKED' },
  );
  return Number(valueAt(blocked.fields, 'workflow.block.seq'));
}

async function crashAndRepeat(stage: Stage, workflow_id: string): Promise<void> {
  const { ana, transcript } = stage;
  transcript.scene('The server dies between the request and its answer');
  const args = {
    workflow_id,
    step: 'bearing_temperature',
    reading: 61.5,
    idempotency_key: 'bearing',
  };
  stage.killAtNextAnswer();
  await transcript.silence(
    ana,
    'Bearing temperature sixty-one point five degrees.',
    'record_step',
    args,
  );
  transcript.note('(the server was killed with SIGKILL and is started again on the same data)');
  await stage.restart();
  await transcript.turn(ana, 'I said: sixty-one point five degrees.', 'record_step', args, {
    code: 'OK',
    duplicate: true,
    'receipt.value': 61.5,
    'next_step.step': 'vibration',
  });
}

async function contention({ ana, ben, transcript }: Stage, workflow_id: string): Promise<string> {
  transcript.scene('A second operator wants the same pump');
  const busy = await transcript.turn(
    ben,
    'Start the inspection on pump seven.',
    'start_workflow',
    { procedure: 'pump-inspection', asset: 'PUMP-07', idempotency_key: 'ben-07' },
    { code: 'ASSET_BUSY', 'detail.holder': 'Ana' },
  );
  transcript.expect('the holder is named', busy.text.includes('Ana'), true);

  transcript.scene('A question that could mean two workflows is answered with choices');
  const second = await transcript.turn(
    ana,
    'Start pump eight as well.',
    'start_workflow',
    { procedure: 'pump-inspection', asset: 'PUMP-08', idempotency_key: 'start-08' },
    { code: 'OK', 'workflow.asset': 'PUMP-08' },
  );
  const other = String(second.fields['workflow_id']);
  await transcript.turn(
    ana,
    'How far am I?',
    'get_workflow',
    {},
    {
      code: 'AMBIGUOUS',
      'choices.0.asset': 'PUMP-07',
      'choices.0.workflow_id': workflow_id,
      'choices.1.asset': 'PUMP-08',
      'choices.1.workflow_id': other,
    },
  );
  await transcript.turn(
    ana,
    'Vibration two point two.',
    'record_step',
    { step: 'vibration', reading: 2.2, idempotency_key: 'vibration-bare' },
    { code: 'AMBIGUOUS' },
  );
  return other;
}

async function lateAnswer(stage: Stage, workflow_id: string, first: number): Promise<void> {
  const { ana, cara, transcript } = stage;
  transcript.scene('A late answer to an old block is never applied to a new one');
  const found = await transcript.turn(
    ana,
    'How far is pump seven?',
    'get_workflow',
    { workflow_id },
    { code: 'OK' },
  );
  const steps = valueAt(found.fields, 'steps') as readonly { step: string; seq: number }[];
  const recorded = steps.find(({ step }) => step === 'discharge_pressure')?.seq;
  const second = await deviate(stage, workflow_id, 26, recorded);
  await transcript.turn(
    cara,
    '(late) Then let us stop the inspection.',
    'resolve_block',
    { workflow_id, block: first, decision: 'abandon', reason: 'late', idempotency_key: 'r-late' },
    { code: 'STALE_REFERENCE', 'workflow.state': 'BLOCKED', 'workflow.block.seq': second },
  );
  await transcript.turn(
    cara,
    '(repeated by the network) Measure it again, please.',
    'resolve_block',
    { workflow_id, block: first, decision: 'retake', reason: 'gauge was read wrongly' },
    { code: 'OK', duplicate: true, 'workflow.state': 'BLOCKED', 'workflow.block.seq': second },
  );
  await transcript.turn(
    cara,
    'Measure the new one again.',
    'resolve_block',
    {
      workflow_id,
      block: second,
      decision: 'retake',
      reason: 'checked on site',
      idempotency_key: 'r-2',
    },
    { code: 'OK', duplicate: false, 'workflow.state': 'RUNNING' },
  );
  await transcript.turn(
    ana,
    'Discharge pressure seven point two.',
    'record_step',
    {
      workflow_id,
      step: 'discharge_pressure',
      reading: 7.2,
      replaces: second,
      idempotency_key: 'd-3',
    },
    { code: 'OK', 'receipt.result': 'recorded' },
  );
}

async function handOver({ ana, ben, transcript }: Stage, workflow_id: string): Promise<void> {
  transcript.scene('Ana hands the pump over to Ben');
  const asked = await transcript.turn(
    ana,
    'Give pump seven to Ben.',
    'hand_over',
    { workflow_id, to: 'Ben', idempotency_key: 'over' },
    { code: 'NEEDS_CONFIRMATION', 'detail.reason': 'ends_assignment' },
  );
  await transcript.turn(
    ana,
    'Yes.',
    'hand_over',
    {
      workflow_id,
      to: asked.fields['to'],
      tenure: asked.fields['tenure'],
      idempotency_key: 'over-yes',
    },
    { code: 'OK', 'workflow.holder': 'Ben', 'workflow.offered': true },
  );
  await transcript.turn(
    ben,
    'Vibration two point two.',
    'record_step',
    { workflow_id, step: 'vibration', reading: 2.2, idempotency_key: 'vibration' },
    { code: 'OK', 'workflow.offered': false, 'next_step.step': 'seal_condition' },
  );
  await transcript.turn(
    ben,
    'The seal is damp.',
    'record_step',
    { workflow_id, step: 'seal_condition', choice: 'damp', idempotency_key: 'seal' },
    { code: 'OK', 'receipt.value': 'damp' },
  );
}

async function complete(
  { ana, ben, transcript }: Stage,
  workflow_id: string,
  other: string,
): Promise<void> {
  transcript.scene('The last step needs a second person');
  const waiting = await transcript.turn(
    ben,
    'Isolation valves are open and locked.',
    'record_step',
    { workflow_id, step: 'isolation_check', confirmed: true, idempotency_key: 'isolation' },
    { code: 'OK', 'receipt.result': 'awaiting_second_person' },
  );
  await transcript.turn(
    ben,
    'We are done.',
    'complete_workflow',
    { workflow_id, idempotency_key: 'too-early' },
    { code: 'STEPS_MISSING', 'detail.missing': ['isolation_check'] },
  );
  await transcript.turn(
    ana,
    'I see them open and locked too.',
    'record_step',
    {
      workflow_id,
      step: 'isolation_check',
      confirmed: true,
      confirms: valueAt(waiting.fields, 'receipt.seq'),
      idempotency_key: 'isolation-second',
    },
    { code: 'OK', 'receipt.result': 'confirmed', 'workflow.ready_to_complete': true },
  );
  transcript.scene('Ben completes the inspection, and the pump is free');
  const done = { workflow_id, idempotency_key: 'done' };
  await transcript.turn(ben, 'We are done.', 'complete_workflow', done, {
    code: 'OK',
    duplicate: false,
    'workflow.state': 'COMPLETED',
    'workflow.result': 'completed',
  });
  await transcript.turn(
    ben,
    'Done!',
    'complete_workflow',
    { workflow_id },
    { code: 'OK', duplicate: true },
  );
  const asked = await transcript.turn(
    ana,
    'Forget pump eight.',
    'abandon_workflow',
    { workflow_id: other, reason: 'not today' },
    { code: 'NEEDS_CONFIRMATION', 'detail.reason': 'ends_assignment' },
  );
  await transcript.turn(
    ana,
    'Yes.',
    'abandon_workflow',
    { workflow_id: other, reason: 'not today', tenure: asked.fields['tenure'] },
    { code: 'OK', 'workflow.result': 'abandoned' },
  );
}

async function verifyTrail({ transcript, audit }: Stage): Promise<void> {
  transcript.scene('The audit trail verifies');
  const { code, output } = await audit();
  transcript.note(output);
  transcript.expect('every trail verifies', code, 0);
}
