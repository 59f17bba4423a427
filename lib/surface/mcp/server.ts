// The MCP server behind both eras: a fresh instance per request over tools that are built once.
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type McpRequestContext,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { INTERNAL_FAULT } from '../speech.ts';
import { asking, dialogueOf } from './dialogue.ts';
import { HANDSHAKE_VERSIONS, STATELESS_VERSION } from './message.ts';
import { complete, promptMessages, PROMPTS } from './prompts.ts';
import { listResources, readResource, RESOURCE_TEMPLATES } from './resources.ts';
import type { OnToolCall, ToolAnswer, ToolCall, ToolKit } from './tool.ts';
import { toolNamed, toolsOf } from './tools.ts';

/** Hears of an error that no caller may see. */
export type ReportError = (error: unknown, requestId: string, where: string) => void;

const TEMPLATES = { resourceTemplates: [...RESOURCE_TEMPLATES] };
const PROMPT_LIST = { prompts: PROMPTS.map(({ listing }) => listing) };
const FOR_EVERYBODY = { ttlMs: 300_000, cacheScope: 'public' } as const;
const listParams = z.looseObject({ cursor: z.string().optional() });

const INSTRUCTIONS =
  'Checkpoint keeps the authoritative state of procedures: what is next, what is recorded, who has which asset. ' +
  'Take states and values from its answers, never from the conversation. Say the text of an answer to the person. ' +
  'When an answer asks a question, put it to the person and call again only after a clear answer. ' +
  'When an answer is lost or retryable, repeat the same call with the same idempotency_key.';

/** Builds the factory that the transports call once per request. */
export function createServerFactory(
  kit: ToolKit,
  version: string,
  report: ReportError,
  onToolCall?: OnToolCall,
): McpServerFactory {
  const tools = toolsOf(kit.mcpApprovals);
  const listing = { tools: tools.map((tool) => tool.listing) };
  return (context) => {
    const server = new Server(
      { name: 'checkpoint', title: 'Checkpoint', version },
      {
        // A stateless server has nobody to tell of changes, so it promises to tell none.
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: false, subscribe: false },
          prompts: { listChanged: false },
          completions: {},
        },
        supportedProtocolVersions: [...HANDSHAKE_VERSIONS, STATELESS_VERSION],
        instructions: INSTRUCTIONS,
        cacheHints: {
          'tools/list': FOR_EVERYBODY,
          'resources/list': FOR_EVERYBODY,
          'resources/templates/list': FOR_EVERYBODY,
          'prompts/list': FOR_EVERYBODY,
          'server/discover': FOR_EVERYBODY,
          'resources/read': { ttlMs: 0, cacheScope: 'private' },
        },
      },
    );
    server.setRequestHandler('tools/list', { params: listParams }, () => listing);
    server.setRequestHandler('tools/call', async ({ params }, request) => {
      const tool = toolNamed(params.name);
      if (tool === undefined || !tools.includes(tool)) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown tool');
      }
      const call = { ...callOf(context), dialogue: dialogueOf(request) };
      const started = kit.clock.now();
      let answer: ToolAnswer;
      try {
        answer = await tool.call(kit, params.arguments ?? {}, call);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        report(error, call.requestId, params.name);
        answer = internalError(call);
      }
      // The warm-up is nobody's call.
      if (call.principal.via !== 'system') {
        const { code, duplicate } = answer.structured;
        const ms = kit.clock.now() - started;
        onToolCall?.({ tool: params.name, code: String(code), duplicate: duplicate === true, ms });
      }
      if (answer.ask !== undefined) return asking(answer.text, answer.ask);
      return {
        content: [{ type: 'text' as const, text: answer.text }],
        structuredContent: answer.structured,
        ...(answer.isError && { isError: true }),
      };
    });
    const guarded = async <T>(where: string, answer: () => T | Promise<T>): Promise<T> => {
      try {
        return await answer();
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        report(error, callOf(context).requestId, where);
        throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_FAULT);
      }
    };
    server.setRequestHandler('resources/list', { params: listParams }, ({ cursor }) =>
      listResources(kit.registry, cursor),
    );
    server.setRequestHandler('resources/templates/list', { params: listParams }, () => TEMPLATES);
    server.setRequestHandler('resources/read', ({ params }) =>
      guarded('resources/read', () =>
        readResource(kit, params.uri, callOf(context), context.era === 'modern'),
      ),
    );
    server.setRequestHandler('prompts/list', { params: listParams }, () => PROMPT_LIST);
    server.setRequestHandler('prompts/get', ({ params }) =>
      guarded('prompts/get', () => promptMessages(params.name, params.arguments ?? {})),
    );
    server.setRequestHandler('completion/complete', ({ params }) =>
      guarded('completion/complete', () =>
        complete(kit, params.ref, params.argument, callOf(context)),
      ),
    );
    return server;
  };
}

/** What the transports pass through as `authInfo`: the call, and never a token. */
export function authInfoOf(call: ToolCall) {
  const { subject, scopes } = call.principal;
  return { token: '', clientId: subject, scopes: [...scopes], extra: { call } };
}

function callOf({ authInfo }: McpRequestContext): ToolCall {
  const call = authInfo?.extra?.['call'];
  if (call === undefined) throw new Error('a request reached the server without its caller');
  return call as ToolCall;
}

function internalError({ requestId }: ToolCall): ToolAnswer {
  return {
    text: INTERNAL_FAULT,
    structured: { code: 'INTERNAL_ERROR', request_id: requestId, retryable: false },
    isError: true,
  };
}
