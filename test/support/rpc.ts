// Speaks MCP to an app in either era, as raw requests: what goes over the wire is what tests say.
import type { CheckpointApp } from '../../lib/surface/app.ts';
import { PUBLIC_URL } from './surface-world.ts';

/** A JSON-RPC answer with its HTTP status. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** Which era a request is made in. */
export type Era = 'handshake' | 'stateless';
/** Both eras, for tables. */
export const ERAS: readonly Era[] = ['handshake', 'stateless'];

/** Headers of a request; undefined leaves one out. */
export type HeaderSet = { readonly [name: string]: string | undefined };

/** Posts a body to the endpoint as it is. */
export async function post(
  app: CheckpointApp,
  body: string | Uint8Array<ArrayBuffer>,
  headers: HeaderSet = {},
): Promise<Answer> {
  const all: HeaderSet = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer ana',
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  const response = await app.request(PUBLIC_URL, { method: 'POST', body, headers: given });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  const parsed = json ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, body: parsed, text };
}

/** The envelope of a stateless request. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends one request in an era with the headers that era wants. */
export function send(
  app: CheckpointApp,
  era: Era,
  method: string,
  params: Record<string, unknown> = {},
  options: {
    readonly id?: unknown;
    readonly token?: string;
    readonly headers?: HeaderSet;
    /** What the client declares, in the stateless era. */
    readonly capabilities?: object;
  } = {},
): Promise<Answer> {
  const { id = 1, token = 'ana', headers = {}, capabilities = {} } = options;
  const name = params['name'] ?? params['uri'];
  const modern = era === 'stateless';
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const body = { jsonrpc: '2.0', id, method, params: modern ? { ...params, _meta } : params };
  return post(app, JSON.stringify(body), {
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': modern ? '2026-07-28' : '2025-11-25',
    ...(modern && { 'mcp-method': method }),
    ...(modern && typeof name === 'string' && { 'mcp-name': name }),
    ...headers,
  });
}

/** The result of a tool call. */
export interface ToolResult {
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly isError: boolean;
}

/** Calls a tool and unpacks its result; fails where there is none. */
export async function callTool(
  app: CheckpointApp,
  name: string,
  args: Record<string, unknown> = {},
  token = 'ana',
  era: Era = 'handshake',
): Promise<ToolResult> {
  const { status, body, text } = await send(
    app,
    era,
    'tools/call',
    { name, arguments: args },
    { token },
  );
  const result = body['result'] as
    | { content: { text: string }[]; structuredContent: Record<string, unknown>; isError?: boolean }
    | undefined;
  if (status !== 200 || result === undefined) throw new Error(`${name}: ${status} ${text}`);
  return {
    text: result.content[0]?.text ?? '',
    data: result.structuredContent,
    isError: result.isError === true,
  };
}
