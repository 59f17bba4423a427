/** MCP in either era over a socket, as raw requests: what goes over the wire is what tests say. */
import { rawRequest, type RawRequest, type Reply } from './raw-http.ts';

/** Which era a request is made in. */
export type Era = 'handshake' | 'stateless';

/** Who calls which server. */
export interface Peer {
  readonly url: string;
  readonly token: string;
  readonly era?: Era;
}

/** The envelope of a stateless request. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The headers and body of one request, without a token. */
export function rpcRequest(
  era: Era,
  method: string,
  params: { readonly [name: string]: unknown } = {},
  id: unknown = 1,
): { readonly headers: Record<string, string>; readonly body: string } {
  const stateless = era === 'stateless';
  const name = params['name'];
  const all = stateless ? { ...params, _meta: ENVELOPE } : params;
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': stateless ? '2026-07-28' : '2025-11-25',
      ...(stateless && { 'mcp-method': method }),
      ...(stateless && typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: all }),
  };
}

/** Sends one request; `headers` come on top of those of the era. */
export function rpc(
  { url, token, era = 'handshake' }: Peer,
  method: string,
  params: { readonly [name: string]: unknown } = {},
  rest: { readonly id?: unknown; readonly headers?: RawRequest['headers'] } = {},
): Promise<Reply> {
  const { headers, body } = rpcRequest(era, method, params, rest.id);
  const all = { ...headers, authorization: `Bearer ${token}`, ...rest.headers };
  return rawRequest(url, { headers: all, body });
}

/** What a tool answered. */
export interface Answer {
  readonly text: string;
  readonly fields: { readonly [name: string]: unknown };
  readonly isError: boolean;
}

/** Calls a tool. A text as arguments is sent as it is; fails where there is no result. */
export async function tool(
  peer: Peer,
  name: string,
  args: { readonly [name: string]: unknown } | string = {},
  id: unknown = 1,
): Promise<Answer> {
  if (typeof args !== 'string') {
    return answerOf(await rpc(peer, 'tools/call', { name, arguments: args }, { id }));
  }
  const { headers, body } = rpcRequest('handshake', 'tools/call', { name, arguments: 0 }, id);
  return answerOf(
    await rawRequest(peer.url, {
      headers: { ...headers, authorization: `Bearer ${peer.token}` },
      body: body.replace('"arguments":0', () => `"arguments":${args}`),
    }),
  );
}

/** The result in a reply. */
export function answerOf({ status, text, body }: Reply): Answer {
  const result = body['result'] as
    | { content: { text: string }[]; structuredContent: Answer['fields']; isError?: boolean }
    | undefined;
  if (result === undefined) throw new Error(`no result: ${status} ${text}`);
  return {
    text: result.content[0]?.text ?? '',
    fields: result.structuredContent,
    isError: result.isError === true,
  };
}

/** The value at a dotted path of an answer's fields. */
export function at({ fields }: Answer, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      fields,
    );
}
