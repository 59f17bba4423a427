// One person's assistant: the official MCP client over HTTP, and the transcript of what is said.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** What a tool answered: the words to speak and the exact fields. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly fields: { readonly [name: string]: unknown };
}

/** An assistant that is connected for one person. */
export interface Assistant {
  readonly name: string;
  /** Calls a tool; throws when the connection is lost before the answer. */
  call(tool: string, args: { readonly [name: string]: unknown }): Promise<Answer>;
  close(): Promise<void>;
}

/** Connects the official client, pinned to the revision 2026-07-28, with a person's token. */
export async function connectAssistant(
  name: string,
  url: string,
  token: string,
): Promise<Assistant> {
  const client = new Client(
    { name: 'checkpoint-demo', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return {
    name,
    call: async (tool, args) => {
      const result = await client.callTool({ name: tool, arguments: { ...args } });
      const [first] = result.content;
      return {
        isError: result.isError === true,
        text: first?.type === 'text' ? first.text : '',
        fields: (result.structuredContent ?? {}) as Answer['fields'],
      };
    },
    close: () => client.close(),
  };
}
