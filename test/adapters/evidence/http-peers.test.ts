import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { guardedLookup, isReachable } from '../../../lib/adapters/evidence/addresses.ts';
import {
  httpPeer,
  json,
  REMOTE_STATUS,
  resultOf,
  type Misbehave,
} from '../../support/evidence/http-peer.ts';
import { failureOf, soon, sourceTo } from '../../support/evidence/sources.ts';

const headers = { authorization: 'Bearer hunter2' };
const server = (url: string, privateNetwork = false) => ({
  name: 'remote',
  url,
  headers,
  privateNetwork,
});

/** A source to a peer that misbehaves in its answer to one method. */
async function sourceToHttp(method: string, misbehave: Misbehave) {
  const peer = await httpPeer((asked, response) =>
    asked.method === method ? misbehave(asked, response) : false,
  );
  return { ...sourceTo([server(peer.url)]), ...peer };
}

const callOf = async (misbehave: Misbehave, ms = 20_000) => {
  const { source } = await sourceToHttp('tools/call', misbehave);
  return failureOf(source.call(REMOTE_STATUS, {}, soon(ms)));
};

const sse = 'text/event-stream';

describe('a tool server over HTTP', () => {
  test('is listed and called, with the configured headers on every request', async () => {
    const peer = await httpPeer();
    const { source } = sourceTo([server(peer.url)]);
    expect(await source.list('remote', soon())).toEqual([REMOTE_STATUS]);
    expect((await source.call(REMOTE_STATUS, {}, soon())).text).toBe('all is well');
    expect(peer.requests.length).toBeGreaterThan(3);
    for (const { method, headers: sent } of peer.requests) {
      expect([method, sent.authorization, sent['accept-encoding']]).toEqual([
        'POST',
        'Bearer hunter2',
        'identity',
      ]);
    }
  });

  test('may answer by a stream of events', async () => {
    const { source } = await sourceToHttp('tools/call', (asked, response) => {
      const result = resultOf(asked, { content: [{ type: 'text', text: 'streamed' }] });
      response.setHeader('content-type', sse);
      response.end(`event: message\ndata: ${JSON.stringify(result)}\n\n`);
      return true;
    });
    expect((await source.call(REMOTE_STATUS, {}, soon())).text).toBe('streamed');
  });

  test.each([301, 302, 307, 308])('redirects with %i: not followed', async (status) => {
    const target = await httpPeer();
    const failure = await callOf((_asked, response) => {
      response.writeHead(status, { location: target.url }).end();
      return true;
    });
    expect(failure).toEqual([
      'ANSWER_UNUSABLE',
      `it answered with a redirect (HTTP ${status}), which is not followed`,
    ]);
    expect(target.requests).toEqual([]);
  });

  test('answers more than a message may have: cut off with an error', async () => {
    const failure = await callOf((asked, response) => {
      json(response, resultOf(asked, { content: [{ type: 'text', text: 'x'.repeat(2_000_000) }] }));
      return true;
    });
    expect(failure).toEqual(['ANSWER_TOO_LARGE', 'its answer has more than 1048576 bytes']);
  });

  test.each([
    ['without an end of line', 'x'.repeat(65_536)],
    ['of junk', 'data: junk\n\n'.repeat(5_000)],
  ])('streams without end, %s: cut off with an error', async (_what, piece) => {
    const failure = await callOf((_asked, response) => {
      response.setHeader('content-type', sse);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
      return true;
    });
    expect(failure).toEqual(['ANSWER_TOO_LARGE', 'its answer has more than 4194304 bytes']);
  });

  test.each([
    ['says nothing', () => undefined],
    [
      'stops in the middle',
      (response: Parameters<Misbehave>[1]) => {
        response.setHeader('content-type', 'application/json').write('{"jsonrpc":');
      },
    ],
  ])('%s: the call ends in time', async (_what, act) => {
    const failure = await callOf((_asked, response) => {
      act(response);
      return true;
    }, 1_000);
    expect(failure).toEqual(['SERVER_TIMEOUT', 'it did not answer in time']);
  });

  test('breaks the connection with two calls pending: both end with an error', async () => {
    const pending: ServerResponse[] = [];
    const { source } = await sourceToHttp('tools/call', (_asked, response) => {
      if (pending.push(response) === 2) for (const each of pending) each.destroy();
      return true;
    });
    await source.list('remote', soon());
    const both = [1, 2].map(() => failureOf(source.call(REMOTE_STATUS, {}, soon(60_000))));
    expect((await Promise.all(both)).map(([code]) => code)).toEqual([
      'SERVER_UNREACHABLE',
      'SERVER_UNREACHABLE',
    ]);
  });

  test.each([401, 403, 404, 500])('answers %i: an error that repeats nothing', async (status) => {
    const failure = await callOf((_asked, response) => {
      response.writeHead(status, { 'content-type': 'text/plain' }).end('SECRET words');
      return true;
    });
    expect(failure[0]).toBe('ANSWER_UNUSABLE');
    expect(failure[1]).not.toContain('SECRET');
  });

  test.each([
    ['a page', 'text/html', '<p>hello</p>'],
    ['no JSON', 'application/json', 'hello'],
    ['another protocol', 'application/json', '{"hello":1}'],
  ])('answers with %s: an error', async (_what, type, body) => {
    const failure = await callOf((_asked, response) => {
      response.setHeader('content-type', type).end(body);
      return true;
    });
    expect(failure[0]).toBe('ANSWER_UNUSABLE');
  });

  test('is not there: an error that names the system error only', async () => {
    const { source } = sourceTo([server('http://127.0.0.1:9/mcp')]);
    expect(await failureOf(source.list('remote', soon()))).toEqual([
      'SERVER_UNREACHABLE',
      'it cannot be reached (ECONNREFUSED)',
    ]);
  });
});

describe('addresses', () => {
  test.each([
    '169.254.169.254',
    'fe80::1',
    'fd00:ec2::254',
    '100.100.100.200',
    '::ffff:169.254.169.254',
    '0.0.0.0',
    '::',
  ])('%s is never connected to', (address) => {
    expect([isReachable(address, false), isReachable(address, true)]).toEqual([false, false]);
  });

  test.each([
    '10.0.0.1',
    '127.0.0.1',
    '192.168.1.1',
    '172.31.0.1',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
  ])('%s is connected to where the settings allow it only', (address) => {
    expect([isReachable(address, false), isReachable(address, true)]).toEqual([false, true]);
  });

  test.each(['93.184.215.14', '2606:2800:21f:cb07::1'])('%s is public', (address) => {
    expect(isReachable(address, false)).toBe(true);
  });

  test('a name is refused if any of its addresses is', async () => {
    const found = [
      { address: '93.184.215.14', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ];
    const resolve = ((_host: string, _options: object, done: (e: null, f: typeof found) => void) =>
      done(null, found)) as unknown as Parameters<typeof guardedLookup>[1];
    const error = await new Promise((done) => {
      guardedLookup(true, resolve)('rebound.example', {}, (failure) => done(failure));
    });
    expect(error).toMatchObject({ name: 'AddressRefused' });
  });

  test('an address of the machine behind a name is refused, and the name itself is told to nobody', async () => {
    const peer = await httpPeer();
    const { source } = sourceTo([server(`http://localhost:${peer.port}/mcp`)]);
    expect(await failureOf(source.list('remote', soon()))).toEqual([
      'SERVER_UNREACHABLE',
      'its name leads to an address that is not public, which its settings do not allow',
    ]);
    expect(peer.requests).toEqual([]);
    const allowed = sourceTo([server(`http://localhost:${peer.port}/mcp`, true)]);
    expect((await allowed.source.list('remote', soon())).length).toBe(1);
  });

  test('an address of credentials is refused even as it is written', async () => {
    const { source } = sourceTo([server('http://169.254.169.254/mcp', true)]);
    expect((await failureOf(source.list('remote', soon())))[0]).toBe('SERVER_UNREACHABLE');
  });
});
