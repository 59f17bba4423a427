import { describe, expect, test } from '@jest/globals';
import { isHttpEvent, requestOf, resultOf, type HttpEvent } from '../../lib/lambda/events.ts';

const event = (changes: Partial<HttpEvent> = {}, method = 'POST'): HttpEvent => ({
  rawPath: '/mcp',
  rawQueryString: '',
  headers: { host: 'abc.lambda-url.eu-west-1.on.aws' },
  requestContext: { domainName: 'abc.lambda-url.eu-west-1.on.aws', http: { method } },
  ...changes,
});

describe('the request of an event', () => {
  test.each<[string, Partial<HttpEvent>, string]>([
    ['a path', {}, 'https://abc.lambda-url.eu-west-1.on.aws/mcp'],
    ['a query', { rawQueryString: 'a=1&a=%20' }, '/mcp?a=1&a=%20'],
    ['no query', {}, '/mcp'],
    ['a question mark in the path', { rawPath: '/a?b' }, '/a%3Fb'],
    ['a hash in the path', { rawPath: '/a#b' }, '/a%23b'],
    ['a space in the path', { rawPath: '/a b' }, '/a%20b'],
    ['an empty path', { rawPath: '' }, '/'],
    ['a path without its slash', { rawPath: 'mcp' }, '/mcp'],
    ['a path that reads like a host', { rawPath: '@evil.example/' }, '/@evil.example/'],
    ['a query that is null', { rawQueryString: null }, '/mcp'],
    ['two slashes', { rawPath: '//evil.example/mcp' }, '//evil.example/mcp'],
  ])('has the URL of %s', (_what, changes, ending) => {
    const { url } = requestOf(event(changes));
    expect(url.endsWith(ending)).toBe(true);
    expect(new URL(url).host).toBe('abc.lambda-url.eu-west-1.on.aws');
  });

  test.each<[string, Partial<HttpEvent>, number[]]>([
    ['text', { body: 'Ä' }, [0xc3, 0x84]],
    ['base64', { body: '/wDEhA==', isBase64Encoded: true }, [0xff, 0x00, 0xc4, 0x84]],
    ['nothing', {}, []],
    ['null', { body: null, isBase64Encoded: null }, []],
    ['an empty text', { body: '' }, []],
    ['an empty text in base64', { body: '', isBase64Encoded: true }, []],
  ])('has the bytes of a body that is %s', async (_what, changes, bytes) => {
    expect([...new Uint8Array(await requestOf(event(changes)).arrayBuffer())]).toEqual(bytes);
  });

  test.each(['GET', 'HEAD'])('of method %s has no body, whatever was sent', (method) => {
    expect(requestOf(event({ body: 'x' }, method)).body).toBeNull();
  });

  test('has its headers in any case, several values joined, and its cookies', () => {
    const { headers } = requestOf(
      event({
        headers: { Authorization: 'Bearer a', AUTHORIZATION: 'Bearer b', 'x-absent': undefined },
        cookies: ['a=1', 'b=2'],
      }),
    );
    expect([...headers]).toEqual([
      ['authorization', 'Bearer a, Bearer b'],
      ['cookie', 'a=1; b=2'],
    ]);
  });

  test('takes null for what is not there, and never for text', () => {
    const nothing = { headers: null, cookies: null, requestContext: { http: { method: 'GET' } } };
    expect([...requestOf(event(nothing)).headers]).toEqual([]);
    expect([...requestOf(event({ headers: { authorization: null } })).headers]).toEqual([]);
  });

  test('has the UTF-8 bytes of a header value, as a socket gives them', () => {
    const { headers } = requestOf(event({ headers: { 'user-agent': 'Ä', 'x-name': '😀' } }));
    expect(headers.get('user-agent')).toBe('Ä');
    expect(Buffer.from(headers.get('x-name') ?? '', 'latin1').toString('utf8')).toBe('😀');
  });

  test.each<[string, Partial<HttpEvent>]>([
    ['a header with a line break', { headers: { a: 'b\nc' } }],
    ['a header name with a space', { headers: { 'a b': 'c' } }],
  ])('is refused for %s', (_what, changes) => {
    expect(() => requestOf(event(changes))).toThrow(/^Headers\.append: .* invalid header/s);
  });
});

describe('the result of a response', () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47);

  test.each<[string, Response, string, boolean]>([
    ['JSON', Response.json({ a: 'Ä' }), '{"a":"Ä"}', false],
    ['problem details', typed('{}', 'application/problem+json'), '{}', false],
    ['a stream of events', typed('data: 1\n\n', 'text/event-stream'), 'data: 1\n\n', false],
    ['a script', typed('x', 'application/javascript; charset=utf-8'), 'x', false],
    ['an image', typed(png, 'image/png'), 'iVBORw==', true],
    ['text that is none', typed(png, 'text/plain'), 'iVBORw==', true],
    ['nothing', new Response(null, { status: 202 }), '', false],
  ])('holds %s', async (_what, response, body, isBase64Encoded) => {
    expect(await resultOf(response)).toMatchObject({ body, isBase64Encoded });
  });

  test('holds compressed text in base64', async () => {
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const { body, isBase64Encoded } = await resultOf(new Response('x', { headers }));
    expect([body, isBase64Encoded]).toEqual(['eA==', true]);
  });

  test('holds several cookies apart, and no header of one connection', async () => {
    const headers = new Headers({
      connection: 'keep-alive',
      'content-length': '1',
      'transfer-encoding': 'chunked',
      'x-kept': '1',
    });
    headers.append('set-cookie', 'a=1, 2');
    headers.append('set-cookie', 'b=2');
    const result = await resultOf(new Response(null, { status: 204, headers }));
    expect(result).toEqual({
      statusCode: 204,
      headers: { 'x-kept': '1' },
      cookies: ['a=1, 2', 'b=2'],
      body: '',
      isBase64Encoded: false,
    });
  });
});

test.each([undefined, null, 1, 'x', {}, { rawPath: '/' }, { rawPath: 1, requestContext: {} }])(
  '%j is no event of a Function URL',
  (payload) => {
    expect(isHttpEvent(payload)).toBe(false);
  },
);

function typed(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, { headers: { 'content-type': type } });
}
