import { expect, test } from '@jest/globals';
import { createTokenBuckets } from '../../lib/adapters/runtime/token-buckets.ts';
import { ERAS, send } from '../support/rpc.ts';
import { unspeakable } from '../support/spoken.ts';
import { closeWorldsAfterEach, openWorld } from '../support/surface-world.ts';

closeWorldsAfterEach();

const limited = () =>
  openWorld(() => ({ rateLimiter: createTokenBuckets(4, { now: () => 1_000 }) }));

test('C7: a person who calls too often hears so, and when to try again', async () => {
  const { app } = await limited();
  for (const era of ERAS) {
    for (let n = 0; n < 2; n++) expect((await send(app, era, 'tools/list')).status).toBe(200);
  }
  for (const era of ERAS) {
    const { status, headers, body } = await send(app, era, 'tools/list');
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('15');
    expect(body).toEqual({
      error: 'rate_limited',
      message:
        'That was too much at once, and I did nothing with the last part. Please wait a moment and say it again.',
      retryable: true,
    });
    expect(unspeakable(String(body['message']))).toEqual([]);
  }
});

test('C7: nobody else is concerned, not even of the same name in another tenant', async () => {
  const { app } = await limited();
  for (let n = 0; n < 5; n++) await send(app, 'handshake', 'ping');
  expect((await send(app, 'handshake', 'ping')).status).toBe(429);
  for (const token of ['ben', 'other', 'service']) {
    expect((await send(app, 'handshake', 'ping', {}, { token })).status).toBe(200);
  }
});

test('a bad token is 401 however often, and takes nothing from anybody', async () => {
  const { app } = await limited();
  for (let n = 0; n < 20; n++) {
    expect((await send(app, 'handshake', 'ping', {}, { token: 'nobody' })).status).toBe(401);
  }
  expect((await send(app, 'handshake', 'ping')).status).toBe(200);
});

test('outside the MCP endpoint it is a problem with a stable code; what is public is not counted', async () => {
  const { app } = await limited();
  const headers = { authorization: 'Bearer ana' };
  const at = (path: string) => app.request(`https://checkpoint.example.com${path}`, { headers });
  for (let n = 0; n < 4; n++) expect((await at('/nothing')).status).toBe(404);
  const response = await at('/nothing');
  expect(response.status).toBe(429);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toEqual({
    type: 'about:blank',
    title: 'too many calls',
    status: 429,
    code: 'RATE_LIMITED',
  });
  for (const path of ['/health', '/.well-known/oauth-protected-resource']) {
    expect((await at(path)).status).toBe(200);
  }
});
