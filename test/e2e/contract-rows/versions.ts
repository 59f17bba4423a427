import { expect } from '@jest/globals';
import type { RawRequest } from '../../support/raw-http.ts';
import { ENVELOPE, rpcRequest } from '../../support/wire.ts';
import { message, post, type ContractRow } from './row.ts';

const HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26'];

const initialize = (protocolVersion: string, id: unknown): string =>
  message(
    'initialize',
    {
      protocolVersion,
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: 'assistant', version: '1' },
    },
    id,
  );

const negotiation: readonly ContractRow[] = [
  ['T2', '2025-03-26', '2025-03-26'],
  ['T2', '2025-06-18', '2025-06-18'],
  ['T2', '2025-11-25', '2025-11-25'],
  ['mcp', '2024-11-05', '2025-11-25'],
  ['mcp', '2099-01-01', '2025-11-25'],
  ['mcp', '2026-07-28', '2025-11-25'],
].map(([row = '', asked = '', given]) => ({
  row,
  fact: `initialize for ${asked} is answered with ${given}`,
  request: post(initialize(asked, 'init-1')),
  status: 200,
  headers: { 'mcp-session-id': undefined },
  body: {
    jsonrpc: '2.0',
    id: 'init-1',
    result: { protocolVersion: given, serverInfo: { name: 'checkpoint' } },
  },
}));

const contradicted: readonly ContractRow[] = ['1999-01-01', '2026-07-28', 'bogus'].map(
  (version) => ({
    row: 'mcp',
    fact: `initialize is negotiated by its body, whatever a header ${version} says`,
    request: post(initialize('2025-06-18', 1), { 'mcp-protocol-version': version }),
    status: 200,
    body: { id: 1, result: { protocolVersion: '2025-06-18' } },
  }),
);

const headers: readonly ContractRow[] = [
  ...[undefined, ...HANDSHAKE].map((version) => ({
    row: 'mcp',
    fact: `the version header ${version ?? 'left out'} is served`,
    request: post(message('tools/list'), { 'mcp-protocol-version': version }),
    status: 200,
    body: { id: 1, result: { tools: expect.any(Array) } },
  })),
  ...['bogus', '1999-01-01', '2024-11-05'].map((version) => ({
    row: 'mcp',
    fact: `the version header ${version} is 400 and names the supported ones`,
    request: post(message('tools/list', {}, 7), { 'mcp-protocol-version': version }),
    status: 400,
    body: {
      id: 7,
      error: { code: -32_000, data: { supported: HANDSHAKE, requested: version } },
    },
  })),
];

const discover = rpcRequest('stateless', 'server/discover', {}, 'd');
const call = rpcRequest('stateless', 'tools/call', { name: 'what_can_i_do', arguments: {} }, 'h');
const unknown = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '1900-01-01' };

const DISAGREEMENTS: readonly (readonly [string, RawRequest['headers']])[] = [
  ['the version differs', { 'mcp-protocol-version': '2025-11-25' }],
  ['the version is missing', { 'mcp-protocol-version': undefined }],
  ['the method differs', { 'mcp-method': 'tools/list' }],
  ['the method is missing', { 'mcp-method': undefined }],
  ['the name differs', { 'mcp-name': 'get_workflow' }],
  ['the name is missing', { 'mcp-name': undefined }],
];

const stateless: readonly ContractRow[] = [
  {
    row: 'mcp',
    fact: 'server/discover names the revision and the capabilities',
    request: discover,
    status: 200,
    body: {
      id: 'd',
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: false } },
      },
    },
  },
  {
    row: 'mcp',
    fact: 'a list carries how long and for whom it holds',
    request: rpcRequest('stateless', 'tools/list'),
    status: 200,
    body: { result: { resultType: 'complete', ttlMs: 300_000, cacheScope: 'public' } },
  },
  {
    row: 'mcp',
    fact: 'an unknown revision is 400 and -32022 with the supported ones',
    request: post(message('tools/list', { _meta: unknown }, 3), {
      'mcp-protocol-version': '1900-01-01',
      'mcp-method': 'tools/list',
    }),
    status: 400,
    body: {
      id: 3,
      error: { code: -32_022, data: { supported: ['2026-07-28'], requested: '1900-01-01' } },
    },
  },
  ...DISAGREEMENTS.map(([what, changed]) => ({
    row: 'mcp',
    fact: `headers that disagree with the body are 400 and -32020: ${what}`,
    request: { ...call, headers: { ...call.headers, ...changed } },
    status: 400,
    body: { id: 'h', error: { code: -32_020 } },
  })),
];

const unknownMethods: readonly ContractRow[] = [
  ...['foo/bar', 'tasks/list', 'server/discover'].map((method) => ({
    row: 'mcp',
    fact: `the unknown method ${method} of the handshake era is 200 and -32601`,
    request: rpcRequest('handshake', method, {}, 'x'),
    status: 200,
    body: { jsonrpc: '2.0', id: 'x', error: { code: -32_601 } },
  })),
  ...['foo/bar', 'ping', 'initialize'].map((method) => ({
    row: 'mcp',
    fact: `the unknown method ${method} of the stateless era is 404 and -32601`,
    request: rpcRequest('stateless', method, {}, 'x'),
    status: 404,
    body: { jsonrpc: '2.0', id: 'x', error: { code: -32_601 } },
  })),
];

/** Which revision is spoken, in both eras. */
export const VERSIONS: readonly ContractRow[] = [
  ...negotiation,
  ...contradicted,
  ...headers,
  ...stateless,
  ...unknownMethods,
];
