import { describe, expect, test } from '@jest/globals';
import { behindFront } from '../../lib/lambda/behind-front.ts';

const HEADER = 'x-front';
const seen: Request[] = [];
const app = behindFront(
  {
    fetch: (request) => {
      seen.push(request);
      return new Response('served');
    },
  },
  { header: HEADER, secret: 'the secret', publicUrl: 'https://checkpoint.example.com/mcp' },
);
const ask = (headers: Readonly<Record<string, string>>, path = '/mcp') =>
  app.fetch(
    new Request(`https://abc.lambda-url.eu-central-1.on.aws${path}?q=1`, {
      method: 'POST',
      headers: { host: 'abc.lambda-url.eu-central-1.on.aws', ...headers },
      body: '{"a":1}',
    }),
    { deadlineMs: 1 },
  );

describe('an app behind its front', () => {
  test('serves what comes through it, as a request to the public URL without the proof', async () => {
    const answer = await ask({ [HEADER]: 'the secret', authorization: 'Bearer x' });
    expect(await answer.text()).toBe('served');
    const [request] = seen.splice(0);
    expect(request?.url).toBe('https://checkpoint.example.com/mcp?q=1');
    expect(request?.method).toBe('POST');
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      authorization: 'Bearer x',
      'content-type': 'text/plain;charset=UTF-8',
      host: 'checkpoint.example.com',
    });
    expect(await request?.text()).toBe('{"a":1}');
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['no proof', {}],
    ['an empty one', { [HEADER]: '' }],
    ['another one', { [HEADER]: 'the secreT' }],
    ['a longer one', { [HEADER]: 'the secret, the secret' }],
    ['a claim of another host', { 'x-forwarded-host': 'checkpoint.example.com' }],
  ])('refuses %s, and looks at nothing else', async (_what, headers) => {
    const onMcp = await ask(headers);
    expect(onMcp.status).toBe(403);
    const elsewhere = await ask(headers, '/health');
    expect([elsewhere.status, await elsewhere.json()]).toEqual([
      403,
      expect.objectContaining({
        code: 'HOST_NOT_ALLOWED',
        title: 'this server is reached by its public URL only',
      }),
    ]);
    expect(seen).toEqual([]);
  });
});
