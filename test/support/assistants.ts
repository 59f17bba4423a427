/** The four clients that play an assistant: two packages, both eras. */
import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Caller } from './inspection.ts';

/** A connected client of either package, as far as an assistant needs it. */
export interface Assistant {
  readonly version: string | undefined;
  readonly call: Caller;
  readonly tools: () => Promise<readonly { readonly name: string }[]>;
  readonly close: () => Promise<void>;
}

/** Where an assistant connects to, and for whom. */
export interface Connection {
  readonly url: string;
  readonly token: string;
  /** Hears of content type and body of everything that was answered. */
  readonly seen?: (answer: string) => void;
}

/** Connects one. */
export type Connect = (connection: Connection) => Promise<Assistant>;

type ToolResult = { readonly [name: string]: unknown };
type CallTool = (params: {
  name: string;
  arguments: Record<string, unknown>;
}) => Promise<ToolResult>;

/** What both packages' transports are given: the person's token, and a look at every answer. */
const transportOptions = ({ token, seen }: Connection) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
  fetch: async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    seen?.(`${response.headers.get('content-type')} ${await response.clone().text()}`);
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

const earlier: Connect = async (connection) => {
  const client = new Client({ name: 'assistant', version: '1' });
  const options = transportOptions(connection);
  const transport = new StreamableHTTPClientTransport(new URL(connection.url), options);
  // The package's own type of the transport lacks what its interface has under exact optional types.
  await client.connect(transport as never);
  return {
    version: transport.protocolVersion,
    call: caller((params) => client.callTool(params)),
    tools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
};

const later =
  (mode: 'legacy' | 'auto' | { pin: string }): Connect =>
  async (connection) => {
    const client = new LaterClient(
      { name: 'assistant', version: '2' },
      { versionNegotiation: { mode } },
    );
    const options = transportOptions(connection);
    await client.connect(new LaterTransport(new URL(connection.url), options));
    return {
      version: client.getNegotiatedProtocolVersion(),
      call: caller((params) => client.callTool(params)),
      tools: async () => (await client.listTools()).tools,
      close: () => client.close(),
    };
  };

/** Every client: its name, the revision it speaks, an asset of its own, and how it connects. */
export const ASSISTANTS: readonly [string, string, string, Connect][] = [
  ['the 1.x client', '2025-11-25', 'PUMP-01', earlier],
  ['the 2.x client in its legacy mode', '2025-11-25', 'PUMP-02', later('legacy')],
  ['the 2.x client that negotiates', '2026-07-28', 'PUMP-03', later('auto')],
  ['the 2.x client pinned to the later era', '2026-07-28', 'PUMP-04', later({ pin: '2026-07-28' })],
];
