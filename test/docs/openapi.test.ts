import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument, ROUTES } from '../../lib/docs/openapi/document.ts';
import { checkAnswer, isRest, UndocumentedAnswer } from '../support/checked-answers.ts';
import { callRest } from '../support/rest-call.ts';
import { closeWorldsAfterEach, openWorld, restOn } from '../support/surface-world.ts';

closeWorldsAfterEach();

test('the document passes a validator of OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate({ ...openApiDocument() });
  expect([result.valid, result.errors]).toEqual([true, undefined]);
  expect(validator.version).toBe('3.1');
});

test('every route below /v1 is documented, and every documented one is served', async () => {
  const { app } = await openWorld();
  const served = app.routes
    .filter(({ path, method }) => path.startsWith('/v1/') && ['GET', 'POST'].includes(method))
    .map(({ path, method }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const plain = (route: string): string => route.replaceAll(/\{\w+\}/g, '{}');
  const documented = ROUTES.filter(({ path }) => path.startsWith('/v1/')).map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  );
  expect(served.length).toBeGreaterThan(25);
  expect(new Set(served.map(plain))).toEqual(new Set(documented.map(plain)));
});

test('operations have names of their own', () => {
  const ids = ROUTES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('the check of every answer', () => {
  const healthy = (body: object, status = 200) =>
    checkAnswer('GET', '/health', Response.json(body, { status }));

  test('takes an answer as it is documented', async () => {
    await expect(healthy({ status: 'ok', version: '1' })).resolves.toBeUndefined();
  });

  test.each([
    ['a field that is not documented', { status: 'ok', version: '1', disk: '/x' }, 200, 'disk'],
    ['a field that is missing', { status: 'ok' }, 200, 'version'],
    ['a field of another type', { status: 'ok', version: 1 }, 200, '/version'],
    ['a status that is not documented', { status: 'ok', version: '1' }, 207, 'status'],
    ['an error that is no problem', { error: 'x' }, 503, 'media type'],
  ])('refuses %s', async (_what, body, status, told) => {
    const refused = healthy(body, status);
    await expect(refused).rejects.toThrow(UndocumentedAnswer);
    await expect(healthy(body, status)).rejects.toThrow(told);
  });

  test.each(['/v1/nothing', '/v1/runs/x/y'])('refuses success at %s', async (path) => {
    await expect(checkAnswer('GET', path, Response.json({}))).rejects.toThrow('no such path');
  });

  test('sits where the tests of the surface send: a planted field fails', async () => {
    const planted = await openWorld((store) => {
      const parts = restOn(store);
      const list: typeof parts.runQueries.list = async (...args) => {
        const found = await parts.runQueries.list(...args);
        if (found.code !== 'FOUND') return found;
        // The view spreads nothing, so the field is planted where the page is made.
        const items = Object.assign([], { map: () => [{ planted: true }] });
        return { ...found, value: { items } };
      };
      return { ...parts, runQueries: { ...parts.runQueries, list } };
    });
    await expect(callRest(planted, '/runs', { token: 'ira' })).rejects.toThrow(/planted/);
  });

  test('sits where tests fetch from a server of ours, and leaves those of others alone', async () => {
    const body = JSON.stringify({ status: 'ok', version: '1', planted: true });
    let ours = true;
    const server = createServer((_request, response) => {
      if (ours) response.setHeader('x-request-id', 'r1');
      response.setHeader('content-type', 'application/json').end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
    try {
      await expect(fetch(url)).rejects.toThrow(/planted/);
      ours = false;
      expect(await (await fetch(url)).text()).toBe(body);
    } finally {
      server.close();
    }
  });
});

test.each([
  ['/v1/runs', true],
  ['/health', true],
  ['/mcp', false],
  ['/v10', false],
  ['/docs/start.js', false],
])('%s is in the document: %s', (path, is) => {
  expect(isRest(path)).toBe(is);
});
