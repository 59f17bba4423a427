import { Server } from '@modelcontextprotocol/server';
import { describe, expect, test } from '@jest/globals';
import { META, post, send } from '../../support/rpc.ts';
import { closeWorldsAfterEach, openWorld } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26'];
const hello = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: { roots: { listChanged: true } },
  clientInfo: { name: 'tests', version: '1' },
});

describe('initialize (T2, BR-084, BR-085, BR-120)', () => {
  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['bogus', '2025-11-25'],
  ])('a client that asks for %s gets %s, whatever its header says', async (asked, given) => {
    const { app } = await openWorld();
    for (const header of [undefined, '1999-01-01', '2025-06-18', '2026-07-28', 'bogus']) {
      const headers = { 'mcp-protocol-version': header };
      const answer = await send(app, 'handshake', 'initialize', hello(asked), {
        id: 'init-1',
        headers,
      });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        id: 'init-1',
        result: {
          protocolVersion: given,
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: 'checkpoint', title: 'Checkpoint', version: '1.2.3' },
        },
      });
      expect(answer.headers.get('mcp-session-id')).toBeNull();
    }
  });

  test('without a version it is -32602', async () => {
    const { app } = await openWorld();
    const { body } = await send(app, 'handshake', 'initialize', {}, { id: 7 });
    expect(body).toMatchObject({ id: 7, error: { code: -32_602 } });
  });
});

describe('the version header of the handshake era (T3, BR-084)', () => {
  test.each([undefined, ...HANDSHAKE])('%s is served', async (header) => {
    const { app } = await openWorld();
    const headers = { 'mcp-protocol-version': header };
    const { status, body } = await send(app, 'handshake', 'tools/list', {}, { headers });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('result.resultType');
  });

  test.each(['bogus', '1999-01-01', '2024-11-05', '2099-01-01'])(
    '%s is 400 and names the supported ones',
    async (header) => {
      const { app } = await openWorld();
      const headers = { 'mcp-protocol-version': header };
      const { status, body } = await send(app, 'handshake', 'tools/list', {}, { headers, id: 7 });
      expect(status).toBe(400);
      expect(body).toMatchObject({
        id: 7,
        error: { code: -32_000, data: { supported: HANDSHAKE, requested: header } },
      });
    },
  );
});

describe('the stateless era', () => {
  test('BR-118: server/discover answers, and initialize by the same client works after it', async () => {
    const { app } = await openWorld();
    const { status, body } = await send(app, 'stateless', 'server/discover');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: false } },
        ttlMs: 300_000,
        cacheScope: 'public',
      },
    });
    const later = await send(app, 'handshake', 'initialize', hello('2025-06-18'));
    expect(later.body).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
  });

  test('lists carry a life time and a scope, calls a result type', async () => {
    const { app } = await openWorld();
    const list = await send(app, 'stateless', 'tools/list');
    expect(list.body).toMatchObject({
      result: { resultType: 'complete', ttlMs: 300_000, cacheScope: 'public' },
    });
    const call = { name: 'what_can_i_do', arguments: {} };
    const { body } = await send(app, 'stateless', 'tools/call', call);
    expect(body).toMatchObject({ result: { resultType: 'complete' } });
  });

  test.each([
    ['the version of the body differs', { 'mcp-protocol-version': '2025-11-25' }],
    ['the version is missing', { 'mcp-protocol-version': undefined }],
    ['the method differs', { 'mcp-method': 'tools/list' }],
    ['the method is missing', { 'mcp-method': undefined }],
    ['the name differs', { 'mcp-name': 'get_workflow' }],
    ['the name is missing', { 'mcp-name': undefined }],
  ])('header and body disagree: %s: 400 / -32020', async (_what, headers) => {
    const { app } = await openWorld();
    const call = { name: 'what_can_i_do', arguments: {} };
    const { status, body } = await send(app, 'stateless', 'tools/call', call, { headers, id: 'h' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ id: 'h', error: { code: -32_020 } });
  });

  test('BR-120: an unknown version is 400 / -32022 with the supported ones', async () => {
    const { app } = await openWorld();
    const version = '1900-01-01';
    const _meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version };
    const message = { jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta } };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
    const { status, body } = await post(app, JSON.stringify(message), headers);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      id: 3,
      error: { code: -32_022, data: { supported: ['2026-07-28'], requested: version } },
    });
  });

  test('the header alone makes no claim: 400 / -32602', async () => {
    const { app } = await openWorld();
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const { status, body } = await send(app, 'handshake', 'tools/list', {}, { headers, id: 4 });
    expect(status).toBe(400);
    expect(body).toMatchObject({ id: 4, error: { code: -32_602 } });
  });

  test.each([
    { toolsListChanged: true },
    { promptsListChanged: true, resourcesListChanged: true },
    { resourceSubscriptions: ['workflow://any', 'procedure://pump-inspection'] },
    {},
  ])('subscriptions/listen to %j is acknowledged and ends at once', async (notifications) => {
    const { app } = await openWorld();
    const params = { notifications };
    const { status, text } = await send(app, 'stateless', 'subscriptions/listen', params, {
      id: 9,
    });
    expect(status).toBe(200);
    const frames = text
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.replace(/^event: message\ndata: /u, '')) as object);
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {} },
    });
    expect(frames[1]).toMatchObject({ id: 9, result: { resultType: 'complete' } });
  });
});

describe('both eras', () => {
  test.each([
    ['none', undefined],
    ['anything', '*/*'],
    ['JSON only', 'application/json'],
    ['SSE only', 'text/event-stream'],
    ['HTML', 'text/html'],
  ])('BR-102: serve JSON whatever is accepted: %s', async (_what, accept) => {
    const { app } = await openWorld();
    for (const era of ['handshake', 'stateless'] as const) {
      const answer = await send(app, era, 'tools/list', {}, { headers: { accept } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json');
    }
  });

  test('BR-111: a session id of another server is ignored, and none is issued (T3)', async () => {
    const { app } = await openWorld();
    for (const era of ['handshake', 'stateless'] as const) {
      const headers = { 'mcp-session-id': 'abc' };
      const answer = await send(app, era, 'tools/list', {}, { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('mcp-session-id')).toBeNull();
    }
  });

  test('BR-117: a progress token is taken and no progress is sent', async () => {
    const { app } = await openWorld();
    for (const progressToken of [0, 'a']) {
      const params = { name: 'what_can_i_do', arguments: {}, _meta: { progressToken } };
      const answer = await send(app, 'handshake', 'tools/call', params);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.body).toHaveProperty('result.content');
    }
  });

  test('the server behind them can be replaced on the same pipeline', async () => {
    const seen: unknown[] = [];
    const { app } = await openWorld(() => ({
      mcpFactory: ({ era, authInfo, requestInfo }) => {
        seen.push([era, authInfo?.token, requestInfo?.headers.get('authorization')]);
        const server = new Server(
          { name: 'fixture', version: '0' },
          { capabilities: { tools: {} } },
        );
        server.setRequestHandler('tools/list', () => ({ tools: [] }));
        return server;
      },
    }));
    seen.length = 0;
    for (const era of ['handshake', 'stateless'] as const) {
      const { body } = await send(app, era, 'tools/list');
      expect(body).toHaveProperty('result.tools', []);
    }
    // No credential travels further than the verifier.
    expect(seen).toEqual([
      ['legacy', '', null],
      ['modern', '', null],
    ]);
    expect((await send(app, 'handshake', 'tools/list', {}, { token: 'nobody' })).status).toBe(401);
  });
});
