// What goes wrong by voice elsewhere: numbers, names, repeats and consent that are half understood.
import { describe, expect, test } from '@jest/globals';
import type { CheckpointApp } from '../../lib/surface/app.ts';
import { TOOLS } from '../../lib/surface/mcp/tools.ts';
import { callTool, type ToolResult } from '../support/rpc.ts';
import { unspeakable } from '../support/spoken.ts';
import { closeWorldsAfterEach, openWorld } from '../support/surface-world.ts';

closeWorldsAfterEach();

async function call(
  app: CheckpointApp,
  name: string,
  args: Record<string, unknown>,
  token = 'ana',
): Promise<ToolResult> {
  const result = await callTool(app, name, args, token);
  expect([result.text, unspeakable(result.text)]).toEqual([result.text, []]);
  return result;
}

async function start(app: CheckpointApp, asset = 'PUMP-07'): Promise<string> {
  const { data } = await call(app, 'start_workflow', { procedure: 'pump-inspection', asset });
  return data['workflow_id'] as string;
}

/** The steps of a workflow that have a record, as they are stored. */
async function recorded(app: CheckpointApp, workflow_id: string): Promise<readonly unknown[]> {
  const { data } = await call(app, 'get_workflow', { workflow_id });
  const steps = data['steps'] as { status: string; step: string; value: unknown }[];
  return steps.filter(({ status }) => status !== 'open').map(({ step, value }) => [step, value]);
}

describe('a number by voice (BR-192, BR-194, BR-195, BR-197, BR-198)', () => {
  test.each([
    ['bearing_temperature', 'minus two point five', -2.5, 'minus 2.5 degrees Celsius'],
    ['bearing_temperature', 'minus twelve', -12, 'minus 12 degrees Celsius'],
    ['bearing_temperature', 'one hundred and five', 105, '105 degrees Celsius'],
    ['vibration', 'point five', 0.5, '0.5 millimetres per second'],
    ['vibration', 'fifteen', 15, '15 millimetres per second'],
    ['vibration', '12', 12, '12 millimetres per second'],
    ['vibration', 'three', 3, '3 millimetres per second'],
    ['vibration', 'zero', 0, '0 millimetres per second'],
  ])('for %s said as %j is recorded as %d and read back with its unit', async (...row) => {
    const [step, spoken_reading, value, said] = row;
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const { text, data } = await call(app, 'record_step', { workflow_id, step, spoken_reading });
    expect(text).toContain(` ${said}`);
    expect(data).toMatchObject({ code: 'OK', receipt: { value } });
  });

  test('that can be taken for another one beyond the limits is asked for before it is stored', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const args = { workflow_id, step: 'vibration', spoken_reading: 'fifty' };
    const { text, data } = await call(app, 'record_step', args);
    expect(text).toBe(
      'I heard 50 millimetres per second for vibration; the limit is 18. Is that right?',
    );
    expect(data).toMatchObject({ code: 'NEEDS_CONFIRMATION' });
    expect(await recorded(app, workflow_id)).toEqual([]);
  });

  test.each([
    'between three and four hundred',
    'seven eighty eight',
    'three, four, 500',
    'oh',
    'about two point one',
    'two point one psi maybe',
  ])('said as %j is asked for again, and no part of it is stored', async (spoken_reading) => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const args = { workflow_id, step: 'suction_pressure', spoken_reading };
    const { text, data } = await call(app, 'record_step', args);
    expect(text).toMatch(/What is the value for suction pressure, in bar\?$/u);
    expect(data).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await recorded(app, workflow_id)).toEqual([]);
  });

  test('beyond what a step keeps is not rounded in silence', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const spoken_reading = 'minus point oh five';
    const args = { workflow_id, step: 'bearing_temperature', spoken_reading };
    expect((await call(app, 'record_step', args)).text).toBe(
      'The reading does not fit: expected at most 1 decimal place. Please say it again.',
    );
  });

  test.each(['12', 'twelve', '', null, true])(
    'is no number where a number is wanted: %j',
    async (reading) => {
      const { app } = await openWorld();
      const args = { step: 'vibration', reading };
      expect((await call(app, 'record_step', args)).data).toMatchObject({
        code: 'INVALID_ARGUMENT',
        faults: [{ path: '/reading', message: 'expected a number' }],
      });
    },
  );
});

describe('a name by voice (BR-200, BR-201, BR-209)', () => {
  test('that fits two assets changes nothing and names both', async () => {
    const { app } = await openWorld();
    const ids = [await start(app, 'PUMP-07'), await start(app, 'PUMP-08')];
    const args = { procedure: 'pump-inspection', asset: 'pump' };
    const asked = await call(app, 'start_workflow', args, 'ben');
    expect(asked.text).toBe('I know no asset of that name. Did you mean PUMP-07 or PUMP-08?');
    const mine = await call(app, 'complete_workflow', {});
    expect(mine.data).toMatchObject({
      code: 'AMBIGUOUS',
      choices: [
        { workflow_id: ids[0], asset: 'PUMP-07', title: 'pump inspection' },
        { workflow_id: ids[1], asset: 'PUMP-08', title: 'pump inspection' },
      ],
    });
    for (const id of ids) expect(await recorded(app, id)).toEqual([]);
  });

  test('with a place that the asset does not have is not found, with the near one', async () => {
    const { app } = await openWorld();
    await start(app, 'PUMP-08');
    const { text, data } = await call(app, 'get_workflow', { asset: 'pump eight in hall two' });
    expect(text).toBe('I know no asset called pump eight in hall two. Did you mean PUMP-08?');
    expect(data).toMatchObject({ code: 'NOT_FOUND', suggestions: ['PUMP-08'] });
  });

  test('with its number is exactly that one of its family', async () => {
    const { app } = await openWorld();
    for (const n of [1, 2, 3, 4]) await start(app, `PUMP-0${n}`);
    const { data } = await call(app, 'get_workflow', { asset: 'pump-01' });
    expect(data).toMatchObject({ code: 'OK', workflow: { asset: 'PUMP-01' } });
  });

  test.each([
    ['pump ate', 'PUMP-08'],
    ['pump for', 'PUMP-04'],
    ['bump too', 'PUMP-02'],
    ['P for pump seven', 'PUMP-07'],
  ])('that sounds like another, %j, is proposed as %s and never used', async (heard, asset) => {
    const { app } = await openWorld();
    await start(app, asset);
    const args = { procedure: 'pump-inspection', asset: heard };
    const asked = await call(app, 'start_workflow', args, 'ben');
    expect(asked.data).toMatchObject({ code: 'INVALID_ARGUMENT', suggestions: [asset] });
    expect((await call(app, 'get_workflow', { asset: heard })).data['code']).toBe('NOT_FOUND');
  });
});

describe('a wish by voice (BR-203, BR-204)', () => {
  test('to end is not taken for one to begin: the descriptions keep them apart', () => {
    const told = (name: string): string =>
      TOOLS.find(({ listing }) => listing.name === name)?.listing.description ?? '';
    expect(told('start_workflow')).toMatch(/begin, open or start .* Do not call it to go on /u);
    expect(told('abandon_workflow')).toMatch(
      /only when .* clearly wants to give up, cancel or stop /u,
    );
    expect(told('complete_workflow')).toMatch(
      /To stop before the end use abandon_workflow instead/u,
    );
    expect(told('start_workflow')).not.toMatch(/cancel|stop|unlock/iu);
  });

  test('that ends work is asked about first, and a wrong guess can be heard', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const asked = await call(app, 'abandon_workflow', { workflow_id, reason: 'cancel it' });
    expect(asked.text).toMatch(/^You want to end pump inspection on PUMP-07, .* Is that right\?$/u);
    expect(asked.data).toMatchObject({ workflow: { state: 'CREATED' } });
    const begun = await call(app, 'start_workflow', {
      procedure: 'pump-inspection',
      asset: 'PUMP-07',
    });
    expect(begun.text).toMatch(/^Already started, pump inspection on PUMP-07\. /u);
  });

  test('sent five times at once, as platforms do after a silence, has one effect and one receipt', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const args = { workflow_id, step: 'suction_pressure', spoken_reading: 'two point one' };
    for (const key of [{ idempotency_key: 'k' }, {}]) {
      const five = await Promise.all(
        [1, 2, 3, 4, 5].map(() => call(app, 'record_step', { ...args, ...key })),
      );
      const receipts = five.map(({ data }) => data['receipt']);
      expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
      expect(receipts[0]).toMatchObject({ seq: 2, value: 2.1 });
    }
    expect(await recorded(app, workflow_id)).toEqual([['suction_pressure', 2.1]]);
  });
});

describe('consent by voice (BR-206, BR-207)', () => {
  const asked = async (app: CheckpointApp, workflow_id: string, step: string) => {
    const { data } = await call(app, 'record_step', { workflow_id, step, reading: 42 });
    return data['confirmation_token'] as string;
  };

  test('is described: what counts, and that it comes after the question', () => {
    const tool = TOOLS.find(({ listing }) => listing.name === 'record_step');
    const token = tool?.listing.inputSchema.properties['confirmation_token'];
    expect(token).toMatchObject({
      description: expect.stringContaining(
        'Only after the value was read back and the person clearly said yes',
      ),
    });
    expect(tool?.listing.description).toContain('on a clear yes');
  });

  test('to another question is no consent to this one', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const confirmation_token = await asked(app, workflow_id, 'suction_pressure');
    const other = { workflow_id, step: 'discharge_pressure', reading: 42, confirmation_token };
    expect((await call(app, 'record_step', other)).data).toMatchObject({
      code: 'NEEDS_CONFIRMATION',
      detail: { step: 'discharge_pressure' },
    });
    const value = { ...other, step: 'suction_pressure', reading: 43 };
    expect((await call(app, 'record_step', value)).data['code']).toBe('NEEDS_CONFIRMATION');
    expect(await recorded(app, workflow_id)).toEqual([]);
  });

  test('that is nearly right is asked for again, and uses nothing up', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    const confirmation_token = await asked(app, workflow_id, 'suction_pressure');
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const miss = { ...args, confirmation_token: `${confirmation_token.slice(0, -1)}~` };
    const again = await call(app, 'record_step', miss);
    expect(again.isError).toBe(false);
    expect(again.text).toMatch(/Is that right\?$/u);
    expect(await recorded(app, workflow_id)).toEqual([]);
    const right = await call(app, 'record_step', { ...args, confirmation_token });
    expect(right.data).toMatchObject({ code: 'OK', receipt: { result: 'blocked', value: 42 } });
  });

  test('to end an assignment that has changed meanwhile ends nothing', async () => {
    const { app } = await openWorld();
    const workflow_id = await start(app);
    await call(app, 'list_my_workflows', {}, 'ben');
    const reason = 'stop';
    const { tenure } = (await call(app, 'abandon_workflow', { workflow_id, reason })).data;
    const { to } = (await call(app, 'hand_over', { workflow_id, to: 'Ben' })).data;
    await call(app, 'hand_over', { workflow_id, to, tenure });
    const late = await call(app, 'abandon_workflow', { workflow_id, reason, tenure });
    expect(late.data).toMatchObject({
      code: 'NOT_ASSIGNED',
      workflow: { state: 'CREATED', holder: 'Ben' },
    });
  });
});
