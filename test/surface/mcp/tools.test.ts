import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../lib/core/fault.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import { OUTCOME_CODES } from '../../../lib/core/outcome.ts';
import { createQueries } from '../../../lib/core/queries.ts';
import type { CheckpointApp } from '../../../lib/surface/app.ts';
import { TOOLS } from '../../../lib/surface/mcp/tools.ts';
import { OUTCOMES, view } from '../../support/speech-cases.ts';
import { callTool, ERAS, send, type ToolResult } from '../../support/rpc.ts';
import { unspeakable } from '../../support/spoken.ts';
import { closeWorldsAfterEach, openWorld, shippedRegistry } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const ajv = new AjvJsonSchemaValidator();
const validators = new Map(
  TOOLS.map(({ listing }) => [listing.name, ajv.getValidator(listing.outputSchema as never)]),
);

/** Calls a tool and checks what holds for every answer: schema (BR-112) and speech (C2, C3). */
async function call(
  app: CheckpointApp,
  name: string,
  args: Record<string, unknown> = {},
  token = 'ana',
): Promise<ToolResult> {
  const result = await callTool(app, name, args, token);
  const checked = validators.get(name)?.(result.data);
  expect([name, checked?.errorMessage]).toEqual([name, undefined]);
  expect(checked?.valid).toBe(true);
  expect([result.text, unspeakable(result.text)]).toEqual([result.text, []]);
  expect(JSON.stringify(result).length).toBeLessThan(20_000);
  return result;
}

async function started(app: CheckpointApp, token = 'ana', asset = 'PUMP-07'): Promise<string> {
  const args = { procedure: 'pump-inspection', asset };
  return (await call(app, 'start_workflow', args, token)).data['workflow_id'] as string;
}

describe('a procedure from start to end', () => {
  test.each(ERAS)('is worked through in the %s era', async (era) => {
    const { app } = await openWorld();
    const say = async (name: string, args: Record<string, unknown>, token = 'ana') =>
      (await callTool(app, name, args, token, era)).text;
    const { data } = await callTool(
      app,
      'start_workflow',
      { procedure: 'pump-inspection', asset: 'pump-07' },
      'ana',
      era,
    );
    const workflow_id = data['workflow_id'];
    const record = (step: string, answer: Record<string, unknown>) =>
      say('record_step', { workflow_id, step, ...answer });
    expect(await record('guards_check', { confirmed: true })).toBe(
      'Recorded, guards check: yes. Next is suction pressure, in bar; expected between 1.5 and 3.',
    );
    await record('suction_pressure', { reading: 2.1, unit: 'bars' });
    await record('discharge_pressure', { reading: 7 });
    await record('bearing_temperature', { reading: 55 });
    expect(await say('complete_workflow', { workflow_id })).toBe(
      'Still open: vibration, seal condition and isolation check. Next is vibration, in millimetres per second; expected between 0 and 2.8.',
    );
    await record('vibration', { reading: 1.2 });
    await record('seal_condition', { choice: 'Dry' });
    expect(await record('isolation_check', { confirmed: true })).toBe(
      'Recorded, isolation check: yes; another person has to confirm it.',
    );
    const second = { workflow_id, step: 'isolation_check', confirmed: true };
    expect(await say('record_step', second, 'ben')).toBe(
      'Ana recorded yes for isolation check. Do you confirm it as second person?',
    );
    expect(await say('record_step', { ...second, confirms: 8 }, 'ben')).toBe(
      'Confirmed, isolation check: yes. All steps are done; you can complete it now.',
    );
    expect(await say('complete_workflow', { workflow_id })).toBe(
      'Completed, pump inspection on PUMP-07. 7 required steps are on record.',
    );
    expect(await say('complete_workflow', { workflow_id })).toMatch(/^Already completed, /u);
  });
});

describe('start_workflow', () => {
  test('T5: a repeat under one key is the first receipt', async () => {
    const { app } = await openWorld();
    const args = { procedure: 'pump-inspection', asset: 'PUMP-07', idempotency_key: 'k 1' };
    const first = await call(app, 'start_workflow', args);
    const again = await call(app, 'start_workflow', args);
    expect(first.data).toMatchObject({ code: 'OK', duplicate: false });
    expect(again.data).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: first.data['receipt'],
    });
    expect(again.text).toMatch(/^Already started, /u);
  });

  test('BR-123: nothing depends on the JSON-RPC id', async () => {
    const { app } = await openWorld();
    const args = { procedure: 'pump-inspection', asset: 'PUMP-07', idempotency_key: 'k' };
    const params = { name: 'start_workflow', arguments: args };
    const first = await send(app, 'handshake', 'tools/call', params, { id: 5 });
    const again = await send(app, 'stateless', 'tools/call', params, { id: 6 });
    const receipt = (answer: { body: Record<string, unknown> }) =>
      (answer.body['result'] as { structuredContent: { receipt: unknown } }).structuredContent
        .receipt;
    expect(receipt(again)).toEqual(receipt(first));
  });

  test('the same key for something else names what differs', async () => {
    const { app } = await openWorld();
    const args = { procedure: 'pump-inspection', asset: 'PUMP-07', idempotency_key: 'k' };
    await call(app, 'start_workflow', args);
    const other = await call(app, 'start_workflow', { ...args, asset: 'PUMP-08' });
    expect(other.isError).toBe(true);
    expect(other.data).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      detail: { operation: 'start_workflow', fields: ['asset'] },
    });
  });

  test('a held asset is refused and names its holder', async () => {
    const { app } = await openWorld();
    await started(app);
    const args = { procedure: 'pump-inspection', asset: 'PUMP-07' };
    const { isError, data } = await call(app, 'start_workflow', args, 'ben');
    expect(isError).toBe(true);
    expect(data).toMatchObject({ code: 'ASSET_BUSY', detail: { holder: 'Ana', asset: 'PUMP-07' } });
  });
});

describe('record_step', () => {
  test('out of bounds asks, and writes with the token of that answer', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const asked = await call(app, 'record_step', args);
    expect(asked.isError).toBe(false);
    expect(asked.text).toBe('I heard 42 bar for suction pressure; the limit is 12. Is that right?');
    expect(asked.data).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      detail: { heard: 42, limit: 12 },
    });
    const confirmation_token = asked.data['confirmation_token'];
    const written = await call(app, 'record_step', { ...args, confirmation_token });
    expect(written.data).toMatchObject({
      code: 'OK',
      receipt: { result: 'blocked', value: 42 },
      workflow: { state: 'BLOCKED' },
    });
    expect(written.data).not.toHaveProperty('next_step');
    const again = await call(app, 'record_step', { ...args, confirmation_token });
    expect(again.data).toMatchObject({ duplicate: true, receipt: written.data['receipt'] });
  });

  test('C5: a recorded step is corrected by the number its answer gives', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const step = 'suction_pressure';
    await call(app, 'record_step', { workflow_id, step, reading: 2.1 });
    const asked = await call(app, 'record_step', { workflow_id, step, reading: 2.3 });
    expect(asked.data).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      detail: { reason: 'already_recorded', recorded: 2.1, heard: 2.3 },
      replaces: 2,
    });
    const fixed = await call(app, 'record_step', { workflow_id, step, reading: 2.3, replaces: 2 });
    expect(fixed.data).toMatchObject({ code: 'OK', receipt: { command: 'correct_step' } });
    const stale = await call(app, 'record_step', { workflow_id, step, reading: 2.4, replaces: 2 });
    expect(stale.data).toMatchObject({ code: 'STALE_REFERENCE', detail: { given: 2, current: 3 } });
    expect(stale.isError).toBe(true);
  });

  test('BR-200: without a workflow it offers the candidates and writes nothing', async () => {
    const { app } = await openWorld();
    await started(app, 'ana', 'PUMP-07');
    await started(app, 'ana', 'PUMP-08');
    const { isError, data } = await call(app, 'record_step', {
      step: 'suction_pressure',
      reading: 2,
    });
    expect(isError).toBe(false);
    expect(data).toMatchObject({
      code: 'AMBIGUOUS',
      total: 2,
      choices: [{ asset: 'PUMP-07' }, { asset: 'PUMP-08' }],
    });
  });

  test('a second person confirms by the number that is asked for', async () => {
    const { app } = await openWorld();
    const start = { procedure: 'instrument-calibration', asset: 'BAL-001' };
    const { data } = await call(app, 'start_workflow', start);
    const record = (args: object, token: string) =>
      call(app, 'record_step', { workflow_id: data['workflow_id'], ...args }, token);
    for (const [step, answer] of [
      ['level_check', { confirmed: true }],
      ['room_temperature', { reading: 21 }],
      ['as_found_error', { reading: -0.4 }],
      ['adjustment', { choice: 'internal weight' }],
      ['as_left_error', { reading: 0.1 }],
      ['repeat_error', { reading: 0.1 }],
      ['customer_reference', { text: 'Order 17, Mr Secret' }],
      ['label_check', { confirmed: true }],
    ] as const) {
      const { data: answered } = await record({ step, ...answer }, 'ana');
      expect(answered['code']).toBe('OK');
      expect(JSON.stringify(answered)).not.toContain('Secret');
    }
    const asked = await record({ step: 'label_check', confirmed: true }, 'ben');
    expect(asked.data).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      detail: { reason: 'second_person' },
    });
    const confirms = asked.data['confirms'];
    const done = await record({ step: 'label_check', confirmed: true, confirms }, 'ben');
    expect(done.data).toMatchObject({ code: 'OK', receipt: { result: 'confirmed' } });
  });
});

describe('the name of an asset that was heard', () => {
  const start = (app: CheckpointApp, asset: string, token = 'ana') =>
    call(app, 'start_workflow', { procedure: 'pump-inspection', asset }, token);

  test('is never used in a start: what it may mean is asked, and the person names one', async () => {
    const { app, store } = await openWorld();
    const asked = await start(app, 'pump seven');
    expect(asked.isError).toBe(true);
    expect(asked.text).toBe('I know no asset of that name. Did you mean PUMP-07?');
    expect(asked.data).toMatchObject({ code: 'INVALID_ARGUMENT', suggestions: ['PUMP-07'] });
    expect(await store.listAssets('plant', 10)).toEqual([]);
    const [suggested] = asked.data['suggestions'] as string[];
    expect((await start(app, suggested ?? '')).data).toMatchObject({ code: 'OK' });
  });

  test('without any near one is refused with an example', async () => {
    const { app } = await openWorld();
    const { text, data } = await start(app, 'the crane');
    expect(text).toBe(
      'The asset does not fit: expected the name of a pump such as PUMP-07. Please say it again.',
    );
    expect(data).not.toHaveProperty('suggestions');
  });

  test('finds no work, only near assets of the tenant', async () => {
    const { app } = await openWorld();
    await started(app, 'ana', 'PUMP-08');
    const asked = await call(app, 'get_workflow', { asset: 'pump eight' });
    expect(asked.text).toBe('I know no asset called pump eight. Did you mean PUMP-08?');
    expect(asked.data).toMatchObject({ code: 'NOT_FOUND', suggestions: ['PUMP-08'] });
    expect(asked.data).not.toHaveProperty('workflow');
    const near = await call(app, 'get_workflow', { asset: 'PUMP-80' });
    expect(near.data['suggestions']).toEqual(['PUMP-08']);
    const far = await call(app, 'get_workflow', { asset: 'BAL-555' });
    expect(far.text).toMatch(/^Nobody is working on BAL-555 right now\./u);
    const foreign = await call(app, 'get_workflow', { asset: 'bump eight' }, 'other');
    expect(foreign.data).not.toHaveProperty('suggestions');
  });

  test('of a known asset that nobody works on gets no other name proposed', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    await started(app, 'ben', 'PUMP-08');
    const { tenure } = (await call(app, 'abandon_workflow', { workflow_id, reason: 'r' })).data;
    await call(app, 'abandon_workflow', { workflow_id, reason: 'r', tenure });
    const { text, data } = await call(app, 'get_workflow', { asset: 'PUMP-07' });
    expect(text).toMatch(/^Nobody is working on PUMP-07 right now\./u);
    expect(data).not.toHaveProperty('suggestions');
  });

  test('is refused all the same where the known assets cannot be read', async () => {
    const { app } = await openWorld((store) => ({
      queries: createQueries(
        {
          ...store,
          listAssets: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'down')),
        },
        shippedRegistry(),
      ),
    }));
    const { data } = await call(app, 'get_workflow', { asset: 'pump eight' });
    expect(data).toMatchObject({ code: 'NOT_FOUND' });
    expect(data).not.toHaveProperty('suggestions');
  });
});

describe('a reading in words', () => {
  test('is recorded, and the answer says the number that was understood', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const step = 'suction_pressure';
    const spoken_reading = 'two point one bar';
    const { text, data } = await call(app, 'record_step', { workflow_id, step, spoken_reading });
    expect(text).toMatch(/^Recorded, suction pressure 2\.1 bar\. /u);
    expect(data).toMatchObject({ code: 'OK', receipt: { value: 2.1 } });
  });

  test('that is not one number is asked again, and nothing is recorded', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const args = { workflow_id, step: 'suction_pressure', spoken_reading: 'three or four' };
    const { text, data, isError } = await call(app, 'record_step', args);
    expect(isError).toBe(true);
    expect(text).toBe(
      'I could not understand that as one number. What is the value for suction pressure, in bar?',
    );
    expect(data).toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: [{ path: '/spoken_reading' }],
    });
    const now = await call(app, 'get_workflow', { workflow_id });
    expect(now.data).toMatchObject({ workflow: { version: 1 } });
  });

  test('is another argument than the same number under one key', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const args = { workflow_id, step: 'suction_pressure', idempotency_key: 'k' };
    const words = { ...args, spoken_reading: 'two point one' };
    await call(app, 'record_step', words);
    expect((await call(app, 'record_step', words)).data).toMatchObject({ duplicate: true });
    expect((await call(app, 'record_step', { ...args, reading: 2.1 })).data).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      detail: { fields: ['reading', 'spoken_reading'] },
    });
  });
});

describe('a reading in another unit', () => {
  test.each([
    [{ reading: 30, unit: 'psi' }, 'suction_pressure', '30 psi, that is 2.07 bar'],
    [{ spoken_reading: 'thirty psi' }, 'suction_pressure', '30 psi, that is 2.07 bar'],
    [{ reading: 210, unit: 'kPa' }, 'suction_pressure', '210 kilopascals, that is 2.1 bar'],
    [
      { spoken_reading: 'one hundred and forty degrees fahrenheit' },
      'bearing_temperature',
      '140 degrees Fahrenheit, that is 60 degrees Celsius',
    ],
  ])('%j is recorded converted and read back in both', async (answer, step, said) => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const { text, data } = await call(app, 'record_step', { workflow_id, step, ...answer });
    expect(text).toContain(`Recorded, ${step.replace('_', ' ')} ${said}. `);
    const receipt = data['receipt'] as { value: number; original: { value: number } };
    expect(text).toContain(`${receipt.original.value} `);
    const now = await call(app, 'get_workflow', { workflow_id });
    const { value, original } = receipt;
    expect(now.data['steps']).toContainEqual(expect.objectContaining({ step, value, original }));
  });
});

describe('what was recorded last time', () => {
  test('is told with the next step of the next inspection', async () => {
    const { app } = await openWorld();
    const first = await started(app);
    const record = (workflow_id: string, step: string, answer: object) =>
      call(app, 'record_step', { workflow_id, step, ...answer });
    await record(first, 'guards_check', { confirmed: true });
    await record(first, 'suction_pressure', { spoken_reading: 'thirty psi' });
    const end = { workflow_id: first, reason: 'shift ends' };
    const { tenure } = (await call(app, 'abandon_workflow', end)).data;
    await call(app, 'abandon_workflow', { ...end, tenure });
    const second = await started(app, 'ben');
    const { text, data } = await call(
      app,
      'record_step',
      { workflow_id: second, step: 'guards_check', confirmed: true },
      'ben',
    );
    expect(text).toBe(
      'Recorded, guards check: yes. Next is suction pressure, in bar; expected between 1.5 and 3; last time 2.07.',
    );
    expect(data).toMatchObject({
      next_step: { step: 'suction_pressure', last: { value: 2.07, at: expect.any(String) } },
    });
  });
});

describe('an optional step', () => {
  test('is skipped with a reason, and recorded later by the number that is asked for', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const step = 'motor_current';
    const skipped = await call(app, 'record_step', {
      workflow_id,
      step,
      skip_reason: 'no panel here',
    });
    expect(skipped.text).toMatch(/^Skipped, motor current\. Next is guards check/u);
    expect(skipped.data).toMatchObject({ code: 'OK', receipt: { result: 'skipped', seq: 2 } });
    const now = await call(app, 'get_workflow', { workflow_id });
    expect(now.data['steps']).toContainEqual(
      expect.objectContaining({ step, status: 'skipped', seq: 2 }),
    );
    const asked = await call(app, 'record_step', { workflow_id, step, reading: 90 });
    expect(asked.text).toBe(
      'Motor current was skipped, and I heard 90 amperes. Should I record it?',
    );
    const { replaces } = asked.data;
    const recorded = await call(app, 'record_step', { workflow_id, step, reading: 90, replaces });
    expect(recorded.text).toMatch(/^Recorded, motor current 90 amperes\. /u);
    const again = await call(app, 'record_step', { workflow_id, step, skip_reason: 'no panel' });
    expect(again.text).toBe(
      'Motor current is already on record, so it cannot be skipped. You can correct it.',
    );
    expect(again.data).toMatchObject({ code: 'NOT_SKIPPABLE', detail: { why: 'recorded' } });
  });

  test('that is not one cannot be skipped, and the answer goes on with the work', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const args = { workflow_id, step: 'guards_check', skip_reason: 'in a hurry' };
    const { text, isError } = await call(app, 'record_step', args);
    expect(isError).toBe(true);
    expect(text).toBe(
      'Guards check has to be done and cannot be skipped. Next is guards check; answer yes or no.',
    );
  });
});

describe('hand-over, abandonment and blocks', () => {
  test('work is handed over in two calls to somebody who has been here', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const unknown = await call(app, 'hand_over', { workflow_id, to: 'Ben' });
    expect(unknown.data).toMatchObject({ code: 'NOT_FOUND', detail: { what: 'person' } });
    await call(app, 'list_my_workflows', {}, 'ben');
    const asked = await call(app, 'hand_over', { workflow_id, to: 'ben' });
    expect(asked.text).toBe(
      'You want to hand over pump inspection on PUMP-07, which is with Ana, to Ben. Is that right?',
    );
    const { tenure, to } = asked.data;
    const given = await call(app, 'hand_over', { workflow_id, to, tenure });
    expect(given.text).toBe('Handed over, pump inspection on PUMP-07, to Ben.');
    const mine = await call(app, 'list_my_workflows', {}, 'ben');
    expect(mine.data).toMatchObject({
      workflows: [{ asset: 'PUMP-07', mine: true, offered: true }],
    });
    const refused = await call(app, 'complete_workflow', { workflow_id });
    expect(refused.data).toMatchObject({ code: 'NOT_ASSIGNED', detail: { holder: 'Ben' } });
  });

  test('BR-203: abandoning asks first, and then frees the asset', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const asked = await call(app, 'abandon_workflow', { workflow_id, reason: 'wrong pump' });
    expect(asked.text).toBe(
      'You want to end pump inspection on PUMP-07, which is with Ana, after 0 of 7 required steps. Is that right?',
    );
    const { tenure } = asked.data;
    const args = { workflow_id, reason: 'wrong pump', tenure };
    expect((await call(app, 'abandon_workflow', args)).data).toMatchObject({ code: 'OK' });
    const free = await call(app, 'get_workflow', { asset: 'PUMP-07' });
    expect(free.data).toMatchObject({ code: 'NOT_FOUND', detail: { what: 'asset' } });
  });

  test('a supervisor sees a block and resolves exactly that one', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const asked = await call(app, 'record_step', args);
    await call(app, 'record_step', {
      ...args,
      confirmation_token: asked.data['confirmation_token'],
    });
    const list = await call(app, 'list_blocked', {}, 'sue');
    const workflows = list.data['workflows'] as { workflow_id: string; block: { seq: number } }[];
    const block = workflows[0]?.block.seq;
    const decide = (token: string, rest: object) =>
      call(app, 'resolve_block', { workflow_id, block, reason: 'seen on site', ...rest }, token);
    expect((await decide('ana', { decision: 'continue' })).data).toMatchObject({
      code: 'FORBIDDEN',
    });
    const done = await decide('sue', { decision: 'retake' });
    expect(done.text).toMatch(/^Released, suction pressure has to be repeated\. /u);
    expect((await decide('sue', { decision: 'retake' })).data).toMatchObject({ duplicate: true });
    expect((await decide('sue', { decision: 'abandon' })).data).toMatchObject({
      code: 'STALE_REFERENCE',
    });
  });
});

describe('reads', () => {
  test('get_workflow finds by id, by asset, and the only active one', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    for (const args of [{ workflow_id }, { asset: 'pump-07' }, {}]) {
      const { data } = await call(app, 'get_workflow', args);
      expect(data).toMatchObject({
        code: 'OK',
        workflow_id,
        workflow: { state: 'CREATED', holder: 'Ana', mine: true, done: 0, required: 7 },
        next_step: { step: 'guards_check' },
      });
      expect(data['steps']).toHaveLength(9);
      expect(data).not.toHaveProperty('left_out');
    }
  });

  test('U6: nothing of another tenant is found', async () => {
    const { app } = await openWorld();
    const workflow_id = await started(app);
    expect((await call(app, 'list_my_workflows', {}, 'other')).data['workflows']).toEqual([]);
    for (const args of [{ workflow_id }, { asset: 'PUMP-07' }]) {
      expect((await call(app, 'get_workflow', args, 'other')).data['code']).toBe('NOT_FOUND');
    }
  });

  test('BR-186: long lists are cut below 20 KB and say that there is more', async () => {
    const steps = Array.from({ length: 100 }, (_, i) => ({
      step: `step_${i}_${'x'.repeat(39)}`,
      title: 't'.repeat(120),
      kind: 'reading' as const,
      status: 'done' as const,
      optional: false,
      seq: i + 2,
      value: -123.456,
      unit: 'millimetres',
    }));
    const long = { ...view, steps };
    const { app } = await openWorld(() => ({
      queries: {
        getWorkflow: () => Promise.resolve({ code: 'FOUND', value: long }),
        listMine: () =>
          Promise.resolve({
            code: 'FOUND',
            value: { workflows: Array.from({ length: 100 }, () => long), more: false },
          }),
        listBlocked: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'never')),
        listEvents: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'never')),
        listProposals: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'never')),
      },
    }));
    const one = await call(app, 'get_workflow');
    const shown = (one.data['steps'] as unknown[]).length;
    expect(one.data['left_out']).toBe(100 - shown);
    expect(shown).toBeGreaterThan(20);
    const mine = await call(app, 'list_my_workflows');
    expect(mine.data['more']).toBe(true);
  });

  test('C8: what_can_i_do and list_procedures answer anybody', async () => {
    const { app } = await openWorld();
    const help = await call(app, 'what_can_i_do', {}, 'reader');
    expect((help.data['phrases'] as string[]).length).toBeGreaterThanOrEqual(3);
    const { data } = await call(app, 'list_procedures', {}, 'reader');
    expect(data['procedures']).toHaveLength(2);
    expect((await call(app, 'list_my_workflows', {}, 'reader')).data['code']).toBe('FORBIDDEN');
  });
});

describe('bad arguments are an answer with every fault, and nothing is executed', () => {
  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ['start_workflow', {}, ['/procedure', '/asset']],
    ['start_workflow', { procedure: 'p', asset: 'a', force: true }, ['/force']],
    ['start_workflow', { procedure: 'p', asset: 'a', 'a/b~c': 1 }, ['/a~1b~0c']],
    ['start_workflow', { procedure: 7, asset: '' }, ['/procedure', '/asset']],
    ['start_workflow', { procedure: 'p', asset: 'a'.repeat(65) }, ['/asset']],
    ['start_workflow', { procedure: 'p', asset: 'a', idempotency_key: '' }, ['/idempotency_key']],
    [
      'start_workflow',
      { procedure: 'p', asset: 'a', idempotency_key: 'a\nb' },
      ['/idempotency_key'],
    ],
    ['start_workflow', { procedure: 'p', asset: 'a', idempotency_key: 'ä' }, ['/idempotency_key']],
    [
      'start_workflow',
      { procedure: 'p', asset: 'a', idempotency_key: 'k'.repeat(256) },
      ['/idempotency_key'],
    ],
    ['record_step', { step: 's' }, ['/reading']],
    ['record_step', { step: 's', reading: 1, choice: 'x' }, ['/choice']],
    ['record_step', { step: 's', reading: '12' }, ['/reading']],
    ['record_step', { step: 's', reading: null }, ['/reading']],
    ['record_step', { step: 's', reading: 1, spoken_reading: 'one' }, ['/spoken_reading']],
    ['record_step', { step: 's', spoken_reading: 1 }, ['/spoken_reading']],
    ['record_step', { step: 's', spoken_reading: '1'.repeat(201) }, ['/spoken_reading']],
    ['record_step', { step: 's', confirmed: 'yes' }, ['/confirmed']],
    ['record_step', { step: 's', choice: 'x', unit: 'bar' }, ['/unit']],
    ['record_step', { step: 's', reading: 1, replaces: 0 }, ['/replaces']],
    ['record_step', { step: 's', reading: 1, replaces: 1.5 }, ['/replaces']],
    ['record_step', { step: 's', reading: 1, replaces: 1, confirms: 1 }, ['/confirms']],
    ['record_step', { step: 's', text: 'x'.repeat(2_001) }, ['/text']],
    ['record_step', { step: 's', reading: 1, skip_reason: 'r' }, ['/skip_reason']],
    ['record_step', { step: 's', skip_reason: ' ' }, ['/skip_reason']],
    ['record_step', { step: 's', skip_reason: 'r'.repeat(501) }, ['/skip_reason']],
    ['record_step', { step: 's', skip_reason: 'r', confirms: 1 }, ['/confirms']],
    ['resolve_block', { block: 1, decision: 'stop', reason: ' ' }, ['/decision', '/reason']],
    ['resolve_block', { decision: 'retake', reason: 'r'.repeat(501) }, ['/block', '/reason']],
    ['hand_over', { to: 'x'.repeat(273), tenure: '1' }, ['/to', '/tenure']],
    ['abandon_workflow', {}, ['/reason']],
    ['complete_workflow', { workflow_id: '' }, ['/workflow_id']],
    ['get_workflow', { workflow_id: 'w', asset: 'a' }, ['/asset']],
    ['list_procedures', { page: 1 }, ['/page']],
  ])('%s %j', async (name, args, paths) => {
    const commands: Command[] = [];
    const { app } = await openWorld(() => ({
      service: {
        execute: (_principal, command) => {
          commands.push(command);
          throw new Error('must not be reached');
        },
      },
    }));
    const { isError, data } = await call(app, name, args);
    expect(isError).toBe(true);
    expect(data).toMatchObject({ code: 'INVALID_ARGUMENT', retryable: false });
    const faults = data['faults'] as { path: string; message: string }[];
    expect(faults.map(({ path }) => path)).toEqual(paths);
    expect(commands).toEqual([]);
  });

  test('the limits themselves are accepted', async () => {
    const seen: Command[] = [];
    const { app } = await openWorld(() => ({
      service: {
        execute: (_principal, command) => {
          seen.push(command);
          return Promise.resolve({ code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 5 });
        },
      },
    }));
    const asset = '😀'.repeat(64);
    const idempotency_key = ' ~'.repeat(127) + 'k';
    await call(app, 'start_workflow', { procedure: 'p', asset, idempotency_key });
    await call(app, 'record_step', { step: 's', text: '😀'.repeat(2_000) });
    await call(app, 'abandon_workflow', { reason: 'r'.repeat(500) });
    expect(seen.map(({ type }) => type)).toEqual([
      'start_workflow',
      'record_step',
      'abandon_workflow',
    ]);
    expect(seen[0]).toEqual({
      type: 'start_workflow',
      procedure: 'p',
      asset,
      key: idempotency_key,
    });
  });

  test('an argument named `__proto__` changes nothing', async () => {
    const { app } = await openWorld();
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_procedures","arguments":{"__proto__":{"x":1}}}}`;
    const response = await app.request('https://checkpoint.example.com/mcp', {
      method: 'POST',
      body: text,
      headers: { authorization: 'Bearer ana', 'content-type': 'application/json' },
    });
    expect(response.status).toBe(200);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});

describe('every outcome of the service', () => {
  const calls: { readonly [T in Command['type']]?: readonly [string, Record<string, unknown>] } = {
    start_workflow: ['start_workflow', { procedure: 'p', asset: 'a' }],
    record_step: ['record_step', { workflow_id: 'w', step: 's', reading: 1 }],
    resolve_block: ['resolve_block', { block: 1, decision: 'retake', reason: 'r' }],
    hand_over: ['hand_over', { to: 'Ben' }],
    complete_workflow: ['complete_workflow', {}],
    abandon_workflow: ['abandon_workflow', { reason: 'r' }],
  };

  test.each(OUTCOME_CODES)(
    '%s is valid structured content of every command (BR-112)',
    async (code) => {
      let index = 0;
      const outcomes = OUTCOMES[code].map(({ outcome }) => outcome);
      const { app } = await openWorld(() => ({
        service: { execute: () => Promise.resolve(outcomes[index] ?? outcomes[0]!) },
      }));
      for (index = 0; index < outcomes.length; index++) {
        for (const [name, args] of Object.values(calls)) {
          const { isError, data } = await call(app, name, args);
          expect(data['code']).toBe(code);
          expect(isError).toBe(!['OK', 'NEEDS_CONFIRMATION', 'AMBIGUOUS'].includes(code));
          expect(data['retryable']).toBe(code === 'BACKEND_UNAVAILABLE');
          expect(data['request_id']).toMatch(/^[0-9a-f-]{36}$/u);
        }
      }
    },
  );

  test('BACKEND_UNAVAILABLE says when to try again', async () => {
    const { app } = await openWorld(() => ({
      service: {
        execute: () =>
          Promise.resolve({ code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 1_000 }),
      },
    }));
    const { isError, data } = await call(app, 'complete_workflow');
    expect(isError).toBe(true);
    expect(data).toMatchObject({ retryable: true, retry_after_ms: 1_000 });
  });

  test('a command has its deadline from the moment its tool is called', async () => {
    const deadlines: number[] = [];
    const { app } = await openWorld(() => ({
      clock: { now: () => 1_000_000, sleep: () => Promise.resolve() },
      commandTimeoutMs: 2_500,
      service: {
        execute: (_principal, _command, deadlineMs) => {
          deadlines.push(deadlineMs);
          return Promise.resolve({ code: 'BACKEND_UNAVAILABLE', retryable: true, retryAfterMs: 1 });
        },
      },
    }));
    await call(app, 'complete_workflow');
    expect(deadlines).toEqual([1_002_500]);
  });

  test.each(ERAS)('an unexpected error tells nothing and is logged (%s era)', async (era) => {
    const { app, logs } = await openWorld(() => ({
      service: { execute: () => Promise.reject(new Error('SELECT secret FROM table')) },
    }));
    const { text, data, isError } = await callTool(app, 'complete_workflow', {}, 'ana', era);
    expect(isError).toBe(true);
    expect(text).toBe(
      'Something went wrong on my side. Please try again, and tell whoever runs this service if it stays.',
    );
    expect(data).toMatchObject({ code: 'INTERNAL_ERROR', retryable: false });
    expect(JSON.stringify(data)).not.toContain('SELECT');
    const error = logs.find(({ level }) => level === 'error');
    expect(error).toMatchObject({ where: 'complete_workflow', request_id: data['request_id'] });
  });
});
