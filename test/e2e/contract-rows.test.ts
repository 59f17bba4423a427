import { beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { oddToken } from '../support/odd-tokens.ts';
import { rawRequest } from '../support/raw-http.ts';
import { tool, type Peer } from '../support/wire.ts';
import { ACCESS } from './contract-rows/access.ts';
import { MESSAGES } from './contract-rows/messages.ts';
import type { Bearer } from './contract-rows/row.ts';
import { TRANSPORT } from './contract-rows/transport.ts';
import { VERSIONS } from './contract-rows/versions.ts';

let server: ServedChild;
let tokens: Record<Bearer, string>;
let ben: Peer;
let otherTenant: Peer;

beforeAll(async () => {
  const folder = await dataFolder();
  server = await serveInChild(folder);
  tokens = {
    ana: await tokenFor(folder, 'ana', 'procedures:run'),
    service: await tokenFor(folder, 'platform', 'mcp:service', '--service'),
    'other folder': await tokenFor(await dataFolder(), 'ana', 'procedures:run'),
    expired: await oddToken(folder, 'expired'),
    forged: await oddToken(folder, 'forged'),
    'other audience': await oddToken(folder, 'other audience'),
    'other issuer': await oddToken(folder, 'other issuer'),
  };
  const { url } = server;
  ben = { url, token: await tokenFor(folder, 'ben', 'procedures:run') };
  const token = await tokenFor(folder, 'ana', 'procedures:run', '--tenant', 'elsewhere');
  otherTenant = { url, token };
});

describe.each([
  ['access', ACCESS],
  ['transport', TRANSPORT],
  ['messages', MESSAGES],
  ['versions', VERSIONS],
])('%s', (_what, rows) => {
  test.each(rows)('$row: $fact', async (row) => {
    const { bearer = 'ana', path = '/mcp', request, status, headers = {}, text, body } = row;
    // A row that puts the token in a wrong place says TOKEN there.
    const fill = <T>(value: T): T =>
      typeof value === 'string' ? (value.replaceAll('TOKEN', tokens.ana) as T) : value;
    const sent = Object.entries(request.headers ?? {}).map(([name, value]) => [name, fill(value)]);
    const reply = await rawRequest(new URL(fill(path), server.url).href, {
      ...request,
      ...(request.body !== undefined && { body: fill(request.body) }),
      headers: {
        ...(bearer !== null && { authorization: `Bearer ${tokens[bearer]}` }),
        ...Object.fromEntries(sent),
      },
    });
    expect(reply.status).toBe(status);
    for (const [name, value] of Object.entries(headers)) {
      expect([name, reply.headers[name]]).toEqual([name, value]);
    }
    if (text !== undefined) expect(reply.text).toBe(text);
    if (body !== undefined) expect(reply.body).toMatchObject(body);
  });
});

describe('people', () => {
  test('U5: a token that is right but for nothing is taken', async () => {
    const { url, dataFolder: folder } = server;
    const token = await oddToken(folder, 'nothing');
    expect((await tool({ url, token }, 'list_my_workflows')).fields['code']).toBe('OK');
  });

  test('U6: another account gets nothing of the first', async () => {
    const ana = { url: server.url, token: tokens.ana };
    const args = { procedure: 'pump-inspection', asset: 'PUMP-11' };
    const { workflow_id } = (await tool(ana, 'start_workflow', args)).fields;
    expect((await tool(ana, 'list_my_workflows')).fields['workflows']).toMatchObject([
      { workflow_id },
    ]);
    for (const other of [ben, otherTenant]) {
      expect((await tool(other, 'list_my_workflows')).fields['workflows']).toEqual([]);
    }
    const byId = await tool(otherTenant, 'get_workflow', { workflow_id });
    expect(byId.fields).toMatchObject({ code: 'NOT_FOUND' });
    const byAsset = await tool(otherTenant, 'get_workflow', { asset: 'PUMP-11' });
    expect(byAsset.fields).toMatchObject({ code: 'NOT_FOUND' });
    expect((await tool(otherTenant, 'start_workflow', args)).fields).toMatchObject({
      code: 'OK',
      duplicate: false,
    });
  });

  test('mcp: after every row above the process lives', () => {
    expect(server.alive()).toBe(true);
  });
});
