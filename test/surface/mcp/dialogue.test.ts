import {
  Client,
  StreamableHTTPClientTransport,
  type ElicitRequest,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { describe, expect, test } from '@jest/globals';
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService } from '../../../lib/core/service/service.ts';
import { ERAS, callTool, send, type Answer } from '../../support/rpc.ts';
import {
  closeWorldsAfterEach,
  openWorld,
  PUBLIC_URL,
  shippedRegistry,
  type World,
} from '../../support/surface-world.ts';

closeWorldsAfterEach();

const FORMS = { elicitation: { form: {} } };

type Args = { readonly [name: string]: unknown };
type Reply = { readonly action: string; readonly content?: object };

interface Asked {
  readonly message: string;
  readonly schema: { readonly properties: { readonly [name: string]: unknown } };
  readonly state: string;
}

const yes: Reply = { action: 'accept', content: { confirm: true } };

/** One round of a call by a client that can be asked. */
function round(
  { app }: World,
  name: string,
  args: Args,
  back: { readonly state?: string; readonly reply?: Reply } = {},
  token = 'ana',
  capabilities: object = FORMS,
): Promise<Answer> {
  const params = {
    name,
    arguments: args,
    ...(back.state !== undefined && { requestState: back.state }),
    ...(back.reply !== undefined && { inputResponses: { answer: back.reply } }),
  };
  return send(app, 'stateless', 'tools/call', params, { token, capabilities });
}

function asked({ body, text }: Answer): Asked {
  const result = body['result'] as
    | {
        resultType: string;
        requestState: string;
        inputRequests: {
          answer: { method: string; params: { message: string; requestedSchema: never } };
        };
      }
    | undefined;
  if (result?.resultType !== 'input_required') throw new Error(`no question: ${text}`);
  const { method, params } = result.inputRequests.answer;
  expect(method).toBe('elicitation/create');
  return { message: params.message, schema: params.requestedSchema, state: result.requestState };
}

function data({ body, text }: Answer): Record<string, unknown> {
  const result = body['result'] as { structuredContent?: Record<string, unknown> } | undefined;
  if (result?.structuredContent === undefined) throw new Error(`no answer: ${text}`);
  return result.structuredContent;
}

const refusedState = {
  error: {
    code: -32_602,
    message: 'Invalid or expired requestState',
    data: { reason: 'invalid_request_state' },
  },
};

async function started({ app }: World, asset = 'PUMP-07'): Promise<string> {
  const args = { procedure: 'pump-inspection', asset };
  return (await callTool(app, 'start_workflow', args)).data['workflow_id'] as string;
}

const events = async ({ store }: World, workflow: string): Promise<number> =>
  (await store.listEvents('plant', workflow, { after: 0, limit: 100 })).length;

/** A world whose service lives `aheadMs` in the future. */
const later = (world: World, aheadMs: number): Promise<World> =>
  openWorld(() => ({
    service: createService({
      store: world.store,
      registry: shippedRegistry(),
      clock: { now: () => Date.now() + aheadMs, sleep: (ms) => systemClock.sleep(ms) },
      random: systemRandom,
      secrets: secretsOf('a deployment secret for tests only'),
      sinks: ['log'],
    }),
    commandTimeoutMs: aheadMs + 2_000,
  }));

describe('a client that can be asked', () => {
  test('is sent the question of an out-of-bounds value, and a yes commits exactly once', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const question = asked(await round(world, 'record_step', args));
    expect(question.message).toBe(
      'I heard 42 bar for suction pressure; the limit is 12. Is that right?',
    );
    expect(question.schema).toEqual({
      type: 'object',
      properties: { confirm: { type: 'boolean', title: 'Yes' } },
      required: ['confirm'],
    });
    expect(await events(world, workflow_id)).toBe(1);
    const { state } = question;
    const written = data(await round(world, 'record_step', args, { state, reply: yes }));
    expect(written).toMatchObject({ code: 'OK', duplicate: false, receipt: { result: 'blocked' } });
    const again = data(await round(world, 'record_step', args, { state, reply: yes }));
    expect(again).toMatchObject({ code: 'OK', duplicate: true, receipt: written['receipt'] });
    expect(await events(world, workflow_id)).toBe(2);
  });

  test('may also give the same signed text back as confirmation token', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const { state } = asked(await round(world, 'record_step', args));
    const written = await callTool(world.app, 'record_step', {
      ...args,
      confirmation_token: state,
    });
    expect(written.data).toMatchObject({ code: 'OK', receipt: { result: 'blocked' } });
  });

  test('a confirmation token serves as request state', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const { data: told } = await callTool(world.app, 'record_step', args);
    const state = told['confirmation_token'] as string;
    const written = data(await round(world, 'record_step', args, { state, reply: yes }));
    expect(written).toMatchObject({ code: 'OK', receipt: { result: 'blocked' } });
  });

  test.each<[string, Reply]>([
    ['declines', { action: 'decline' }],
    ['turns away', { action: 'cancel' }],
    ['answers no', { action: 'accept', content: { confirm: false } }],
  ])('writes nothing where the person %s', async (_what, reply) => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const { state } = asked(await round(world, 'record_step', args));
    const answer = await round(world, 'record_step', args, { state, reply });
    expect(answer.body).toMatchObject({
      result: {
        content: [{ type: 'text', text: 'All right, I changed nothing.' }],
        structuredContent: { code: 'DECLINED' },
      },
    });
    expect(await events(world, workflow_id)).toBe(1);
  });

  test.each<[string, object]>([
    ['without an answer', {}],
    [
      'with an answer of another shape',
      { reply: { action: 'accept', content: { confirm: 'yes' } } },
    ],
    ['with an empty answer', { reply: { action: 'accept', content: {} } }],
    [
      'with a choice in place of a yes',
      { reply: { action: 'accept', content: { to: 'dev:ana' } } },
    ],
  ])('is asked again %s', async (_what, back) => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const { state } = asked(await round(world, 'record_step', args));
    expect(asked(await round(world, 'record_step', args, { state, ...back })).message).toContain(
      'Is that right?',
    );
    expect(await events(world, workflow_id)).toBe(1);
  });

  test('is asked one thing after another: which work, replace, out of bounds', async () => {
    const world = await openWorld();
    const first = await started(world, 'PUMP-07');
    const second = await started(world, 'PUMP-08');
    const record = { workflow_id: second, step: 'vibration', reading: 2 };
    await callTool(world.app, 'record_step', record);
    const args = { step: 'vibration', reading: 19, idempotency_key: 'one utterance' };
    const which = asked(await round(world, 'record_step', args));
    expect(which.schema.properties['workflow_id']).toEqual({
      type: 'string',
      title: 'Which work',
      oneOf: [
        { const: first, title: 'pump inspection, PUMP-07' },
        { const: second, title: 'pump inspection, PUMP-08' },
      ],
    });
    const chosen = { action: 'accept', content: { workflow_id: second } };
    const replace = asked(
      await round(world, 'record_step', args, { state: which.state, reply: chosen }),
    );
    expect(replace.message).toContain('already recorded as 2');
    const beyond = asked(
      await round(world, 'record_step', args, { state: replace.state, reply: yes }),
    );
    expect(beyond.message).toContain('the limit is 18');
    const last = { state: beyond.state, reply: yes };
    const written = data(await round(world, 'record_step', args, last));
    expect(written).toMatchObject({
      code: 'OK',
      duplicate: false,
      workflow_id: second,
      receipt: { command: 'correct_step', result: 'retake_required', value: 19 },
    });
    // A lost answer: the last round again, and the first one under its key.
    expect(data(await round(world, 'record_step', args, last))).toMatchObject({ duplicate: true });
    expect(data(await round(world, 'record_step', args))).toMatchObject({
      duplicate: true,
      receipt: written['receipt'],
    });
    expect(await events(world, second)).toBe(3);
    expect(await events(world, first)).toBe(1);
  });

  test('is asked before work is handed over, and by account where a name is not enough', async () => {
    const world = await openWorld(() => ({}));
    const workflow_id = await started(world);
    await world.store.noteProfile({ tenant: 'plant', subject: 'dev:kim1', name: 'Kim' });
    await world.store.noteProfile({ tenant: 'plant', subject: 'dev:kim2', name: 'Kim' });
    const args = { workflow_id, to: 'Kim' };
    const who = asked(await round(world, 'hand_over', args));
    expect(who.schema.properties['to']).toMatchObject({
      oneOf: [
        { const: 'dev:kim1', title: 'Kim (dev:kim1)' },
        { const: 'dev:kim2', title: 'Kim (dev:kim2)' },
      ],
    });
    const reply = { action: 'accept', content: { to: 'dev:kim2' } };
    const sure = asked(await round(world, 'hand_over', args, { state: who.state, reply }));
    expect(sure.message).toContain('to Kim. Is that right?');
    const last = { state: sure.state, reply: yes };
    expect(data(await round(world, 'hand_over', args, last))).toMatchObject({
      code: 'OK',
      duplicate: false,
      receipt: { result: 'handed_over', to: 'dev:kim2' },
    });
    expect(data(await round(world, 'hand_over', args, last))).toMatchObject({ duplicate: true });
    expect(await events(world, workflow_id)).toBe(2);
  });

  test('is asked before work ends early', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, reason: 'wrong pump' };
    const { state } = asked(await round(world, 'abandon_workflow', args));
    const other = { workflow_id, reason: 'another reason' };
    expect(
      (await round(world, 'abandon_workflow', other, { state, reply: yes })).body,
    ).toMatchObject(refusedState);
    expect(data(await round(world, 'abandon_workflow', args, { state, reply: yes }))).toMatchObject(
      {
        code: 'OK',
        receipt: { result: 'abandoned' },
      },
    );
  });

  test('is asked which work to complete', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const which = asked(await round(world, 'complete_workflow', {}));
    expect(which.message).toBe('Do you mean pump inspection on PUMP-07?');
    const reply = { action: 'accept', content: { workflow_id } };
    expect(
      data(await round(world, 'complete_workflow', {}, { state: which.state, reply })),
    ).toMatchObject({ code: 'STEPS_MISSING', workflow_id });
  });

  test('is told in words where nothing can be chosen', async () => {
    const world = await openWorld();
    expect(data(await round(world, 'complete_workflow', {}))).toMatchObject({
      code: 'AMBIGUOUS',
      total: 0,
    });
  });

  test('is told in words where a form could not hold every candidate', async () => {
    const world = await openWorld();
    for (let n = 1; n <= 6; n++) await started(world, `PUMP-0${n}`);
    expect(data(await round(world, 'complete_workflow', {}))).toMatchObject({ total: 6 });
  });
});

describe('a request state is refused with -32602, and nothing is written', () => {
  async function stateFor(world: World): Promise<{ args: Args; state: string; workflow: string }> {
    const workflow = await started(world);
    const args = { workflow_id: workflow, step: 'suction_pressure', reading: 42 };
    const { state } = asked(await round(world, 'record_step', args));
    return { args, state, workflow };
  }

  test.each<[string, (state: string) => string]>([
    ['with one letter more', (state) => `${state}x`],
    ['with another signature', (state) => `${state.slice(0, -4)}AAAA`],
    ['without a signature', (state) => state.slice(0, state.lastIndexOf('.'))],
    ['of another version', (state) => state.replace('c2.', 'c1.')],
    [
      'of another occasion under the old signature',
      (state) => {
        const [, payload = '', mac = ''] = state.split('.');
        const said = Buffer.from(payload, 'base64url').toString().replace('[0,', '[1,');
        return `c2.${Buffer.from(said).toString('base64url')}.${mac}`;
      },
    ],
    ['that is no state', () => 'hello'],
    ['that is empty', () => ''],
    ['of prototype names', () => 'c2.__proto__.constructor'],
    ['beyond its limit', (state) => state + 'x'.repeat(2_048)],
  ])('%s', async (_what, change) => {
    const world = await openWorld();
    const { args, state, workflow } = await stateFor(world);
    const answer = await round(world, 'record_step', args, { state: change(state), reply: yes });
    expect(answer.body).toMatchObject(refusedState);
    expect(await events(world, workflow)).toBe(1);
  });

  test.each<[string, Args]>([
    ['another value', { reading: 43 }],
    ['a value that needs no question', { reading: 2 }],
    ['another step', { step: 'discharge_pressure' }],
    ['no workflow but the one it names, and another value', { workflow_id: undefined, reading: 2 }],
  ])('with %s', async (_what, change) => {
    const world = await openWorld();
    const { args, state, workflow } = await stateFor(world);
    const back = { state, reply: yes };
    const answer = await round(world, 'record_step', { ...args, ...change }, back);
    expect(answer.body).toMatchObject(refusedState);
    expect(await events(world, workflow)).toBe(1);
  });

  test('of another person, of another tenant, on another workflow or for another command', async () => {
    const world = await openWorld();
    const { args, state, workflow } = await stateFor(world);
    const other = await started(world, 'PUMP-08');
    const back = { state, reply: yes };
    for (const answer of [
      await round(world, 'record_step', args, back, 'ben'),
      await round(world, 'record_step', { ...args, workflow_id: other }, back),
      await round(world, 'complete_workflow', { workflow_id: workflow }, back),
      await round(world, 'abandon_workflow', { workflow_id: workflow, reason: 'x' }, back),
      await round(
        world,
        'start_workflow',
        { procedure: 'pump-inspection', asset: 'PUMP-09' },
        back,
      ),
    ]) {
      expect(answer.body).toMatchObject(refusedState);
    }
    const foreign = await round(world, 'record_step', args, back, 'other');
    expect(data(foreign)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await events(world, workflow)).toBe(1);
    expect(await events(world, other)).toBe(1);
  });

  test('after ten minutes, and what took effect is still recognised', async () => {
    const world = await openWorld();
    const { args, state, workflow } = await stateFor(world);
    const back = { state, reply: yes };
    const late = await later(world, 600_001);
    expect((await round(late, 'record_step', args, back)).body).toMatchObject(refusedState);
    expect(await events(world, workflow)).toBe(1);
    expect(data(await round(world, 'record_step', args, back))).toMatchObject({ duplicate: false });
    expect(data(await round(late, 'record_step', args, back))).toMatchObject({ duplicate: true });
  });

  test('once the occasion it names is over', async () => {
    const world = await openWorld();
    const { args, state, workflow } = await stateFor(world);
    await callTool(world.app, 'record_step', { ...args, reading: 2 });
    const answer = await round(world, 'record_step', args, { state, reply: yes });
    expect(asked(answer).message).toContain('already recorded as 2');
    expect(await events(world, workflow)).toBe(2);
  });
});

describe('clients that cannot be asked keep the way in two calls', () => {
  test.each<[string, object]>([
    ['declares nothing', {}],
    ['declares sampling only', { sampling: {} }],
    ['declares elicitation by URL only', { elicitation: { url: {} } }],
  ])('a client that %s', async (_what, capabilities) => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const answer = await round(world, 'record_step', args, {}, 'ana', capabilities);
    const told = data(answer);
    expect(told).toMatchObject({ code: 'NEEDS_CONFIRMATION' });
    expect(told['detail']).not.toHaveProperty('state');
    expect(answer.body).toMatchObject({ result: { resultType: 'complete' } });
  });

  test('elicitation without a mode means forms', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const answer = await round(world, 'record_step', args, {}, 'ana', { elicitation: {} });
    expect(asked(answer).message).toContain('Is that right?');
  });

  test.each(ERAS)('answers in words say the same in the %s era', async (era) => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const args = { workflow_id, step: 'suction_pressure', reading: 42 };
    const { text } = await callTool(world.app, 'record_step', args, 'ana', era);
    expect(text).toBe('I heard 42 bar for suction pressure; the limit is 12. Is that right?');
  });
});

describe('the official client of the later era', () => {
  async function connected(world: World, answer: (message: string) => ElicitResult) {
    const questions: string[] = [];
    const client = new Client(
      { name: 'assistant', version: '2' },
      {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        capabilities: { elicitation: { form: {} } },
      },
    );
    client.setRequestHandler('elicitation/create', ({ params }: ElicitRequest) => {
      questions.push(params.message);
      return answer(params.message);
    });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(PUBLIC_URL), {
        fetch: (url, init) => Promise.resolve(world.app.request(String(url), init)),
        requestInit: { headers: { authorization: 'Bearer ana' } },
      }),
    );
    return { client, questions };
  }

  test('asks through its handler and gets the committed step from one call', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const { client, questions } = await connected(world, () => ({
      action: 'accept',
      content: { confirm: true },
    }));
    await client.listTools();
    const result = await client.callTool({
      name: 'record_step',
      arguments: { workflow_id, step: 'suction_pressure', reading: 42 },
    });
    expect(questions).toEqual([
      'I heard 42 bar for suction pressure; the limit is 12. Is that right?',
    ]);
    expect(result).toMatchObject({
      structuredContent: { code: 'OK', receipt: { result: 'blocked' } },
    });
    expect(await events(world, workflow_id)).toBe(2);
    await client.close();
  });

  test('writes nothing where its handler declines', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const { client } = await connected(world, () => ({ action: 'decline' }));
    const result = await client.callTool({
      name: 'record_step',
      arguments: { workflow_id, step: 'suction_pressure', reading: 42 },
    });
    expect(result).toMatchObject({ structuredContent: { code: 'DECLINED' } });
    expect(await events(world, workflow_id)).toBe(1);
    await client.close();
  });
});
