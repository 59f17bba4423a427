// One JSON-RPC message out of a parsed body, or the error that answers it. Both eras share this.
// Says which era a message belongs to; the protocol itself is the SDK's. Source: JSON-RPC 2.0.
import { PROTOCOL_VERSION_META_KEY, isSpecType } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../core/json.ts';
import { rpcError, type RpcId } from '../reply.ts';

/** The revisions of the handshake era, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** The revision of the stateless era. */
export const STATELESS_VERSION = '2026-07-28';

/** A request or a notification of known shape. */
export interface RpcMessage {
  readonly jsonrpc: '2.0';
  readonly method: string;
  /** Absent on a notification. */
  readonly id?: string | number;
  readonly params?: JsonObject;
}

/** What a body is. */
export type Incoming =
  | { readonly kind: 'message'; readonly message: RpcMessage }
  /** The answer to a request that this server never sends. */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly answer: Response };

/** Reads one message; batches, null ids and wrong shapes are answered as the specification says. */
export function readMessage(body: Json): Incoming {
  if (!isObject(body)) {
    const what = Array.isArray(body) ? 'batches are not supported' : 'expected a JSON-RPC message';
    return invalid(-32_600, what, null);
  }
  const { jsonrpc, method, id, params } = body;
  const known: RpcId = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(-32_600, 'expected jsonrpc 2.0', known);
  if (method === undefined && ('result' in body || 'error' in body)) return { kind: 'response' };
  if ('id' in body && known === null) {
    return invalid(-32_600, 'expected an id that is a text or a whole number', null);
  }
  if (typeof method !== 'string') return invalid(-32_600, 'expected a method name', known);
  if ('params' in body && !isObject(params)) {
    return invalid(-32_602, 'expected params that are an object', known);
  }
  return { kind: 'message', message: body as unknown as RpcMessage };
}

/** What is said of a cursor that a list did not give. */
export const FOREIGN_CURSOR = 'this list did not give this cursor';

/** Lists that are one page, so that no cursor is theirs. */
const ONE_PAGE: readonly string[] = ['tools/list', 'prompts/list', 'resources/templates/list'];

/** Refuses a cursor where no list gives one. */
export function foreignCursor({ method, id, params }: RpcMessage): Response | undefined {
  if (id === undefined || params?.['cursor'] === undefined) return undefined;
  return ONE_PAGE.includes(method) ? rpcError(200, -32_602, FOREIGN_CURSOR, { id }) : undefined;
}

/**
 * Which era serves a message. An `initialize` without a claim is negotiated by its body alone, and
 * a message without a claim belongs to the handshake unless its header names the stateless revision.
 */
export function eraOf(
  message: RpcMessage,
  versionHeader: string | null,
): 'handshake' | 'stateless' {
  if (claimOf(message) !== undefined) return 'stateless';
  if (message.method === 'initialize') return 'handshake';
  return versionHeader?.trim() === STATELESS_VERSION ? 'stateless' : 'handshake';
}

/** What is wrong with a handshake message before the SDK sees it. */
export function handshakeFault(
  message: RpcMessage,
  versionHeader: string | null,
): Response | undefined {
  const { id = null, method } = message;
  if (method === 'initialize') {
    if (isSpecType.InitializeRequest(message)) return undefined;
    return rpcError(200, -32_602, 'expected protocolVersion, capabilities and clientInfo', { id });
  }
  const requested = versionHeader?.trim();
  const known: readonly string[] = HANDSHAKE_VERSIONS;
  if (requested === undefined || known.includes(requested)) return undefined;
  return rpcError(400, -32_000, `unsupported protocol version; supported: ${known.join(', ')}`, {
    id,
    data: { supported: known, requested: requested.slice(0, 64) },
  });
}

function claimOf({ params }: RpcMessage): Json | undefined {
  const meta = params?.['_meta'];
  return isObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(id: Json | undefined): id is string | number {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
}

function invalid(code: number, message: string, id: RpcId): Incoming {
  return { kind: 'invalid', answer: rpcError(400, code, message, { id }) };
}
