import { expect } from '@jest/globals';
import { JSON_HEADERS, message, PONG, post, type ContractRow } from './row.ts';

const ping = message('ping');
const forbidden = (what: string): object => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_000, message: what },
});

const methods: readonly ContractRow[] = ['GET', 'DELETE', 'PUT'].map((method) => ({
  row: 'mcp',
  fact: `${method} is 405 and says that only POST is served`,
  request: { method, headers: { accept: 'text/event-stream' } },
  status: 405,
  headers: { allow: 'POST' },
}));

const hosts: readonly ContractRow[] = [
  ...['http://evil.example', 'null', 'http://127.0.0.1:1'].map((origin) => ({
    row: 'mcp',
    fact: `Origin ${origin} is 403`,
    request: post(ping, { origin }),
    status: 403,
    headers: { 'access-control-allow-origin': undefined },
    body: forbidden('this origin may not call'),
  })),
  ...['evil.example', 'evil.example:8000', '127.0.0.1.evil.example'].map((host) => ({
    row: 'mcp',
    fact: `Host ${host} is 403`,
    request: post(ping, { Host: host }),
    status: 403,
    body: forbidden('this host is not served here'),
  })),
  ...['127.0.0.1', 'LOCALHOST:1', '[::1]:8000'].map((host) => ({
    row: 'mcp',
    fact: `Host ${host} is this machine and is served`,
    request: post(ping, { Host: host }),
    status: 200,
    body: PONG,
  })),
];

const leniences: readonly ContractRow[] = [
  ...[undefined, '*/*', 'application/json', 'text/event-stream', 'text/html', ''].map((accept) => ({
    row: 'mcp',
    fact: `Accept ${accept ?? 'left out'} is answered with JSON`,
    request: post(ping, { accept }),
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: PONG,
  })),
  ...[
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    ' application/json ; x=y',
  ].map((type) => ({
    row: 'mcp',
    fact: `the media type "${type}" is JSON`,
    request: post(ping, { 'content-type': type }),
    status: 200,
    body: PONG,
  })),
  ...['text/plain', 'application/jsonp', 'text/application/json', undefined].map((type) => ({
    row: 'mcp',
    fact: `the media type ${type ?? 'left out'} is not JSON and is 415`,
    request: post(ping, { 'content-type': type }),
    status: 415,
  })),
  {
    row: 'mcp',
    fact: 'header names in any case are the same headers',
    request: {
      body: message('tools/list'),
      headers: {
        'CONTENT-type': 'application/json',
        ACCEPT: 'application/json',
        'Mcp-PROTOCOL-version': '2025-06-18',
      },
    },
    status: 200,
    body: { id: 1, result: { tools: expect.any(Array) } },
  },
  {
    row: 'mcp',
    fact: 'one byte order mark in front of the body is dropped',
    request: post(`\uFEFF${ping}`),
    status: 200,
    body: PONG,
  },
  {
    row: 'mcp',
    fact: 'text beyond ASCII comes back unchanged',
    request: post(message('ping', {}, 'Ä😀')),
    status: 200,
    body: { id: 'Ä😀', result: {} },
  },
];

const T3 = { connection: 'close', ...JSON_HEADERS };
const optionalHeaders: readonly ContractRow[] = [
  { 'mcp-protocol-version': undefined, origin: undefined, 'user-agent': undefined },
  { 'mcp-protocol-version': '2025-03-26', 'user-agent': 'okhttp/4.9' },
  { 'mcp-protocol-version': '2025-06-18' },
  { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'of another server' },
].map((headers) => ({
  row: 'T3',
  fact: `is served without a session, with ${JSON.stringify(headers)}`,
  request: { headers: { ...T3, ...headers }, body: message('tools/list') },
  status: 200,
  headers: { 'mcp-session-id': undefined, 'content-type': 'application/json' },
  body: { id: 1, result: { tools: expect.any(Array) } },
}));

/** Methods, hosts, origins and headers. */
export const TRANSPORT: readonly ContractRow[] = [
  ...methods,
  ...hosts,
  ...leniences,
  ...optionalHeaders,
];
