// The peer of the MCP surface: the SDK's own server with one trivial tool, a fresh one for each request, on
// the transports that the product uses. No token, no checks of its own.
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

/** Answers one HTTP request. */
export type Serve = (request: Request) => Promise<Response>;

const inputSchema = z.object({ text: z.string() });
const outputSchema = z.object({ code: z.string(), text: z.string() });

/** A server with one tool that says back what it was told. */
export function trivialServer(): McpServer {
  const server = new McpServer({ name: 'bare', version: '1.0.0' });
  const definition = { description: 'Says it back.', inputSchema, outputSchema };
  server.registerTool('echo', definition, ({ text }) => ({
    content: [{ type: 'text' as const, text }],
    structuredContent: { code: 'OK', text },
  }));
  return server;
}

/** The handshake revisions: one transport and one server per request, JSON answers. */
export const bareHandshake: Serve = async (request) => {
  const server = trivialServer();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
};

/** The stateless revision, by the SDK's own handler. */
export function bareStateless(): Serve {
  const handler = createMcpHandler(() => trivialServer(), { legacy: 'reject', keepAliveMs: 0 });
  return (request) => handler.fetch(request);
}
