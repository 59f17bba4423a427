import { describe, expect, test } from '@jest/globals';
import { post, send } from '../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, PUBLIC_URL } from '../support/surface-world.ts';

closeWorldsAfterEach();

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...new TextEncoder().encode(part)] : part,
    ),
  );

describe('media types are compared as values', () => {
  test.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
    ['application/json ; x=y', 200],
    ['text/plain', 415],
    ['text/plain; a=application/json', 415],
    ['application/jsonx', 415],
    ['application/problem+json', 415],
    ['application/json, text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ])('%s: %d', async (type, status) => {
    const { app } = await openWorld();
    expect((await post(app, PING, { 'content-type': type })).status).toBe(status);
  });

  test('a compressed body is not read', async () => {
    const { app } = await openWorld();
    expect((await post(app, PING, { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

describe('sizes', () => {
  const padded = (size: number): string => PING + ' '.repeat(size - PING.length);

  test('262,144 bytes are read, one more is 413', async () => {
    const { app } = await openWorld();
    expect((await post(app, padded(262_144))).status).toBe(200);
    const { status, body } = await post(app, padded(262_145));
    expect(status).toBe(413);
    expect(body).toMatchObject({ id: null, error: { data: { code: 'BODY_TOO_LARGE' } } });
  });

  test('a declared length beyond the limit is refused without reading', async () => {
    const { app } = await openWorld();
    const { status } = await post(app, PING, { 'content-length': '6000000' });
    expect(status).toBe(413);
  });

  test('BR-096: a body without an end is given up at the limit', async () => {
    const { app } = await openWorld();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent++;
        controller.enqueue(bytes('['.repeat(65_536)));
      },
    });
    const headers = { authorization: 'Bearer ana', 'content-type': 'application/json' };
    const request = new Request(PUBLIC_URL, { method: 'POST', body, headers, duplex: 'half' });
    const response = await app.request(request);
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(12);
  });
});

describe('texts that are refused with -32700, the place, and no id (BR-096)', () => {
  test.each([
    ['cut off', '{"jsonrpc":', 'INVALID_JSON', ''],
    ['empty', '', 'INVALID_JSON', ''],
    ['a comment', '// x', 'INVALID_JSON', ''],
    ['NaN', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', 'INVALID_JSON', ''],
    ['a member twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'DUPLICATE_KEY', '/id'],
    [
      'a member twice, once escaped',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\\u0061":2}}',
      'DUPLICATE_KEY',
      '/params/a',
    ],
    [
      'half a character pair',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}',
      'LONE_SURROGATE',
      '/params/a',
    ],
    [
      'an integer that cannot be kept',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":9007199254740993}}',
      'NUMBER_OUT_OF_RANGE',
      '/params/a',
    ],
    ['33 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, 'TOO_DEEP', `/a${'/0'.repeat(31)}`],
  ])('%s', async (_what, text, code, path) => {
    const { app } = await openWorld();
    const { status, body } = await post(app, text);
    expect(status).toBe(400);
    expect(body['id']).toBeNull();
    const error = body['error'] as { code: number; data: object };
    expect(error.data).toEqual({ code, path });
    expect(error.code).toBe(path === '/id' ? -32_600 : -32_700);
    expect((await send(app, 'handshake', 'ping')).status).toBe(200);
  });

  test('an invalid UTF-8 byte', async () => {
    const { app } = await openWorld();
    const text = bytes('{"jsonrpc":"2.0","id":"', [0xff], '","method":"ping"}');
    const { status, body } = await post(app, text);
    expect(status).toBe(400);
    expect(body).toMatchObject({ id: null, error: { code: -32_700, data: { code: 'NOT_UTF8' } } });
  });
});

describe('texts that are accepted', () => {
  test('BR-097: one byte order mark is dropped, two are not', async () => {
    const { app } = await openWorld();
    const mark = [0xef, 0xbb, 0xbf];
    expect((await post(app, bytes(mark, PING))).status).toBe(200);
    expect((await post(app, bytes(mark, mark, PING))).status).toBe(400);
  });

  test('BR-099: umlauts and emoji come back as they were sent', async () => {
    const { app } = await openWorld();
    const { body } = await post(app, '{"jsonrpc":"2.0","id":"Ä😀","method":"ping"}');
    expect(body['id']).toBe('Ä😀');
  });
});
