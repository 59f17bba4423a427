// Runs in a fresh process: loads a server, answers a first call, then a thousand, and says how long it took
// since the process began and what it holds. Plain JavaScript, so that stripping types is not measured
// along. Arguments: `empty`, `bare` for the SDK with one tool, or `ours` with the folders of code and data.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MCP_URL = 'http://127.0.0.1:8000/mcp';
const [which, code = '', data = ''] = process.argv.slice(2);

/** The request of one tool call in the stateless era. */
function callRequest(name, args, token) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: args, _meta };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    host: '127.0.0.1:8000',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return new Request(MCP_URL, { method: 'POST', headers, body });
}

async function ours() {
  const ending = code.endsWith('dist') ? 'js' : 'ts';
  const load = (path) => import(pathToFileURL(join(code, `${path}.${ending}`)).href);
  const { developmentIssuer, localApp, openLocal } = await load('lib/wiring/local');
  const { readSettings } = await load('lib/settings');
  const settings = readSettings({ CHECKPOINT_DATA: data, CHECKPOINT_RATE_PER_MINUTE: '600000' });
  const local = await openLocal(settings);
  const issuer = await developmentIssuer(settings);
  const parts = { publicUrl: MCP_URL, version: '0.0.0', log: () => undefined };
  const app = await localApp(settings, local, parts);
  const token = await issuer.sign({ subject: 'ana', scopes: ['procedures:run'] });
  return {
    serve: (request) => app.fetch(request),
    request: () => callRequest('list_my_workflows', {}, token),
  };
}

async function bare() {
  const { createMcpHandler, McpServer } = await import('@modelcontextprotocol/server');
  const z = await import('zod');
  const inputSchema = z.object({ text: z.string() });
  const outputSchema = z.object({ code: z.string(), text: z.string() });
  const server = () => {
    const one = new McpServer({ name: 'bare', version: '1.0.0' });
    one.registerTool(
      'echo',
      { description: 'Says it back.', inputSchema, outputSchema },
      (args) => ({
        content: [{ type: 'text', text: args.text }],
        structuredContent: { code: 'OK', text: args.text },
      }),
    );
    return one;
  };
  const handler = createMcpHandler(server, { legacy: 'reject', keepAliveMs: 0 });
  return {
    serve: (request) => handler.fetch(request),
    request: () => callRequest('echo', { text: 'hello' }, ''),
  };
}

async function call({ serve, request }) {
  const text = await (await serve(request())).text();
  if (JSON.parse(text).result === undefined) throw new Error(`no result: ${text}`);
}

const server = which === 'empty' ? undefined : await (which === 'bare' ? bare() : ours());
const loadedMs = performance.now();
if (server !== undefined) await call(server);
const answeredMs = performance.now();
const used = process.cpuUsage();
const bytesAfterOne = process.memoryUsage.rss();
if (server !== undefined) for (let i = 1; i < 1_000; i++) await call(server);
const bytesAfterThousand = process.memoryUsage.rss();
const processorMs = (used.user + used.system) / 1_000;
process.send({ loadedMs, answeredMs, processorMs, bytesAfterOne, bytesAfterThousand }, () => {
  // A store that stays open would keep the process.
  process.exit();
});
