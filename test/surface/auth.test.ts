import { describe, expect, test } from '@jest/globals';
import { bearerToken } from '../../lib/surface/auth.ts';
import { post, send } from '../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, PUBLIC_URL } from '../support/surface-world.ts';

closeWorldsAfterEach();

const UNAUTHORIZED = '{"error":"unauthorized","message":"Access token required to use this tool."}';

describe('the bearer parser (BR-133, BR-136)', () => {
  test.each([
    ['bearer X', 'X'],
    ['BEARER X', 'X'],
    ['Bearer  X', 'X'],
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['', undefined],
    ['Basic abc', undefined],
    ['Bearer X, Bearer Y', undefined],
    ['Bearer X Y', undefined],
    ['Bearer X,Y', undefined],
    ['BearerX', undefined],
    ['X', undefined],
  ])('reads %j as %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  test('a token of 8,192 characters is read, one more is not', () => {
    expect(bearerToken(`Bearer ${'a'.repeat(8_192)}`)).toHaveLength(8_192);
    expect(bearerToken(`Bearer ${'a'.repeat(8_193)}`)).toBeUndefined();
  });
});

describe('a request without a valid token', () => {
  test.each([
    ['A1: no token', undefined],
    ['A1: an unknown token', 'Bearer nobody'],
    ['BR-133: another scheme', 'Basic abc'],
    ['BR-100: two tokens', 'Bearer ana, Bearer ben'],
    ['BR-136: a token of 12 KB', `Bearer long${'a'.repeat(12_000)}`],
    ['BR-136: a token of 100 KB', `Bearer long${'a'.repeat(100_000)}`],
  ])('%s: 401 without a challenge and with the exact body', async (_row, authorization) => {
    const { app } = await openWorld();
    const { status, headers, text } = await send(
      app,
      'handshake',
      'ping',
      {},
      { headers: { authorization } },
    );
    expect(status).toBe(401);
    expect(text).toBe(UNAUTHORIZED);
    expect(headers.get('www-authenticate')).toBeNull();
    expect(headers.get('x-amzn-remapped-www-authenticate')).toBeNull();
    expect(headers.get('content-type')).toMatch(/^application\/json/u);
  });

  test('BR-136: a token of 7 KB works', async () => {
    const { app } = await openWorld();
    const authorization = `Bearer long${'a'.repeat(7_000)}`;
    const { status } = await send(app, 'handshake', 'ping', {}, { headers: { authorization } });
    expect(status).toBe(200);
  });

  test.each(['initialize', 'tools/list', 'ping'])(
    'BR-138: %s is 401, not an error in 200',
    async (method) => {
      const { app } = await openWorld();
      const { status } = await send(app, 'handshake', method, {}, { token: 'nobody' });
      expect(status).toBe(401);
    },
  );

  test('A2: the 401 comes before accept, content type, size and syntax', async () => {
    const { app } = await openWorld();
    const { status, text } = await post(app, '{'.repeat(300_000), {
      authorization: undefined,
      accept: 'text/html',
      'content-type': 'text/plain',
    });
    expect([status, text]).toEqual([401, UNAUTHORIZED]);
  });

  test('U5: a token in the query is not looked at', async () => {
    const { app } = await openWorld();
    const response = await app.request(`${PUBLIC_URL}?access_token=ana`, { method: 'POST' });
    expect(response.status).toBe(401);
  });

  test('the standard profile adds the challenge, from configuration alone (BR-138, BR-139)', async () => {
    const { app } = await openWorld(() => ({ authProfile: 'standard' }));
    const { status, headers, text } = await post(app, '{}', {
      authorization: undefined,
      host: 'checkpoint.internal',
      'x-forwarded-host': 'evil.example',
    });
    expect([status, text]).toEqual([401, UNAUTHORIZED]);
    expect(headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="https://checkpoint.example.com/.well-known/oauth-protected-resource/mcp", scope="procedures:run"',
    );
  });

  test('keys that cannot be read are 503 and retryable, never 401', async () => {
    const { app } = await openWorld();
    const { status, headers, body } = await send(
      app,
      'handshake',
      'ping',
      {},
      { token: 'keys-down' },
    );
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toEqual({
      error: 'unavailable',
      message: 'I cannot check that right now. Please say it again in a moment.',
      retryable: true,
    });
  });

  test('no log line holds a token', async () => {
    const { app, logs } = await openWorld();
    await send(app, 'handshake', 'ping', {}, { token: 'nobody-secret' });
    await send(app, 'handshake', 'ping', {}, { token: 'keys-down' });
    expect(JSON.stringify(logs)).not.toMatch(/nobody-secret|keys-down/u);
    expect(logs.map(({ reason }) => reason)).toContain('signature');
  });
});

describe('who has been here', () => {
  test('a person is noted once per process, a service never', async () => {
    const noted: string[] = [];
    const { app } = await openWorld((store) => ({
      store: {
        check: () => store.check(),
        noteProfile: (profile) => {
          noted.push(`${profile.tenant}/${profile.subject}/${profile.name}`);
          return Promise.resolve();
        },
      },
    }));
    for (const token of ['ana', 'ana', 'service', 'robot', 'other', 'ana']) {
      await send(app, 'handshake', 'ping', {}, { token });
    }
    expect(noted).toEqual(['plant/dev:ana/Ana', 'plant/dev:robot/Robot', 'elsewhere/dev:ana/Ana']);
  });

  test('a store that takes no note fails no request, and is asked again', async () => {
    let asked = 0;
    const { app, logs } = await openWorld((store) => ({
      store: {
        check: () => store.check(),
        noteProfile: () => {
          asked++;
          return Promise.reject(new Error('no'));
        },
      },
    }));
    expect((await send(app, 'handshake', 'ping')).status).toBe(200);
    expect((await send(app, 'stateless', 'tools/list')).status).toBe(200);
    expect(asked).toBe(2);
    expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(2);
  });
});

describe('a service (S2, U4)', () => {
  test.each(['handshake', 'stateless'] as const)('lists and helps in the %s era', async (era) => {
    const { app } = await openWorld();
    const token = 'service';
    expect((await send(app, era, 'tools/list', {}, { token })).status).toBe(200);
    for (const name of ['what_can_i_do', 'list_procedures']) {
      const { body } = await send(app, era, 'tools/call', { name, arguments: {} }, { token });
      expect(body['result']).toMatchObject({ structuredContent: { code: 'OK' } });
    }
  });

  test.each([
    'start_workflow',
    'get_workflow',
    'list_my_workflows',
    'list_blocked',
    'record_step',
    'resolve_block',
    'hand_over',
    'complete_workflow',
    'abandon_workflow',
  ])('U4: %s is 403 with a speakable body and no challenge, in both eras', async (name) => {
    const { app } = await openWorld();
    for (const era of ['handshake', 'stateless'] as const) {
      const call = { name, arguments: { anything: 1 } };
      const answer = await send(app, era, 'tools/call', call, { token: 'service' });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect(answer.body).toEqual({
        error: 'forbidden',
        message:
          'I can only do that for a person. Please link or sign in to your own account first.',
      });
    }
  });

  test('S2: initialize works', async () => {
    const { app } = await openWorld();
    const params = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'platform', version: '1' },
    };
    const answer = await send(app, 'handshake', 'initialize', params, {
      token: 'service',
      id: 's1',
    });
    expect(answer.body).toMatchObject({ id: 's1', result: { protocolVersion: '2025-03-26' } });
  });

  test('an unknown tool stays unknown', async () => {
    const { app } = await openWorld();
    const answer = await send(
      app,
      'handshake',
      'tools/call',
      { name: 'nope' },
      { token: 'service' },
    );
    expect(answer.body).toMatchObject({ error: { code: -32_602 } });
  });

  test('the standard profile says which error it is', async () => {
    const { app } = await openWorld(() => ({ authProfile: 'standard' }));
    const call = { name: 'list_blocked', arguments: {} };
    const answer = await send(app, 'handshake', 'tools/call', call, { token: 'service' });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
  });
});

describe('a person without the scope that is needed (BR-130)', () => {
  const cases = [
    ['reader', 'start_workflow', 'procedures:run'],
    ['auditor', 'record_step', 'procedures:run'],
    ['ana', 'list_blocked', 'procedures:supervise'],
    ['ana', 'resolve_block', 'procedures:supervise'],
    ['reader', 'get_workflow', 'procedures:run'],
  ] as const;
  const call = (name: string) => ({ name, arguments: {} });

  test.each(cases)('%s and %s: 403 that names %s in the standard profile', async (...row) => {
    const [token, name, need] = row;
    const { app } = await openWorld(() => ({ authProfile: 'standard' }));
    for (const era of ['handshake', 'stateless'] as const) {
      const answer = await send(app, era, 'tools/call', call(name), { token });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", resource_metadata="https://checkpoint.example.com/.well-known/oauth-protected-resource/mcp", scope="${need}"`,
      );
      expect(answer.body).toEqual({
        error: 'insufficient_scope',
        message:
          'Your account is not allowed to do that. Ask a supervisor, or whoever manages access.',
      });
    }
  });

  test('in the Alexa profile the tool says so, because nothing asks for more there', async () => {
    const { app } = await openWorld();
    const answer = await send(app, 'handshake', 'tools/call', call('list_blocked'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(answer.body).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringContaining('Your account is not allowed to do that.') }],
        structuredContent: { code: 'FORBIDDEN', detail: { need: 'procedures:supervise' } },
      },
    });
  });

  test('whoever has the scope is served in the standard profile', async () => {
    const { app } = await openWorld(() => ({ authProfile: 'standard' }));
    const answer = await send(app, 'handshake', 'tools/call', call('list_blocked'), {
      token: 'sue',
    });
    expect(answer.body).toMatchObject({ result: { structuredContent: { code: 'OK' } } });
  });
});
