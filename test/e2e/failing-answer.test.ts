import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSettings } from '../../lib/settings.ts';
import { localApp, openLocal, type Local } from '../../lib/wiring/local.ts';
import { usePlant } from '../support/plant.ts';
import { rpc, tool, type Peer } from '../support/wire.ts';

const plant = usePlant();
const server = createServer();
let local: Local;
let ana: Peer;
/** While true the answer of every request fails after its work is done. */
let failing = false;

beforeAll(async () => {
  const settings = readSettings({ CHECKPOINT_DATA: plant.folder });
  local = await openLocal(settings);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const app = await localApp(settings, local, {
    publicUrl: url,
    version: '0',
    // The line about a request is written after its work and before its answer.
    log: ({ msg }) => {
      if (failing && msg === 'request') throw new Error('the log is full');
    },
  });
  const listener = getRequestListener((request) => app.fetch(request));
  server.on('request', (request, response) => void listener(request, response));
  ana = { url, token: plant.ana.token };
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await local.close();
});

describe('a call whose answer became a 500', () => {
  test('is answered with its receipt when it is sent again, because it was committed', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'vibration', reading: 2.2, idempotency_key: 'failing' };
    failing = true;
    const failed = await rpc(ana, 'tools/call', { name: 'record_step', arguments: args });
    failing = false;
    expect(failed.status).toBe(500);
    expect(failed.body).toMatchObject({ error: { code: -32_603, message: 'internal error' } });
    expect((await tool(ana, 'record_step', args)).fields).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { seq: 2 },
    });
    expect(plant.typesOf(workflow_id)).toEqual(['workflow_started', 'step_recorded']);
  });
});
