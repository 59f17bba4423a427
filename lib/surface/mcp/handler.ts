// Serves one parsed message in the era it belongs to: the stateless revision, or the handshake ones.
// Both legs get one factory and one body. No stream outlives its answer, and no session is issued.
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import type { Json } from '../../core/json.ts';
import { rpcError } from '../reply.ts';
import { eraOf, foreignCursor, handshakeFault, readMessage, type RpcMessage } from './message.ts';
import { forbidden, type PermissionProfile } from './permission.ts';
import { authInfoOf, createServerFactory, type ReportError } from './server.ts';
import type { OnToolCall, ToolCall, ToolKit } from './tool.ts';
import { createWarmUp } from './warm-up.ts';

/** What the endpoint is made of. */
export interface McpParts {
  readonly kit: ToolKit;
  readonly serverVersion: string;
  readonly permissions: PermissionProfile;
  readonly report: ReportError;
  /** Told of every tool call that was answered. */
  readonly onToolCall?: OnToolCall;
  /** Replaces the server behind both legs, for fixtures on the same pipeline. */
  readonly factory?: McpServerFactory;
}

/** The MCP endpoint after authentication. */
export interface McpEndpoint {
  /** Answers one POST whose body is already parsed. */
  readonly handle: (request: Request, body: Json, call: ToolCall) => Promise<Response>;
  /** Sends one request through each leg, once; later calls share it. Never rejects. */
  readonly warmUp: () => Promise<void>;
}

/** Builds the endpoint. */
export function createMcpEndpoint(parts: McpParts): McpEndpoint {
  const factory =
    parts.factory ??
    createServerFactory(parts.kit, parts.serverVersion, parts.report, parts.onToolCall);
  const stateless = createMcpHandler(factory, { legacy: 'reject', keepAliveMs: 0 });

  const handshake = async (
    request: Request,
    message: RpcMessage,
    authInfo: AuthInfo,
  ): Promise<Response> => {
    const server = await factory({ era: 'legacy', authInfo, requestInfo: request });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { authInfo, parsedBody: message });
    } finally {
      await server.close();
    }
  };

  const handle = async (request: Request, body: Json, call: ToolCall): Promise<Response> => {
    const incoming = readMessage(body);
    if (incoming.kind === 'invalid') return incoming.answer;
    if (incoming.kind === 'response') return new Response(null, { status: 202 });
    const { message } = incoming;
    const refused = forbidden(message, call.principal, parts.permissions, (refusal) =>
      parts.kit.speech.refusal(refusal),
    );
    if (refused !== undefined) return refused;
    const foreign = foreignCursor(message);
    if (foreign !== undefined) return foreign;
    const version = request.headers.get('mcp-protocol-version');
    const authInfo = authInfoOf(call);
    try {
      if (eraOf(message, version) === 'stateless') {
        return await stateless.fetch(innerRequest(request, true), {
          authInfo,
          parsedBody: message,
        });
      }
      const fault = handshakeFault(message, version);
      if (fault !== undefined) return fault;
      const inner = innerRequest(request, message.method !== 'initialize');
      return await handshake(inner, message, authInfo);
    } catch (error) {
      parts.report(error, call.requestId, message.method);
      return rpcError(500, -32_603, 'internal error', { id: message.id ?? null });
    }
  };

  const warmUp = createWarmUp(handle, (error) => parts.report(error, '', 'warm-up'));
  return { handle, warmUp };
}

/**
 * The request as the SDK sees it: without credentials, with what it insists on. The version of an
 * `initialize` is negotiated by its body, so its header is left out.
 */
function innerRequest(request: Request, keepVersion: boolean): Request {
  const headers = new Headers(request.headers);
  for (const name of ['authorization', 'cookie', 'content-length']) headers.delete(name);
  if (!keepVersion) headers.delete('mcp-protocol-version');
  headers.set('accept', 'application/json, text/event-stream');
  headers.set('content-type', 'application/json');
  return new Request(request.url, { method: 'POST', headers });
}
