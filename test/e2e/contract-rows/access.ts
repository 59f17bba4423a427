import { expect } from '@jest/globals';
import { rpcRequest } from '../../support/wire.ts';
import { message, post, UNAUTHORIZED, type Bearer, type ContractRow } from './row.ts';

const ping = message('ping');
const noChallenge = {
  'www-authenticate': undefined,
  'x-amzn-remapped-www-authenticate': undefined,
};
const refused = { status: 401, headers: noChallenge, text: UNAUTHORIZED };

const invalid: readonly Bearer[] = [
  'other folder',
  'expired',
  'forged',
  'other audience',
  'other issuer',
];

const tokens: readonly ContractRow[] = [
  { row: 'A1', fact: 'no token is 401 without a challenge', bearer: null, request: post(ping) },
  ...['Bearer', 'Bearer ', 'Bearer a b', 'Basic YTpi', 'nonsense', ''].map((authorization) => ({
    row: 'A1',
    fact: `the header "${authorization}" is 401 without a challenge`,
    bearer: null,
    request: post(ping, { authorization }),
  })),
  {
    row: 'A1',
    fact: 'two tokens are 401',
    bearer: null,
    request: post(ping, { Authorization: ['Bearer a.b.c', 'Bearer d.e.f'] }),
  },
  ...invalid.map((bearer) => ({
    row: 'U5',
    fact: `a token that is ${bearer} is 401`,
    bearer,
    request: post(ping),
  })),
  ...[
    { accept: 'text/html' },
    { accept: undefined, 'content-type': undefined },
    { 'content-type': 'text/plain' },
  ].map((headers) => ({
    row: 'A2',
    fact: `the 401 comes before ${Object.keys(headers).join(' and ')} are looked at`,
    bearer: null,
    request: post('{"broken', headers),
  })),
].map((row) => ({ ...row, ...refused }));

const elsewhere: readonly ContractRow[] = [
  { path: '/mcp?access_token=TOKEN', request: post(ping) },
  { request: post(ping, { cookie: 'access_token=TOKEN' }) },
  { request: post(ping, { 'x-authorization': 'Bearer TOKEN' }) },
  { request: post('{"access_token":"TOKEN","jsonrpc":"2.0","id":1,"method":"ping"}') },
].map((row, i) => ({
  row: 'U5',
  fact: `a token in ${['the query', 'a cookie', 'another header', 'the body'][i]} is not looked at`,
  bearer: null,
  ...row,
  ...refused,
}));

const asService = (name: string, args: object) =>
  rpcRequest('handshake', 'tools/call', { name, arguments: args });

const allowed: readonly ContractRow[] = [
  {
    row: 'S2',
    fact: 'a service may initialize',
    request: post(
      message('initialize', {
        protocolVersion: '2025-03-26',
        capabilities: { roots: {} },
        clientInfo: { name: 'platform', version: '1' },
      }),
    ),
    body: { result: { protocolVersion: '2025-03-26' } },
  },
  {
    row: 'S2',
    fact: 'a service may list the tools',
    request: post(message('tools/list')),
    body: { result: { tools: expect.any(Array) } },
  },
  ...['what_can_i_do', 'list_procedures'].map((name) => ({
    row: 'S2',
    fact: `a service may call ${name}`,
    request: asService(name, {}),
    body: { result: { structuredContent: { code: 'OK' } } },
  })),
].map((row) => ({ ...row, bearer: 'service', status: 200 }));

const workflow_id = 'x';
const personal: readonly (readonly [string, object])[] = [
  ['start_workflow', { procedure: 'pump-inspection', asset: 'PUMP-01' }],
  ['record_step', { workflow_id, step: 'guards_check', confirmed: true }],
  ['get_workflow', {}],
  ['list_my_workflows', {}],
  ['list_blocked', {}],
  ['resolve_block', { workflow_id, block: 1, decision: 'retake', reason: 'x' }],
  ['hand_over', { workflow_id, to: 'Ben' }],
  ['complete_workflow', { workflow_id }],
  ['abandon_workflow', { workflow_id, reason: 'x' }],
];

const forPeople: readonly ContractRow[] = (['handshake', 'stateless'] as const).flatMap((era) =>
  personal.map(([name, args]) => ({
    row: 'U4',
    fact: `${name} with a service's token is 403 and can be spoken, in the ${era} era`,
    bearer: 'service' as const,
    request: rpcRequest(era, 'tools/call', { name, arguments: args }),
    status: 403,
    headers: noChallenge,
    text: '{"error":"forbidden","message":"I can only do that for a person. Please link or sign in to your own account first."}',
  })),
);

/** Tokens, and what a service may do with its own. */
export const ACCESS: readonly ContractRow[] = [...tokens, ...elsewhere, ...allowed, ...forPeople];
