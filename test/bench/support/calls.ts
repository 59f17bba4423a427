// MCP calls as HTTP requests, in either era.

/** Where the app of the benchmarks says it is. */
export const URL_OF_APP = 'http://127.0.0.1:8000/mcp';

export type Era = 'handshake' | 'stateless';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The request of one tool call, with a token where one is wanted. */
export function callRequest(era: Era, name: string, args: object, token?: string): Request {
  const modern = era === 'stateless';
  const params = { name, arguments: args, ...(modern && { _meta: META }) };
  return new Request(URL_OF_APP, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      host: '127.0.0.1:8000',
      'mcp-protocol-version': modern ? '2026-07-28' : '2025-11-25',
      ...(modern && { 'mcp-method': 'tools/call', 'mcp-name': name }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
}

/** What a call answered; throws for anything but a result. */
export interface Called {
  readonly isError?: boolean;
  readonly structuredContent: Readonly<Record<string, unknown>>;
}

/** Reads the result of a tool call. */
export function resultOf(text: string): Called {
  const { result } = JSON.parse(text) as { readonly result?: Called };
  if (result === undefined) throw new Error(`no result: ${text}`);
  return result;
}
