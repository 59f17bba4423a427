// A pump inspection in process: the core on an embedded file, no server, no network, no account.
// Run it with `npm run example:pump`; it exits with 1 if an answer is not the expected one.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command, StepInput } from '../lib/core/model/commands.ts';
import type { Principal, Scope } from '../lib/core/model/principal.ts';
import type { Outcome } from '../lib/core/outcome.ts';
import { verifyAll } from '../lib/core/audit.ts';
import { readSettings } from '../lib/settings.ts';
import { createSpeech } from '../lib/surface/speech.ts';
import { openLocal } from '../lib/wiring/local.ts';

const folder = await mkdtemp(join(tmpdir(), 'checkpoint-example-'));
const local = await openLocal(readSettings({ CHECKPOINT_DATA: folder }));
const speech = createSpeech(local.registry);

const person = (name: string, scope: Scope): Principal => ({
  tenant: 'local',
  subject: `example:${name.toLowerCase()}`,
  name,
  kind: 'person',
  scopes: new Set([scope]),
  via: 'cli',
});
const ana = person('Ana', 'procedures:run');
const ben = person('Ben', 'procedures:run');
const cara = person('Cara', 'procedures:supervise');

/** Executes a command, prints what would be spoken, and insists on the code of the answer. */
async function say<C extends Outcome['code']>(
  who: Principal,
  words: string,
  command: Command,
  code: C,
): Promise<Extract<Outcome, { code: C }>> {
  const outcome = await local.service.execute(who, command, Date.now() + 2_000);
  console.log(`${who.name.padEnd(11)}“${words}”`);
  console.log(`Checkpoint “${speech.outcome(outcome, command.type)}”\n`);
  assert.equal(outcome.code, code);
  return outcome as Extract<Outcome, { code: C }>;
}

try {
  const started = await say(
    ana,
    'Start the inspection on pump seven.',
    { type: 'start_workflow', procedure: 'pump-inspection', asset: 'PUMP-07', key: 'start' },
    'OK',
  );
  const { workflow } = started.receipt;
  const record = (step: string, input: StepInput) =>
    ({ type: 'record_step', workflow, step, input }) as const;
  const reading = (value: number): StepInput => ({ kind: 'reading', value });
  const yes: StepInput = { kind: 'confirm', confirmed: true };

  await say(ana, 'The guards are on.', record('guards_check', yes), 'OK');
  await say(ana, 'Suction two point one bar.', record('suction_pressure', reading(2.1)), 'OK');
  await say(
    ben,
    'Start the inspection on pump seven.',
    { type: 'start_workflow', procedure: 'pump-inspection', asset: 'PUMP-07' },
    'ASSET_BUSY',
  );

  const high = record('discharge_pressure', reading(42));
  const asked = await say(ana, 'Discharge forty-two bar.', high, 'NEEDS_CONFIRMATION');
  assert(asked.confirmation !== undefined);
  const confirmed = { ...high, confirmation: asked.confirmation };
  const blocked = await say(ana, 'Yes, forty-two.', confirmed, 'OK');
  assert.equal(blocked.workflow.state, 'BLOCKED');
  const again = await say(ana, 'I said: yes.', confirmed, 'OK');
  assert(again.duplicate);

  const block = blocked.receipt.seq;
  await say(
    cara,
    'Measure that again.',
    { type: 'resolve_block', workflow, block, decision: 'retake', reason: 'gauge misread' },
    'OK',
  );
  await say(
    ana,
    'Discharge seven point two.',
    { ...record('discharge_pressure', reading(7.2)), type: 'correct_step', replaces: block },
    'OK',
  );
  await say(ana, 'Bearing sixty-one.', record('bearing_temperature', reading(61)), 'OK');
  await say(ana, 'Vibration two point two.', record('vibration', reading(2.2)), 'OK');
  const damp: StepInput = { kind: 'choice', option: 'damp' };
  await say(ana, 'The seal is damp.', record('seal_condition', damp), 'OK');
  const isolation = record('isolation_check', yes);
  const waiting = await say(ana, 'Isolation is open and locked.', isolation, 'OK');
  await say(ben, 'I see it too.', { ...isolation, confirms: waiting.receipt.seq }, 'OK');
  const done = await say(ana, 'We are done.', { type: 'complete_workflow', workflow }, 'OK');
  assert.equal(done.workflow.state, 'COMPLETED');

  for await (const report of verifyAll(local.store)) {
    assert.deepEqual(report.faults, []);
    console.log(`The trail of ${report.events} events verifies.`);
  }
} finally {
  await local.close();
  await rm(folder, { recursive: true, force: true });
}
