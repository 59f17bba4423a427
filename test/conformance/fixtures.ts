/**
 * A server with everything the conformance suite names, for the production pipeline: it takes the
 * place of the product's own server behind host check, authentication, body reader and both legs.
 */
import {
  acceptedContent,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type GetPromptResult,
  type InputRequiredResult,
  type McpServerFactory,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { FIXTURE_TOOLS, fixtureStates, PNG } from './fixture-tools.ts';

const listParams = z.looseObject({});
const resource = (uri: string, mimeType: string) => ({
  uri,
  name: uri.slice('test://'.length),
  description: 'A fixture',
  mimeType,
});
const textOf = (uri: string, text: string, mimeType = 'text/plain'): ReadResourceResult => ({
  contents: [{ uri, mimeType, text }],
});

function readFixture(uri: string): ReadResourceResult {
  if (uri === 'test://static-text') {
    return textOf(uri, 'This is the content of the static text resource.');
  }
  if (uri === 'test://static-binary') {
    return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
  }
  if (uri === 'test://watched-resource') return textOf(uri, 'watched');
  const id = /^test:\/\/template\/([^/]+)\/data$/u.exec(uri)?.[1];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return textOf(uri, JSON.stringify(data), 'application/json');
}

const user = (text: string) => ({
  role: 'user' as const,
  content: { type: 'text' as const, text },
});
const PROMPTS: {
  readonly [name: string]: {
    readonly arguments?: readonly string[];
    readonly get: (
      args: { readonly [name: string]: string },
      context: ServerContext,
    ) => GetPromptResult | InputRequiredResult;
  };
} = {
  test_simple_prompt: { get: () => ({ messages: [user('This is a simple prompt for testing.')] }) },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => ({
      messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    get: ({ resourceUri = '' }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: {
              uri: resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          },
        },
        user('Please process the embedded resource above.'),
      ],
    }),
  },
  test_prompt_with_image: {
    get: () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
        user('Please analyze the image above.'),
      ],
    }),
  },
  test_input_required_result_prompt: {
    get: (_args, { mcpReq }) => {
      const schema = z.object({ context: z.string() });
      const answer = acceptedContent(mcpReq.inputResponses, 'user_context', schema);
      if (answer !== undefined) return { messages: [user(answer.context)] };
      const message = 'What context should the prompt use?';
      return inputRequired({
        inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema: schema }) },
      });
    },
  },
};

/** Builds the fixture server of one request. */
export const fixtureServer: McpServerFactory = ({ era }) => {
  const legacy = era === 'legacy';
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false, subscribe: legacy },
        logging: {},
        completions: {},
      },
      requestState: { verify: (state, context) => fixtureStates.verify(state, context) },
    },
  );
  server.setRequestHandler('tools/list', { params: listParams }, () => ({
    tools: Object.entries(FIXTURE_TOOLS).map(([name, { inputSchema }]) => ({
      name,
      description: 'A fixture',
      inputSchema: (inputSchema ?? { type: 'object' }) as { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = FIXTURE_TOOLS[params.name];
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown tool');
    try {
      return await tool.run(params.arguments ?? {}, context);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const text = error instanceof Error ? error.message : 'unknown error';
      return { isError: true, content: [{ type: 'text' as const, text }] };
    }
  });
  server.setRequestHandler('resources/list', { params: listParams }, () => ({
    resources: [
      resource('test://static-text', 'text/plain'),
      resource('test://static-binary', 'image/png'),
      resource('test://watched-resource', 'text/plain'),
    ],
  }));
  server.setRequestHandler('resources/templates/list', { params: listParams }, () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params }) => readFixture(params.uri));
  server.setRequestHandler('prompts/list', { params: listParams }, () => ({
    prompts: Object.entries(PROMPTS).map(([name, { arguments: args = [] }]) => ({
      name,
      description: 'A fixture',
      arguments: args.map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown prompt');
    }
    return prompt.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler('completion/complete', ({ params }) => {
    const all = ['paris', 'park', 'party'];
    const values = all.filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  if (legacy) {
    server.setRequestHandler('logging/setLevel', () => ({}));
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
  }
  return server;
};
