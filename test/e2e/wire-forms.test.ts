/** One request in the forms that clients, proxies and editors give it, over a socket. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serve, tokenFor } from '../support/e2e.ts';
import { rawRequest, type RawRequest, type Reply } from '../support/raw-http.ts';

let url = '';
let token = '';

beforeAll(async () => {
  const folder = await dataFolder();
  ({ url } = await serve(folder));
  token = await tokenFor(folder, 'ana', 'procedures:run');
});

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const PONG = { jsonrpc: '2.0', id: 1, result: {} };

const post = (
  headers: NonNullable<RawRequest['headers']> = {},
  body: string | Uint8Array = PING,
  at = url,
): Promise<Reply> => rawRequest(at, { headers, body });

describe('names and values of headers', () => {
  test.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
    'BR-100: %s is the same header',
    async (name) => {
      for (const type of ['Content-Type', 'content-type', 'CONTENT-TYPE']) {
        for (const version of ['Mcp-Protocol-Version', 'mcp-protocol-version']) {
          const headers = { [name]: `Bearer ${token}`, [type]: 'application/json' };
          const { status, body } = await post({ ...headers, [version]: '2025-06-18' });
          expect([status, body]).toEqual([200, PONG]);
        }
      }
    },
  );

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer '])('BR-133: the scheme %j', async (scheme) => {
    const { status } = await post({
      authorization: `${scheme} ${token}`,
      'content-type': 'application/json',
    });
    expect(status).toBe(200);
  });

  test('BR-100: two authorizations are none, as two lines or as one', async () => {
    const both = [`Bearer ${token}`, `Bearer ${token}`];
    for (const authorization of [both, both.join(', ')]) {
      const { status } = await post({ authorization, 'content-type': 'application/json' });
      expect(status).toBe(401);
    }
  });

  test.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="UTF-8"', 200],
    ['Application/JSON', 200],
    ['text/plain', 415],
    ['application/jsonx', 415],
    ['text/plain; application/json', 415],
    [undefined, 415],
  ])('the media type %s is %d', async (type, status) => {
    const reply = await post({ authorization: `Bearer ${token}`, 'content-type': type });
    expect(reply.status).toBe(status);
  });
});

describe('bodies', () => {
  const send = (body: string | Uint8Array, at = url): Promise<Reply> =>
    post({ authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body, at);

  test.each<[string, string | Uint8Array]>([
    ['as it is', PING],
    ['BR-097: behind a byte order mark', `\uFEFF${PING}`],
    ['with white space around it', `\r\n\t ${PING} \r\n`],
    ['with escapes in its names', PING.replace('method', '\\u006dethod')],
  ])('are read %s', async (_what, body) => {
    for (const at of [url, `${url}/`]) {
      expect((await send(body, at)).body).toEqual(PONG);
    }
  });

  test.each<[string, string | Uint8Array, string]>([
    ['two byte order marks', `\uFEFF\uFEFF${PING}`, ''],
    ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', '/method'],
    [
      'a name twice, once in escapes',
      '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"x"}',
      '/method',
    ],
    ['half a surrogate', '{"jsonrpc":"2.0","id":1,"method":"ping\\ud800"}', '/method'],
    ['a byte that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), ''],
    ['a surrogate in bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), ''],
    ['an overlong byte', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), ''],
    ['NaN', '{"jsonrpc":"2.0","id":NaN}', ''],
    ['nothing', '', ''],
    ['half a message', '{"jsonrpc":', ''],
  ])('BR-096: %s is -32700 with its place', async (_what, body, path) => {
    const reply = await send(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ id: null, error: { code: -32_700 } });
    const { data } = reply.body['error'] as { data: { path: string } };
    if (path !== '') expect(data.path).toBe(path);
  });
});
