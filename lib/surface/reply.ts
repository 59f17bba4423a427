// The shapes of errors: JSON-RPC on the MCP endpoint, RFC 9457 problem details everywhere else.
// Nothing internal is ever put into one.
import type { Json } from '../core/json.ts';

/** The id of a JSON-RPC answer; null where the request's id could not be read. */
export type RpcId = string | number | null;

/** A JSON-RPC error answer. */
export function rpcError(
  status: number,
  code: number,
  message: string,
  rest: {
    readonly id?: RpcId;
    readonly data?: Json;
    readonly headers?: { readonly [name: string]: string };
  } = {},
): Response {
  const { id = null, data, headers } = rest;
  const error = { code, message, ...(data !== undefined && { data }) };
  return Response.json(
    { jsonrpc: '2.0', error, id },
    { status, ...(headers !== undefined && { headers }) },
  );
}

/** A problem details answer with a stable `code`. Source: RFC 9457. */
export function problem(
  status: number,
  code: string,
  title: string,
  rest: {
    readonly headers?: { readonly [name: string]: string };
    /** Members of this problem beside those of every one. */
    readonly [member: string]: unknown;
  } = {},
): Response {
  const { headers, ...members } = rest;
  const body = {
    type: 'about:blank',
    title,
    status,
    code,
    ...members,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

/**
 * The answer to a request that took longer than its host waits. What it asked for may have happened, so
 * it is to be repeated with the same key. `id` is the JSON-RPC id where one is known.
 */
export function tooLate(path: string, id: RpcId = null): Response {
  return notNow(path, 504, 'the answer took too long; say it again with the same key', id);
}

/** The answer while this process cannot serve. */
export function notReady(path: string, id: RpcId = null): Response {
  return notNow(path, 503, 'this cannot be served now', id);
}

function notNow(path: string, status: 503 | 504, title: string, id: RpcId): Response {
  const headers = { 'retry-after': '1', 'cache-control': 'no-store' };
  const data = { code: 'BACKEND_UNAVAILABLE', retryable: true };
  return isMcpPath(path)
    ? rpcError(status, -32_000, title, { id, data, headers })
    : problem(status, data.code, title, { headers });
}

/** Whether a path is the MCP endpoint's, with or without a slash at its end. */
export function isMcpPath(path: string): boolean {
  return path === '/mcp' || path === '/mcp/';
}

/** An error in the shape of the place it happens at. */
export function refusalAt(
  path: string,
  status: number,
  code: string,
  title: string,
  headers: { readonly [name: string]: string } = {},
): Response {
  return isMcpPath(path)
    ? rpcError(status, status === 500 ? -32_603 : -32_000, title, { headers })
    : problem(status, code, title, { headers });
}
