import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from '@jest/globals';
import type { CheckpointApp } from '../../../lib/surface/app.ts';
import { closeWorldsAfterEach, openWorld, PUBLIC_URL } from '../../support/surface-world.ts';

closeWorldsAfterEach();

/** The options of a transport that talks to the app without a socket. */
function toApp(app: CheckpointApp) {
  return {
    fetch: (url: string | URL, init?: RequestInit) =>
      Promise.resolve(app.request(String(url), init)),
    requestInit: { headers: { authorization: 'Bearer ana' } },
  };
}

const start = {
  name: 'start_workflow',
  arguments: { procedure: 'pump-inspection', asset: 'PUMP-07' },
};
const wrong = { name: 'start_workflow', arguments: { procedure: 'pump-inspection' } };
const started = {
  content: [
    {
      type: 'text',
      text: 'Started, pump inspection on PUMP-07. First is guards check; answer yes or no.',
    },
  ],
  structuredContent: { code: 'OK' },
};

describe('clients check names, schemas and structured content themselves', () => {
  test('an assistant of 2025-11-25 lists, starts and is told of bad arguments', async () => {
    const { app } = await openWorld();
    const client = new Client({ name: 'assistant', version: '1' });
    // The package's own type of the transport lacks what its interface has under exact optional types.
    await client.connect(
      new StreamableHTTPClientTransport(new URL(PUBLIC_URL), toApp(app)) as never,
    );
    expect((await client.listTools()).tools).toHaveLength(14);
    expect(await client.callTool(start)).toMatchObject(started);
    expect(await client.callTool(wrong)).toMatchObject({ isError: true });
    await client.close();
  });

  test.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)(
    'a client of both eras does so with negotiation %j',
    async (mode) => {
      const { app } = await openWorld();
      const client = new LaterClient(
        { name: 'assistant', version: '2' },
        { versionNegotiation: { mode } },
      );
      await client.connect(new LaterTransport(new URL(PUBLIC_URL), toApp(app)));
      expect((await client.listTools()).tools).toHaveLength(14);
      expect(await client.callTool(start)).toMatchObject(started);
      expect(await client.callTool(wrong)).toMatchObject({ isError: true });
      await client.close();
    },
  );
});
