import { describe, expect, test } from '@jest/globals';
import { usePlant } from '../support/plant.ts';
import { rawRequest } from '../support/raw-http.ts';
import { eventsIn } from '../support/trail.ts';
import { at, rpcRequest, tool, type Answer } from '../support/wire.ts';

const plant = usePlant();

/** Records with the rest of the arguments as they are written; W is the workflow. */
function record(workflow_id: string, rest: string): Promise<Answer> {
  return tool(plant.ana, 'record_step', `{${rest.replace('W', () => workflow_id)}}`);
}

describe('a payload has one identity', () => {
  test.each([
    ['1.0, 1 and 1e0', 1, ['1.0', '1', '1e0', '10E-1']],
    ['-0 and 0', 0, ['-0', '0', '-0.0', '0e5']],
    ['2.10 and 2.1', 2.1, ['2.10', '2.1', '21e-1']],
  ])('however a number is written: %s', async (_what, value, forms) => {
    const workflow_id = await plant.started();
    const answers: Answer[] = [];
    for (const form of forms) {
      const key = `"idempotency_key":"number ${value}"`;
      answers.push(
        await record(
          workflow_id,
          `"workflow_id":"W","step":"suction_pressure","reading":${form},${key}`,
        ),
      );
    }
    expect(answers.map(({ fields }) => [fields['code'], fields['duplicate']])).toEqual([
      ['OK', false],
      ...forms.slice(1).map(() => ['OK', true]),
    ]);
    for (const answer of answers) {
      expect(at(answer, 'receipt.value')).toBe(value);
      expect(answer.text).toContain(`suction pressure ${value} bar`);
    }
    expect(eventsIn(plant.folder, workflow_id).map(({ data }) => data['value'])).toEqual([
      undefined,
      value,
    ]);
  });

  test('whatever the order of its members', async () => {
    const workflow_id = await plant.started();
    const first = await record(
      workflow_id,
      `"workflow_id":"W","step":"suction_pressure","reading":1,"unit":"bar","idempotency_key":"order"`,
    );
    const second = await record(
      workflow_id,
      `"unit":"bar","idempotency_key":"order","reading":1.0,"step":"suction_pressure","workflow_id":"W"`,
    );
    expect([first.fields['duplicate'], second.fields['duplicate']]).toEqual([false, true]);
    expect(second.fields['receipt']).toEqual(first.fields['receipt']);
  });

  test('and escapes of a character are that character', async () => {
    const workflow_id = await plant.started();
    const said = (text: string) =>
      record(
        workflow_id,
        `"workflow_id":"W","step":"operator_remarks","text":"${text}","idempotency_key":"escape"`,
      );
    expect((await said('caf\u00e9')).fields).toMatchObject({ code: 'OK', duplicate: false });
    expect((await said('caf\\u00E9')).fields).toMatchObject({ code: 'OK', duplicate: true });
  });
});

describe('another payload is a conflict', () => {
  test('where a text is composed in one call and decomposed in the other', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'operator_remarks', idempotency_key: 'accent' };
    const composed = await tool(plant.ana, 'record_step', { ...args, text: 'caf\u00e9' });
    const decomposed = await tool(plant.ana, 'record_step', { ...args, text: 'cafe\u0301' });
    expect(composed.fields).toMatchObject({ code: 'OK', duplicate: false });
    expect(decomposed.fields).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      detail: { fields: ['text'] },
    });
    expect(eventsIn(plant.folder, workflow_id)).toHaveLength(2);
  });
});

describe('what has no exact form is refused before anything is written', () => {
  test.each([
    ['an integer beyond what is kept exactly', '18446744073709551615', '/params/arguments/reading'],
    ['a number that overflows', '1e999', '/params/arguments/reading'],
    ['a number that underflows', '1e-999', '/params/arguments/reading'],
    ['half of a character pair', '"\\ud800"', '/params/arguments/reading'],
  ])('%s', async (_what, form, path) => {
    const workflow_id = await plant.started();
    const { headers, body } = rpcRequest('handshake', 'tools/call', {
      name: 'record_step',
      arguments: { workflow_id, step: 'suction_pressure', reading: 0 },
    });
    const reply = await rawRequest(plant.ana.url, {
      headers: { ...headers, authorization: `Bearer ${plant.ana.token}` },
      body: body.replace('"reading":0', () => `"reading":${form}`),
    });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ id: null, error: { code: -32_700, data: { path } } });
    expect(eventsIn(plant.folder, workflow_id)).toHaveLength(1);
  });

  test('twenty thousand nested lists, and the next request is served', async () => {
    const workflow_id = await plant.started();
    const { headers, body } = rpcRequest('handshake', 'tools/call', {
      name: 'record_step',
      arguments: { workflow_id, step: 'suction_pressure', meta: 0 },
    });
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const reply = await rawRequest(plant.ana.url, {
      headers: { ...headers, authorization: `Bearer ${plant.ana.token}` },
      body: body.replace('"meta":0', `"meta":${deep}`),
    });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ error: { code: -32_700, data: { code: 'TOO_DEEP' } } });
    expect((await tool(plant.ana, 'get_workflow', { workflow_id })).fields['code']).toBe('OK');
  });
});

describe('times', () => {
  test.each(['2025-02-30T00:00:00Z', 'not a date'])(
    'no argument takes one: %s as dueAt is refused by its name and nothing is written',
    async (dueAt) => {
      const before = eventsIn(plant.folder).length;
      const args = { procedure: 'pump-inspection', asset: 'PUMP-99', dueAt };
      const answer = await tool(plant.ana, 'start_workflow', args);
      expect(answer.isError).toBe(true);
      expect(answer.fields).toMatchObject({
        code: 'INVALID_ARGUMENT',
        faults: [{ path: '/dueAt', message: 'this is not an argument of this tool' }],
      });
      expect(eventsIn(plant.folder)).toHaveLength(before);
    },
  );

  test('every time that is kept or answered is UTC in one form', async () => {
    const workflow_id = await plant.started();
    const { fields } = await tool(plant.ana, 'get_workflow', { workflow_id });
    const times = [...JSON.stringify(fields).matchAll(/"\w+_at":"([^"]*)"/g)].map(([, t]) => t);
    times.push(...eventsIn(plant.folder).map((event) => event.at));
    expect(times.length).toBeGreaterThan(2);
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});
