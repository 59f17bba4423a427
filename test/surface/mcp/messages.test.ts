import { describe, expect, test } from '@jest/globals';
import { ERAS, META, post, send } from '../../support/rpc.ts';
import { closeWorldsAfterEach, openWorld } from '../../support/surface-world.ts';

closeWorldsAfterEach();

describe('ids', () => {
  test.each(ERAS)('BR-087: come back with their type and value in the %s era', async (era) => {
    const { app } = await openWorld();
    for (const id of [0, '0', '1', '', -1, 'Ä😀', 9_007_199_254_740_991]) {
      const { body } = await send(app, era, 'tools/list', {}, { id });
      expect(body['id']).toBe(id);
    }
  });

  test.each([
    ['null', 'null'],
    ['a fraction', '1.5'],
    ['beyond exactness', '9007199254740993'],
    ['true', 'true'],
    ['a list', '[1]'],
    ['an object', '{}'],
  ])('BR-088: %s is refused with -32600 and never rounded', async (_what, id) => {
    const { app } = await openWorld();
    for (const meta of ['', `"_meta":${JSON.stringify(META)}`]) {
      const text = `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{${meta}}}`;
      const { status, body } = await post(app, text);
      expect(status).toBe(400);
      expect(body).toMatchObject({ id: null, error: { code: -32_600 } });
    }
  });

  test('BR-103: equal ids in flight from two tenants get each their own answer', async () => {
    const { app } = await openWorld();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        send(
          app,
          ERAS[i % 2] ?? 'handshake',
          'tools/call',
          { name: i % 4 < 2 ? 'what_can_i_do' : 'list_my_workflows', arguments: {} },
          { token: i % 3 === 0 ? 'other' : 'ana', id: 1 },
        ),
      ),
    );
    answers.forEach(({ body }, i) => {
      const field = i % 4 < 2 ? 'phrases' : 'workflows';
      const { structuredContent } = body['result'] as { structuredContent: object };
      expect(Object.keys(structuredContent)).toContain(field);
    });
  });
});

describe('shapes', () => {
  test.each([
    ['BR-096: null', 'null', -32_600, null],
    ['a number', '5', -32_600, null],
    ['a text', '"ping"', -32_600, null],
    ['an empty batch', '[]', -32_600, null],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600, null],
    ['no version', '{"id":7,"method":"ping"}', -32_600, 7],
    ['version 1.0', '{"jsonrpc":"1.0","id":7,"method":"ping"}', -32_600, 7],
    ['BR-090: a method that is a number', '{"jsonrpc":"2.0","id":7,"method":42}', -32_600, 7],
    ['no method', '{"jsonrpc":"2.0","id":7}', -32_600, 7],
    [
      'BR-090: params that are a text',
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}',
      -32_602,
      7,
    ],
    [
      'BR-090: params that are a list',
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}',
      -32_602,
      7,
    ],
    [
      'BR-090: params that are null',
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":null}',
      -32_602,
      7,
    ],
  ])('%s', async (_row, text, code, id) => {
    const { app } = await openWorld();
    const { status, body } = await post(app, text);
    expect(status).toBe(400);
    expect(body).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect((await send(app, 'handshake', 'ping')).status).toBe(200);
  });

  test.each(ERAS)('params of a known method are checked in the %s era', async (era) => {
    const { app } = await openWorld();
    for (const [method, params] of [
      ['tools/list', { cursor: 5 }],
      ['tools/call', {}],
      ['tools/call', { name: 5 }],
      ['tools/call', { name: 'get_workflow', arguments: 'x' }],
    ] as const) {
      const { body } = await send(app, era, method, params, { id: 7 });
      expect(body).toMatchObject({ id: 7, error: { code: -32_602 } });
    }
  });

  test('an answer that nobody asked for is taken and dropped', async () => {
    const { app } = await openWorld();
    const { status, text } = await post(app, '{"jsonrpc":"2.0","id":1,"result":{}}');
    expect([status, text]).toEqual([202, '']);
  });
});

describe('notifications (BR-093, BR-094, BR-117)', () => {
  test.each([
    ['notifications/initialized', {}],
    ['notifications/cancelled', { requestId: 999, reason: 'gone' }],
    ['notifications/nothing-we-know', {}],
  ])('%s is 202 with an empty body in both eras', async (method, params) => {
    const { app } = await openWorld();
    const plain = JSON.stringify({ jsonrpc: '2.0', method, params });
    const claimed = JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: META } });
    for (const [text, headers] of [
      [plain, { 'mcp-protocol-version': '2025-11-25' }],
      [plain, {}],
      [plain, { 'mcp-protocol-version': '2026-07-28' }],
      [claimed, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }],
    ] as const) {
      const answer = await post(app, text, headers);
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });
});

describe('unknown methods (BR-121)', () => {
  test.each([
    ['handshake', 'foo/bar', 200],
    ['handshake', 'tasks/list', 200],
    ['handshake', 'server/discover', 200],
    ['stateless', 'foo/bar', 404],
    ['stateless', 'ping', 404],
    ['stateless', 'initialize', 404],
  ] as const)('in the %s era %s is -32601 with status %d', async (era, method, status) => {
    const { app } = await openWorld();
    const answer = await send(app, era, method, {}, { id: 'x' });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: 'x', error: { code: -32_601 } });
  });
});

describe('unknown tools (BR-091)', () => {
  const names = [
    'nope',
    'toString',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    '',
    'x'.repeat(5_000),
  ];
  test.each(ERAS)('are -32602 in the %s era, whatever their name', async (era) => {
    const { app } = await openWorld();
    for (const name of names) {
      const { status, body } = await send(app, era, 'tools/call', { name, arguments: {} });
      expect(status).toBe(200);
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32_602, message: 'unknown tool' },
      });
    }
  });
});
