import { describe, expect, test } from '@jest/globals';
import { createQueries } from '../../../lib/core/queries.ts';
import { Fault } from '../../../lib/core/fault.ts';
import { callTool, ERAS, send, type Answer, type Era } from '../../support/rpc.ts';
import { unspeakable } from '../../support/spoken.ts';
import {
  closeWorldsAfterEach,
  openWorld,
  shippedRegistry,
  type World,
} from '../../support/surface-world.ts';

closeWorldsAfterEach();

interface Content {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

const read = ({ app }: World, uri: string, token = 'ana', era: Era = 'handshake') =>
  send(app, era, 'resources/read', { uri }, { token });

/** The two texts of a resource: its JSON and its sentence. */
function parts({ body, text }: Answer): { json: Record<string, unknown>; said: string } {
  const result = body['result'] as { contents: Content[] } | undefined;
  if (result === undefined) throw new Error(text);
  const [json, said] = result.contents;
  expect([json?.mimeType, said?.mimeType]).toEqual(['application/json', 'text/plain']);
  expect(json?.uri).toBe(said?.uri);
  expect(unspeakable(said?.text ?? '')).toEqual([]);
  return {
    json: JSON.parse(json?.text ?? '') as Record<string, unknown>,
    said: said?.text ?? '',
  };
}

async function started({ app }: World, asset = 'PUMP-07'): Promise<string> {
  const args = { procedure: 'pump-inspection', asset };
  return (await callTool(app, 'start_workflow', args)).data['workflow_id'] as string;
}

describe('what is listed', () => {
  test.each(ERAS)('the procedures, in their order, in the %s era', async (era) => {
    const { app } = await openWorld();
    const { body } = await send(app, era, 'resources/list');
    const { resources } = body['result'] as { resources: { uri: string; name: string }[] };
    expect(resources.map(({ uri }) => uri)).toEqual([
      'procedure://instrument-calibration',
      'procedure://pump-inspection',
    ]);
    expect(body).not.toHaveProperty('result.nextCursor');
    const rest = await send(app, era, 'resources/list', { cursor: 'instrument-calibration' });
    expect(rest.body).toMatchObject({ result: { resources: [{ name: 'pump-inspection' }] } });
    const none = await send(app, era, 'resources/list', { cursor: 'pump-inspection' });
    expect(none.body).toMatchObject({ result: { resources: [] } });
  });

  test.each(['resources/list', 'tools/list', 'prompts/list', 'resources/templates/list'])(
    'a cursor that %s did not give is refused in both eras',
    async (method) => {
      const { app } = await openWorld();
      for (const era of ERAS) {
        for (const cursor of ['zzz', '', '__proto__', 'eyJhIjoxfQ']) {
          const { status, body } = await send(app, era, method, { cursor });
          expect([status, body['error']]).toMatchObject([
            200,
            { code: -32_602, message: 'this list did not give this cursor' },
          ]);
        }
      }
    },
  );

  test.each(ERAS)('four templates, in their order, in the %s era', async (era) => {
    const { app } = await openWorld();
    const { body } = await send(app, era, 'resources/templates/list');
    const { resourceTemplates } = body['result'] as {
      resourceTemplates: { uriTemplate: string }[];
    };
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'workflow://{id}',
      'workflow://{id}/events{?after}',
      'procedure://{id}',
      'run://{id}',
    ]);
  });

  test('no change of a list is promised to be told', async () => {
    const { app } = await openWorld();
    const { body } = await send(app, 'stateless', 'server/discover');
    expect(body).toMatchObject({
      result: {
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: false, subscribe: false },
          prompts: { listChanged: false },
          completions: {},
        },
      },
    });
  });

  test.each([
    ['server/discover', {}],
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['prompts/list', {}],
    ['resources/read', { uri: 'procedure://pump-inspection' }],
  ])('%s may be kept by anybody for five minutes', async (method, params) => {
    const { app } = await openWorld();
    const { body } = await send(app, 'stateless', method, params);
    expect(body).toMatchObject({ result: { ttlMs: 300_000, cacheScope: 'public' } });
    if (method === 'server/discover') return;
    const earlier = await send(app, 'handshake', method, params);
    expect(earlier.body).toHaveProperty('result');
    expect(earlier.text).not.toContain('ttlMs');
  });
});

describe('procedure://', () => {
  test.each([
    ['ana', 'a person'],
    ['service', 'a service'],
    ['reader', 'a person without scopes'],
  ])('is read by %s: %s', async (token) => {
    const world = await openWorld();
    const { json, said } = parts(await read(world, 'procedure://pump-inspection', token));
    expect(json).toMatchObject({ id: 'pump-inspection', version: 2, asset: { type: 'pump' } });
    expect((json['steps'] as unknown[]).length).toBe(9);
    expect(said).toBe(
      'Pump inspection is for a pump and has 9 steps. Routine inspection of a running centrifugal pump, about ten minutes.',
    );
  });
});

describe('workflow://', () => {
  test.each(ERAS)('says what get_workflow says, in the %s era', async (era) => {
    const world = await openWorld();
    const id = await started(world);
    const tool = await callTool(world.app, 'get_workflow', { workflow_id: id }, 'ana', era);
    const { request_id: _id, code: _code, retryable: _retryable, ...same } = tool.data;
    const answer = await read(world, `workflow://${id}`, 'ana', era);
    const { json, said } = parts(answer);
    expect(json).toEqual(same);
    expect(said).toBe(tool.text);
    if (era === 'stateless') {
      expect(answer.body).toMatchObject({ result: { ttlMs: 0, cacheScope: 'private' } });
    }
  });

  test('an auditor reads it, and nobody of another tenant', async () => {
    const world = await openWorld();
    const id = await started(world);
    expect(parts(await read(world, `workflow://${id}`, 'auditor')).json).toMatchObject({
      workflow_id: id,
    });
    const foreign = await read(world, `workflow://${id}`, 'other');
    expect(foreign.body).toMatchObject({ error: { code: -32_602 } });
    expect(foreign.text).not.toContain('PUMP-07');
  });
});

describe('workflow://…/events', () => {
  /** A workflow with a sensitive text among its records. */
  async function calibration(world: World): Promise<string> {
    const start = { procedure: 'instrument-calibration', asset: 'BAL-001' };
    const { data } = await callTool(world.app, 'start_workflow', start);
    const workflow_id = data['workflow_id'] as string;
    for (const [step, answer] of [
      ['level_check', { confirmed: true }],
      ['room_temperature', { reading: 21 }],
      ['as_found_error', { reading: -0.4 }],
      ['adjustment', { choice: 'internal weight' }],
      ['as_left_error', { reading: 0.1 }],
      ['repeat_error', { reading: 0.1 }],
      ['customer_reference', { text: 'Order 17, Mr Secret' }],
    ] as const) {
      await callTool(world.app, 'record_step', { workflow_id, step, ...answer });
    }
    return workflow_id;
  }

  test.each(ERAS)('are read with audit:read, without sensitive values (%s era)', async (era) => {
    const world = await openWorld();
    const id = await calibration(world);
    const answer = await read(world, `workflow://${id}/events`, 'auditor', era);
    expect(answer.text).not.toContain('Secret');
    expect(answer.text).not.toContain('commitment');
    const { json, said } = parts(answer);
    expect(said).toBe('These are events 1 to 8 of 8 of balance calibration on BAL-001.');
    const events = json['events'] as { seq: number; redacted: boolean; hash: string }[];
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(events.filter(({ redacted }) => redacted).map(({ seq }) => seq)).toEqual([8]);
    expect(events[0]).toEqual({
      seq: 1,
      type: 'workflow_started',
      at: expect.stringMatching(/Z$/u),
      actor: { subject: 'dev:ana', name: 'Ana', kind: 'person', via: 'mcp' },
      data: expect.objectContaining({ command: 'start_workflow', result: 'started' }),
      redacted: false,
      prev: '0'.repeat(64),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/u),
    });
    expect(json).not.toHaveProperty('next');
    if (era === 'stateless') {
      expect(answer.body).toMatchObject({ result: { ttlMs: 0, cacheScope: 'private' } });
    }
  });

  test('come in pages of less than 20 KB that lead through all of them', async () => {
    const world = await openWorld();
    const workflow_id = await started(world);
    const step = 'vibration';
    let replaces: unknown;
    for (let n = 1; n <= 60; n++) {
      const args = { workflow_id, step, reading: (n % 40) / 10, ...(n > 1 && { replaces }) };
      const { data } = await callTool(world.app, 'record_step', args);
      expect(data['code']).toBe('OK');
      replaces = (data['receipt'] as { seq: number }).seq;
    }
    const seen: number[] = [];
    let pages = 0;
    for (let next: unknown = `workflow://${workflow_id}/events`; next !== undefined; pages++) {
      const answer = await read(world, next as string, 'auditor', 'stateless');
      expect(Buffer.byteLength(answer.text)).toBeLessThan(20_000);
      const { json } = parts(answer);
      expect(json['head']).toBe(61);
      seen.push(...(json['events'] as { seq: number }[]).map(({ seq }) => seq));
      next = json['next'];
    }
    expect(seen).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
    expect(pages).toBeGreaterThan(1);
    const beyond = await read(world, `workflow://${workflow_id}/events?after=61`, 'auditor');
    expect(parts(beyond).json).toMatchObject({ events: [], head: 61 });
  });

  test('are nothing for a tenant that is not theirs', async () => {
    const world = await openWorld();
    const id = await started(world);
    const foreign = await openWorld(() => ({
      queries: createQueries(world.store, shippedRegistry()),
      verifier: {
        verify: () =>
          Promise.resolve({
            ok: true,
            principal: {
              tenant: 'elsewhere',
              subject: 'dev:eve',
              name: 'Eve',
              kind: 'person',
              scopes: new Set(['audit:read'] as const),
            },
            expiresAt: Number.MAX_SAFE_INTEGER,
          }),
      },
    }));
    const answer = await read(foreign, `workflow://${id}/events`);
    expect(answer.body).toMatchObject({ error: { code: -32_602 } });
  });
});

describe('who may read what (S2, U4, BR-130)', () => {
  test.each(['workflow://abc', 'workflow://abc/events'])(
    'a service that reads %s is 403, as with a tool',
    async (uri) => {
      const world = await openWorld();
      for (const era of ERAS) {
        const { status, text, headers } = await read(world, uri, 'service', era);
        expect(status).toBe(403);
        expect(text).toContain('"error":"forbidden"');
        expect(headers.get('www-authenticate')).toBeNull();
      }
    },
  );

  test.each([
    ['workflow://abc', 'reader', 'procedures:run'],
    ['workflow://abc/events', 'ana', 'audit:read'],
    ['workflow://abc/events', 'sue', 'audit:read'],
  ])('%s needs a scope that %s has not: %s', async (uri, token, need) => {
    const world = await openWorld();
    const alexa = await read(world, uri, token);
    expect(alexa.status).toBe(200);
    expect(alexa.body).toMatchObject({
      error: { code: -32_003, data: { code: 'FORBIDDEN', need } },
    });
    const standard = await openWorld(() => ({ authProfile: 'standard' }));
    const { status, headers, body } = await read(standard, uri, token);
    expect(status).toBe(403);
    expect(body).toMatchObject({ error: 'insufficient_scope' });
    expect(headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", resource_metadata="https://checkpoint.example.com/.well-known/oauth-protected-resource/mcp", scope="${need}"`,
    );
  });
});

describe('what is not there', () => {
  test.each([
    'workflow://nothing',
    'procedure://nothing',
    'procedure://toString',
    'procedure://__proto__',
    'workflow://',
    'workflow://a/b',
    'workflow://a/events?after=x',
    'workflow://a/events?after=1&after=2',
    'workflow://a/events/',
    'file:///etc/passwd',
    'https://evil.example/',
    '',
  ])('%j is -32602 with its URI in both eras', async (uri) => {
    const world = await openWorld();
    for (const era of ERAS) {
      const { status, body } = await read(world, uri, 'sue', era);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: 1, error: { code: -32_602, data: { uri } } });
    }
  });

  test('a URI beyond its limit is not given back', async () => {
    const world = await openWorld();
    const at = `x${'y'.repeat(255)}`;
    expect((await read(world, at)).text).toContain(at);
    const { body, text } = await read(world, `${at}z`);
    expect(body).toMatchObject({ error: { code: -32_602 } });
    expect(text).not.toContain('yyy');
  });

  test('a store that cannot be read is said to be so, and retryable', async () => {
    const world = await openWorld((store) => ({
      queries: createQueries(
        {
          ...store,
          snapshot: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'disk /x')),
        },
        shippedRegistry(),
      ),
    }));
    const { body, text } = await read(world, 'workflow://abc');
    expect(body).toMatchObject({
      error: { code: -32_000, data: { code: 'BACKEND_UNAVAILABLE', retryable: true } },
    });
    expect(text).not.toContain('disk');
  });

  test.each(ERAS)('an unexpected error tells nothing and is logged (%s era)', async (era) => {
    const world = await openWorld((store) => ({
      queries: {
        ...createQueries(store, shippedRegistry()),
        getWorkflow: () => Promise.reject(new Error('secret detail')),
      },
    }));
    const { text, body } = await read(world, 'workflow://abc', 'ana', era);
    expect(body).toMatchObject({ error: { code: -32_603 } });
    expect(text).not.toContain('secret');
    expect(world.logs.some(({ msg }) => msg === 'unexpected error')).toBe(true);
  });
});
