// Sends requests through both legs before the first caller does: schemas compiled, code paths warm.
// Touches no store: it lists tools and calls one with arguments that are refused.
// Not for a process that is started for a request: that one would wait for what it has no use for.
import type { Json } from '../../core/json.ts';
import type { Principal } from '../../core/model/principal.ts';
import { HANDSHAKE_VERSIONS, STATELESS_VERSION } from './message.ts';
import type { ToolCall } from './tool.ts';

const nobody: Principal = {
  tenant: '',
  subject: '',
  name: '',
  kind: 'person',
  scopes: new Set(['procedures:run']),
  via: 'system',
};

const meta = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'warm-up', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Builds the warm-up over a handler; it runs once, and its failures are only reported. */
export function createWarmUp(
  handle: (request: Request, body: Json, call: ToolCall) => Promise<Response>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const send = async (version: string, method: string, params: Json, name?: string) => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
      },
    });
    const body = { jsonrpc: '2.0', id: 0, method, params };
    await (await handle(request, body, { principal: nobody, requestId: '' })).text();
  };
  const bad = { name: 'record_step', arguments: {} };
  const run = async (): Promise<void> => {
    await send(HANDSHAKE_VERSIONS[0], 'tools/list', {});
    await send(HANDSHAKE_VERSIONS[0], 'tools/call', bad);
    await send(STATELESS_VERSION, 'tools/list', { _meta: meta });
    await send(STATELESS_VERSION, 'tools/call', { ...bad, _meta: meta }, bad.name);
  };
  let once: Promise<void> | undefined;
  return () => (once ??= run().catch(failed));
}
