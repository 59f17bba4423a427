import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../lib/core/fault.ts';
import type { AppParts } from '../../lib/surface/app.ts';
import { closeWorldsAfterEach, openWorld } from '../support/surface-world.ts';

closeWorldsAfterEach();

const ORIGIN = 'https://checkpoint.example.com';

/** Every error outside the MCP endpoint: what causes it, and what it is. */
const PROBLEMS: readonly {
  readonly code: string;
  readonly status: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly parts?: Partial<AppParts>;
  readonly answer?: { readonly [name: string]: string };
}[] = [
  { code: 'HOST_NOT_ALLOWED', status: 403, path: '/health', headers: { host: 'evil.example' } },
  { code: 'ORIGIN_NOT_ALLOWED', status: 403, path: '/health', headers: { origin: 'null' } },
  {
    code: 'METHOD_NOT_ALLOWED',
    status: 405,
    path: '/health',
    method: 'DELETE',
    answer: { allow: 'GET, HEAD' },
  },
  { code: 'UNAUTHORIZED', status: 401, path: '/nothing' },
  { code: 'UNAUTHORIZED', status: 401, path: '/', headers: { authorization: 'Bearer nobody' } },
  {
    code: 'UNAUTHORIZED',
    status: 401,
    path: '/nothing',
    parts: { authProfile: 'standard' },
    answer: {
      'www-authenticate': `Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="procedures:run"`,
    },
  },
  {
    code: 'BACKEND_UNAVAILABLE',
    status: 503,
    path: '/nothing',
    headers: { authorization: 'Bearer keys-down' },
    answer: { 'retry-after': '1' },
  },
  {
    code: 'BACKEND_UNAVAILABLE',
    status: 503,
    path: '/health',
    parts: {
      store: {
        noteProfile: () => Promise.resolve(),
        check: () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'disk /x')),
      },
    },
    answer: { 'retry-after': '5' },
  },
  {
    code: 'RATE_LIMITED',
    status: 429,
    path: '/nothing',
    headers: { authorization: 'Bearer ana' },
    parts: { rateLimiter: { take: () => Promise.resolve(1_500) } },
    answer: { 'retry-after': '2' },
  },
  { code: 'NOT_FOUND', status: 404, path: '/nothing', headers: { authorization: 'Bearer ana' } },
  {
    code: 'NOT_FOUND',
    status: 404,
    path: '/mcp/more',
    method: 'POST',
    headers: { authorization: 'Bearer ana' },
  },
  {
    code: 'INTERNAL_ERROR',
    status: 500,
    path: '/nothing',
    headers: { authorization: 'Bearer broken' },
  },
];

describe('errors outside the MCP endpoint are problem details (RFC 9457)', () => {
  test.each(PROBLEMS)('$code is $status at $path', async (row) => {
    const { code, status, path, method = 'GET', headers = {}, parts = {}, answer = {} } = row;
    const { app } = await openWorld(() => parts);
    for (const slash of path.endsWith('/') ? [''] : ['', '/']) {
      const response = await app.request(`${ORIGIN}${path}${slash}`, { method, headers });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(response.headers.get('cache-control')).toBe('no-store');
      for (const [name, value] of Object.entries(answer)) {
        expect(response.headers.get(name)).toBe(value);
      }
      if (answer['www-authenticate'] === undefined) {
        expect(response.headers.get('www-authenticate')).toBeNull();
      }
      expect(await response.json()).toEqual({
        type: 'about:blank',
        title: expect.any(String),
        status,
        code,
      });
    }
  });
});
