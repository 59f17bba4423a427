import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { inspect, INSPECTION, type Caller } from '../support/inspection.ts';

/** A connected client of either package, as far as an assistant needs it. */
interface Assistant {
  readonly version: string | undefined;
  readonly call: Caller;
  readonly tools: () => Promise<readonly { readonly name: string }[]>;
  readonly close: () => Promise<void>;
}

type ToolResult = { readonly [name: string]: unknown };
type CallTool = (params: {
  name: string;
  arguments: Record<string, unknown>;
}) => Promise<ToolResult>;

let server: ServedChild;
const tokens: Record<string, string> = {};
const open: Assistant[] = [];
/** Content types and bodies of everything the server sent. */
const seen: string[] = [];

beforeAll(async () => {
  const folder = await dataFolder();
  server = await serveInChild(folder);
  for (const name of ['Ana', 'Ben']) {
    tokens[name] = await tokenFor(folder, name.toLowerCase(), 'procedures:run', '--name', name);
  }
  tokens['Cara'] = await tokenFor(folder, 'cara', 'procedures:supervise', '--name', 'Cara');
});

afterEach(async () => {
  for (const assistant of open.splice(0)) await assistant.close();
  seen.length = 0;
});

/** What both packages' transports are given: the person's token, and a look at every answer. */
const transportOptions = (name: string) => ({
  requestInit: { headers: { authorization: `Bearer ${tokens[name]}` } },
  fetch: async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    seen.push(`${response.headers.get('content-type')} ${await response.clone().text()}`);
    return response;
  },
});

const caller =
  (callTool: CallTool): Caller =>
  async (name, args) => {
    const result = await callTool({ name, arguments: { ...args } });
    const [first] = result['content'] as { text: string }[];
    return {
      text: first?.text ?? '',
      fields: result['structuredContent'] as { [name: string]: unknown },
      isError: result['isError'] === true,
    };
  };

async function earlier(name: string): Promise<Assistant> {
  const client = new Client({ name: 'assistant', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), transportOptions(name));
  // The package's own type of the transport lacks what its interface has under exact optional types.
  await client.connect(transport as never);
  return {
    version: transport.protocolVersion,
    call: caller((params) => client.callTool(params)),
    tools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
}

const later = (mode: 'legacy' | 'auto' | { pin: string }) => async (name: string) => {
  const client = new LaterClient(
    { name: 'assistant', version: '2' },
    { versionNegotiation: { mode } },
  );
  await client.connect(new LaterTransport(new URL(server.url), transportOptions(name)));
  return {
    version: client.getNegotiatedProtocolVersion(),
    call: caller((params) => client.callTool(params)),
    tools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
};

const CLIENTS: readonly [string, string, string, (name: string) => Promise<Assistant>][] = [
  ['the 1.x client', '2025-11-25', 'PUMP-01', earlier],
  ['the 2.x client in its legacy mode', '2025-11-25', 'PUMP-02', later('legacy')],
  ['the 2.x client that negotiates', '2026-07-28', 'PUMP-03', later('auto')],
  ['the 2.x client pinned to the later era', '2026-07-28', 'PUMP-04', later({ pin: '2026-07-28' })],
];

async function connected(connect: (name: string) => Promise<Assistant>, name: string) {
  const assistant = await connect(name);
  open.push(assistant);
  return assistant;
}

describe('an assistant over HTTP', () => {
  test.each(CLIENTS)(
    '%s plays %s and completes an inspection with three people and without elicitation',
    async (_client, version, asset, connect) => {
      const ana = await connected(connect, 'Ana');
      const ben = await connected(connect, 'Ben');
      const cara = await connected(connect, 'Cara');
      expect([ana.version, ben.version, cara.version]).toEqual([version, version, version]);
      // Only a client that has listed the tools checks answers against their schemas.
      await Promise.all([ana.tools(), ben.tools(), cara.tools()]);
      const crew = { operator: ana.call, second: ben.call, supervisor: cara.call };
      expect(await inspect(crew, asset)).toEqual(INSPECTION);
      expect(seen.length).toBeGreaterThan(INSPECTION.length);
      expect(seen.filter((text) => /elicit|input_required|event-stream/.test(text))).toEqual([]);
    },
  );

  test('every client sees the same tools in the same order', async () => {
    const lists: (readonly { readonly name: string }[])[] = [];
    for (const [, , , connect] of CLIENTS) {
      const assistant = await connected(connect, 'Ana');
      lists.push(await assistant.tools());
    }
    expect(lists[0]?.map(({ name }) => name)).toEqual([
      'list_procedures',
      'start_workflow',
      'get_workflow',
      'list_my_workflows',
      'list_blocked',
      'record_step',
      'resolve_block',
      'hand_over',
      'complete_workflow',
      'abandon_workflow',
      'what_can_i_do',
    ]);
    for (const list of lists.slice(1)) expect(list).toEqual(lists[0]);
  });
});
