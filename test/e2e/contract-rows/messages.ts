import { expect } from '@jest/globals';
import { message, post, type ContractRow } from './row.ts';

const error = (code: number, id: unknown = null): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
});

const ids: readonly ContractRow[] = [
  ...[0, '0', '1', '', -1, 9_007_199_254_740_991].map((id) => ({
    row: 'mcp',
    fact: `the id ${JSON.stringify(id)} comes back with its type and value`,
    request: post(message('ping', {}, id)),
    status: 200,
    body: { jsonrpc: '2.0', id, result: {} },
  })),
  ...['null', '1.5', '9007199254740993', 'true'].map((id) => ({
    row: 'mcp',
    fact: `the id ${id} is -32600`,
    request: post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`),
    status: 400,
    body: error(-32_600),
  })),
];

const broken: readonly ContractRow[] = [
  ...[
    ['half a message', '{"jsonrpc":'],
    ['no body at all', ''],
    ['a member twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}'],
    ['half of a character pair', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'],
    ['twenty thousand nested lists', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    [
      'a number that no number holds',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}',
    ],
  ].map(([what, body = '']) => ({
    row: 'mcp',
    fact: `${what} is 400 and -32700`,
    request: post(body),
    status: 400,
    body: error(-32_700),
  })),
  {
    row: 'mcp',
    fact: 'a byte that is not UTF-8 is 400 and -32700',
    request: post(new Uint8Array([0x22, 0xff, 0x22])),
    status: 400,
    body: error(-32_700),
  },
  ...['null', '5', '"ping"', '[]', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'].map((body) => ({
    row: 'mcp',
    fact: `the body ${body} is 400 and -32600`,
    request: post(body),
    status: 400,
    body: error(-32_600),
  })),
  {
    row: 'mcp',
    fact: 'a method that is no text is -32600 with the id of its message',
    request: post('{"jsonrpc":"2.0","id":7,"method":42}'),
    status: 400,
    body: error(-32_600, 7),
  },
  ...['"x"', '[1]', 'null'].map((params) => ({
    row: 'mcp',
    fact: `params ${params} are -32602 with the id of their message`,
    request: post(`{"jsonrpc":"2.0","id":7,"method":"ping","params":${params}}`),
    status: 400,
    body: error(-32_602, 7),
  })),
  {
    row: 'mcp',
    fact: 'a body of the largest size is read',
    request: post(message('ping').padEnd(262_144, ' ')),
    status: 200,
    body: { id: 1, result: {} },
  },
  {
    row: 'mcp',
    fact: 'a body one byte larger is 413',
    request: post(message('ping').padEnd(262_145, ' ')),
    status: 413,
    body: error(-32_000),
  },
];

const notifications: readonly ContractRow[] = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/nobody-knows-this',
].map((method) => ({
  row: 'mcp',
  fact: `${method} is 202 with an empty body`,
  request: post(JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 9 } })),
  status: 202,
  text: '',
}));

const tools: readonly ContractRow[] = ['nope', 'toString', '__proto__', '', 'x'.repeat(5_000)].map(
  (name) => ({
    row: 'mcp',
    fact: `the unknown tool "${name.slice(0, 12)}" is -32602`,
    request: post(message('tools/call', { name, arguments: {} })),
    status: 200,
    body: error(-32_602, 1),
  }),
);

/** Ids, broken bodies, notifications and unknown tools. */
export const MESSAGES: readonly ContractRow[] = [...ids, ...broken, ...notifications, ...tools];
