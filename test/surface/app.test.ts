import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../lib/core/fault.ts';
import { post, send } from '../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, PUBLIC_URL } from '../support/surface-world.ts';

closeWorldsAfterEach();

const ORIGIN = 'https://checkpoint.example.com';
const ana = { authorization: 'Bearer ana' };

describe('the host check (BR-105)', () => {
  test.each([
    ['the public host', 'checkpoint.example.com', 200],
    ['the public host on a port', 'checkpoint.example.com:8443', 200],
    ['the public host in capitals', 'CHECKPOINT.example.com', 200],
    ['a configured host', 'checkpoint.internal', 200],
    ['a foreign host', 'evil.example:3000', 403],
    ['a host that only ends alike', 'evil-checkpoint.example.com', 403],
    ['a loopback name under a public URL', '127.0.0.1:3000', 403],
    ['credentials in the host', 'checkpoint.example.com@evil.example', 403],
    ['a path in the host', 'checkpoint.example.com/x', 403],
  ])('answers %s (%s) with %d', async (_what, host, status) => {
    const { app } = await openWorld();
    const response = await app.request(`${ORIGIN}/health`, { headers: { host } });
    expect(response.status).toBe(status);
  });

  test.each(['[::1]:3000', '127.0.0.1', 'localhost:9999'])(
    'serves %s where the public URL is on this machine',
    async (host) => {
      const { app } = await openWorld(() => ({ publicUrl: 'http://localhost:8000/mcp' }));
      const response = await app.request('http://localhost:8000/health', { headers: { host } });
      expect(response.status).toBe(200);
    },
  );

  test('a foreign host on the MCP endpoint is refused as JSON-RPC, before the token', async () => {
    const { app } = await openWorld();
    const { status, body } = await post(app, '{}', {
      host: 'evil.example',
      authorization: undefined,
    });
    expect(status).toBe(403);
    expect(body).toEqual({
      jsonrpc: '2.0',
      error: { code: -32_000, message: 'this host is not served here' },
      id: null,
    });
  });
});

describe('the origin check (BR-105, T3)', () => {
  test.each([
    ['no origin', undefined, 200],
    ['an allowed origin', 'https://app.example.com', 200],
    ["the server's own origin", ORIGIN, 200],
    ['a foreign origin', 'http://evil.example', 403],
    ['the opaque origin', 'null', 403],
    ['an allowed name on another scheme', 'http://app.example.com', 403],
    ['an allowed name on another port', 'https://app.example.com:444', 403],
  ])('answers %s with %3$d', async (_what, origin, status) => {
    const { app } = await openWorld();
    const answer = await send(app, 'handshake', 'ping', {}, { headers: { origin } });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('the host is judged before the origin', async () => {
    const { app } = await openWorld();
    const response = await app.request(`${ORIGIN}/health`, {
      headers: { host: 'evil.example', origin: 'http://evil.example' },
    });
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'this host is not served here',
      status: 403,
      code: 'HOST_NOT_ALLOWED',
    });
  });
});

describe('browsers (BR-106, BR-108)', () => {
  const ask = {
    'access-control-request-method': 'POST',
    'access-control-request-headers':
      'authorization,content-type,mcp-protocol-version,mcp-session-id',
  };

  test('a preflight of an allowed origin lists every header a client sends', async () => {
    const { app } = await openWorld();
    const response = await app.request(PUBLIC_URL, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', ...ask },
    });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    const { headers } = response;
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, idempotency-key',
    );
    expect(headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, Mcp-Session-Id');
    expect(headers.get('vary')).toBe('Origin');
  });

  test('a preflight of a foreign origin gets no allow header', async () => {
    const { app } = await openWorld();
    const response = await app.request(PUBLIC_URL, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', ...ask },
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('access-control-allow-headers')).toBeNull();
  });

  test.each([
    ['a result', 'Bearer ana', 200],
    ['a 401', 'Bearer nobody', 401],
    ['a 500', 'Bearer broken', 500],
  ])('an allowed origin may read %s', async (_what, authorization, status) => {
    const { app } = await openWorld();
    const origin = 'https://app.example.com';
    const answer = await send(app, 'handshake', 'ping', {}, { headers: { origin, authorization } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  test('an OPTIONS request that is no preflight is a wrong method', async () => {
    const { app } = await openWorld();
    const response = await app.request(PUBLIC_URL, { method: 'OPTIONS', headers: ana });
    expect(response.status).toBe(405);
  });
});

describe('methods (BR-082, BR-111)', () => {
  test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])(
    '%s on the MCP endpoint is 405 with Allow: POST and a short body',
    async (method) => {
      const { app } = await openWorld();
      for (const url of [PUBLIC_URL, `${PUBLIC_URL}/`]) {
        const headers = { ...ana, accept: 'text/event-stream' };
        const response = await app.request(url, { method, headers });
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('POST');
        expect((await response.text()).length).toBeLessThan(120);
      }
    },
  );

  test('the token is asked for before the method', async () => {
    const { app } = await openWorld();
    expect((await app.request(PUBLIC_URL)).status).toBe(401);
  });

  test('POST works with and without a slash at the end', async () => {
    const { app } = await openWorld();
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const headers = { ...ana, 'content-type': 'application/json' };
    const response = await app.request(`${PUBLIC_URL}/`, { method: 'POST', body, headers });
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });
});

describe('paths', () => {
  test('an unknown path asks for a token, and with one it is a problem with a stable code', async () => {
    const { app } = await openWorld();
    expect((await app.request(`${ORIGIN}/nothing`)).status).toBe(401);
    const response = await app.request(`${ORIGIN}/nothing`, { headers: ana });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'there is nothing here',
      status: 404,
      code: 'NOT_FOUND',
    });
  });

  test.each(['/mcp', '/nothing'])(
    'an unknown error on %s tells nothing and is logged',
    async (path) => {
      const { app, logs } = await openWorld();
      const response = await app.request(`${ORIGIN}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer broken' },
      });
      expect(response.status).toBe(500);
      const text = await response.text();
      expect(text).not.toContain('secret detail');
      expect(text).toContain('internal error');
      expect(logs.filter(({ level }) => level === 'error')).toHaveLength(1);
    },
  );

  test('every answer carries the id of its log line', async () => {
    const { app, logs } = await openWorld();
    const response = await app.request(`${ORIGIN}/health`);
    const id = response.headers.get('x-request-id');
    expect(logs.at(-1)).toMatchObject({ msg: 'request', request_id: id, status: 200 });
  });
});

describe('/health', () => {
  test.each(['/health', '/health/'])('%s is public and names the version', async (path) => {
    const { app } = await openWorld();
    const response = await app.request(`${ORIGIN}${path}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok', version: '1.2.3' });
  });

  test('is 503 with Retry-After while the store cannot be used', async () => {
    const { app } = await openWorld((store) => ({
      store: {
        noteProfile: (profile) => store.noteProfile(profile),
        check: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'disk /x gone')),
      },
    }));
    const response = await app.request(`${ORIGIN}/health`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'the store cannot be used now',
      status: 503,
      code: 'BACKEND_UNAVAILABLE',
    });
  });

  test('takes GET and HEAD only', async () => {
    const { app } = await openWorld();
    expect((await app.request(`${ORIGIN}/health`, { method: 'HEAD' })).status).toBe(200);
    const response = await app.request(`${ORIGIN}/health`, { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('discovery (A3, A4, A7, BR-109, BR-139)', () => {
  const document = {
    resource: PUBLIC_URL,
    authorization_servers: ['https://id.example.com'],
    bearer_methods_supported: ['header'],
    scopes_supported: [
      'procedures:run',
      'procedures:supervise',
      'runs:create',
      'approvals:decide',
      'audit:read',
      'audit:sensitive',
      'ops:admin',
    ],
    resource_name: 'Checkpoint',
  };

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource/mcp/',
    '/mcp/.well-known/oauth-protected-resource',
  ])('%s serves the document, whatever the headers claim', async (path) => {
    const { app } = await openWorld();
    const response = await app.request(`${ORIGIN}${path}`, {
      headers: {
        authorization: 'Bearer nobody, Bearer else',
        host: 'checkpoint.internal',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(await response.json()).toEqual(document);
    const head = await app.request(`${ORIGIN}${path}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('names the public URL exactly as configured, also with a slash at its end', async () => {
    const { app } = await openWorld(() => ({ publicUrl: `${PUBLIC_URL}/` }));
    const response = await app.request(`${ORIGIN}/.well-known/oauth-protected-resource`);
    expect(await response.json()).toMatchObject({ resource: `${PUBLIC_URL}/` });
  });

  test('leaves an empty list of authorization servers out', async () => {
    const { app } = await openWorld(() => ({ authorizationServers: [] }));
    const response = await app.request(`${ORIGIN}/.well-known/oauth-protected-resource`);
    expect(await response.json()).not.toHaveProperty('authorization_servers');
  });
});
