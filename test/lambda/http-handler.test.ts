import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { createHttpFunction, type FunctionApp } from '../../lib/lambda/http-handler.ts';
import { createObservers } from '../../lib/lambda/observers.ts';
import type { HostCall } from '../../lib/surface/host-call.ts';

const written: string[] = [];

beforeEach(() => {
  written.length = 0;
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(console, name).mockImplementation((line: unknown) => {
      written.push(String(line));
    });
  }
});

afterEach(() => {
  jest.restoreAllMocks();
});

const context = (remainingMs: number): Context => {
  const endsAt = Date.now() + remainingMs;
  return {
    awsRequestId: 'a',
    functionName: 'http',
    getRemainingTimeInMillis: () => endsAt - Date.now(),
  } as unknown as Context;
};

const event = (path: string, body?: string) => ({
  rawPath: path,
  requestContext: {
    domainName: 'a.example',
    http: { method: body === undefined ? 'GET' : 'POST' },
  },
  headers: { host: 'a.example' },
  ...(body !== undefined && { body }),
});

async function answerOf(app: FunctionApp, sent: unknown, remainingMs = 10_000) {
  const observers = createObservers();
  // The logger writes past the console of the tests.
  jest.spyOn(observers.logger, 'error').mockImplementation((...told: unknown[]) => {
    written.push(JSON.stringify(told));
  });
  jest.spyOn(observers.logger, 'warn').mockImplementation((...told: unknown[]) => {
    written.push(JSON.stringify(told));
  });
  const { handler } = createHttpFunction(observers, () => Promise.resolve(app));
  const { statusCode, headers, body } = await handler(sent, context(remainingMs));
  return { statusCode, headers, body: JSON.parse(body) as unknown };
}

describe('an app that throws', () => {
  const app: FunctionApp = {
    fetch: () => Promise.reject(new Error('pressure of Ana was 2.1 bar')),
  };

  test('is answered 500 in the words of the place, with nothing of the error in it or in the log', async () => {
    expect(await answerOf(app, event('/health'))).toMatchObject({
      statusCode: 500,
      body: { status: 500, code: 'INTERNAL_ERROR' },
    });
    expect(await answerOf(app, event('/mcp', '{"id":1}'))).toMatchObject({
      statusCode: 500,
      body: { jsonrpc: '2.0', error: { code: -32_603, message: 'internal error' } },
    });
    expect(written.join('\n')).toContain('unexpected error');
    expect(written.join('\n')).not.toContain('2.1 bar');
  });
});

describe('an event whose members are of the wrong kind', () => {
  const odd = [
    { body: 5 },
    { body: {} },
    { headers: 7 },
    { headers: ['a', 'b'] },
    { headers: { 'bad name': 'x' } },
    { headers: { a: 'x\ny' } },
    { cookies: 3 },
    { rawQueryString: {} },
    { isBase64Encoded: 'no' },
    { requestContext: { domainName: 'a b', http: { method: 'POST' } } },
    { requestContext: { http: { method: 'TRACE' } } },
    { requestContext: { http: null } },
    { requestContext: null },
    { rawPath: null },
  ];

  test.each(odd)('%j is answered, never with 5xx', async (part) => {
    const app: FunctionApp = { fetch: () => Response.json({}) };
    const sent = { ...event('/mcp', '{"id":1}'), ...part };
    const { statusCode } = await answerOf(app, sent);
    expect([200, 400]).toContain(statusCode);
  });

  test.each(odd)('%j is answered 503 or 400 where the function cannot start', async (part) => {
    const observers = createObservers();
    jest.spyOn(observers.logger, 'error').mockImplementation(() => undefined);
    const open = (): Promise<FunctionApp> => Promise.reject(new Error('no secret'));
    const { handler } = createHttpFunction(observers, open);
    const sent = { ...event('/mcp', '{"id":1}'), ...part };
    const { statusCode, body } = await handler(sent, context(10_000));
    expect([503, 400]).toContain(statusCode);
    expect(body).not.toContain('no secret');
  });
});

describe('an app that takes too long', () => {
  let host: HostCall | undefined;
  const app: FunctionApp = {
    fetch: async (_request, given) => {
      host = given;
      await setTimeout(5_000, undefined, { ref: false });
      return new Response('late');
    },
  };

  test.each([
    ['/mcp', '{"jsonrpc":"2.0","id":"a","method":"ping"}', { id: 'a' }],
    ['/mcp', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', { id: null }],
    ['/mcp', '{"jsonrpc"', { id: null }],
    ['/mcp', '[1]', { id: null }],
  ])('is answered 504 at %s with the id of %s', async (path, body, expected) => {
    const answer = await answerOf(app, event(path, body), 800);
    expect(answer).toMatchObject({
      statusCode: 504,
      headers: { 'retry-after': '1', 'cache-control': 'no-store' },
      body: {
        jsonrpc: '2.0',
        error: { code: -32_000, data: { code: 'BACKEND_UNAVAILABLE', retryable: true } },
        ...expected,
      },
    });
  });

  test('is answered 504 as problem details elsewhere', async () => {
    expect(await answerOf(app, event('/health'), 800)).toMatchObject({
      statusCode: 504,
      body: { status: 504, code: 'BACKEND_UNAVAILABLE' },
    });
  });

  test('is told a deadline a second before its time ends', async () => {
    const before = Date.now();
    await answerOf(app, event('/health'), 800);
    const { deadlineMs = 0 } = host ?? {};
    expect(deadlineMs - before).toBeGreaterThanOrEqual(800 - 1_000);
    expect(deadlineMs).toBeLessThanOrEqual(Date.now() + 800 - 1_000);
  });
});
