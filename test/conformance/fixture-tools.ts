/** The tools that the conformance suite calls by name: contents, notifications, questions. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type InputRequest,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What a fixture tool answers. */
export type ToolAnswer = CallToolResult | InputRequiredResult;

/** A fixture tool; without a schema it takes no arguments. */
export interface FixtureTool {
  readonly inputSchema?: object;
  readonly run: (
    args: { readonly [name: string]: unknown },
    context: ServerContext,
  ) => ToolAnswer | Promise<ToolAnswer>;
}

/** A picture of one pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A sound without a sample. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

/** Signs and verifies the states of the fixtures. */
export const fixtureStates = createRequestStateCodec<{ step: string; name?: string }>({
  key: 'a key of the fixtures, at least 32 bytes',
  ttlSeconds: 600,
});

const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
});

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities => {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
};

/** A form of texts that all have to be filled in. */
const form = (message: string, ...fields: readonly string[]): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: z.object(Object.fromEntries(fields.map((name) => [name, z.string()]))),
  });
const sample = (words: string, maxTokens = 100): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: words } }],
    maxTokens,
  });
const ask = (inputRequests: Record<string, InputRequest>, requestState?: string): ToolAnswer =>
  inputRequired({ inputRequests, ...(requestState !== undefined && { requestState }) });

/** A tool that asks one thing and says what it was answered. */
function asksOnce(
  key: string,
  request: (args: { readonly [name: string]: unknown }) => InputRequest,
  say: (view: object) => string,
): FixtureTool['run'] {
  return (args, { mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, key);
    return view.kind === 'missing' ? ask({ [key]: request(args) }) : text(say(view));
  };
}

const raw = (requestedSchema: object) => () =>
  inputRequired.elicit({ message: 'Please fill this in', requestedSchema } as never);
const completed = (view: object): string => {
  const { action, content } = view as { action?: string; content?: object };
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
};
const titled = (kind: string) =>
  ['First', 'Second', 'Third'].map((title, i) => ({
    const: `value${i + 1}`,
    title: `${title} ${kind}`,
  }));

const needs = (argument: string) => ({
  type: 'object',
  properties: { [argument]: { type: 'string' } },
  required: [argument],
});

const USER_NAME = form('What is your name?', 'name');
const CONFIRM = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: z.object({ ok: z.boolean() }),
});

/** By name, in the order in which they are listed. */
export const FIXTURE_TOOLS: { readonly [name: string]: FixtureTool } = {
  test_simple_text: { run: () => text('This is a simple text response for testing.') },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: {
    run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    run: () => ({
      content: [
        embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
      ],
    }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded(
          'test://mixed-content-resource',
          'application/json',
          '{"test":"data","value":123}',
        ),
      ],
    }),
  },
  test_error_handling: {
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_logging: {
    run: async (_args, { mcpReq }) => {
      await mcpReq.log('info', 'Tool execution started');
      await sleep(50);
      await mcpReq.log('info', 'Tool processing data');
      await sleep(50);
      await mcpReq.log('info', 'Tool execution completed');
      return text('done');
    },
  },
  test_logging_tool: {
    run: async (_args, { mcpReq }) => {
      await mcpReq.log('info', 'a line');
      return text('done');
    },
  },
  test_tool_with_progress: {
    run: async (_args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress, total: 100 };
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
        await sleep(50);
      }
      return text('done');
    },
  },
  test_sampling: {
    inputSchema: needs('prompt'),
    run: asksOnce(
      'q',
      ({ prompt }) => sample(String(prompt)),
      (view) => `LLM response: ${JSON.stringify(view)}`,
    ),
  },
  test_elicitation: {
    inputSchema: needs('message'),
    run: asksOnce(
      'q',
      ({ message }) => form(String(message), 'username', 'email'),
      (view) => `User response: ${JSON.stringify(view)}`,
    ),
  },
  test_elicitation_sep1034_defaults: {
    run: asksOnce(
      'q',
      raw({
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
      }),
      completed,
    ),
  },
  test_elicitation_sep1330_enums: {
    run: asksOnce(
      'q',
      raw({
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: {
            type: 'array',
            items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        },
      }),
      completed,
    ),
  },
  test_missing_capability: {
    run: (_args, context) => {
      if (capabilitiesOf(context).sampling !== undefined) return text('ok');
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    },
  },
  test_streaming_elicitation: {
    run: asksOnce(
      'q',
      () => form('One more thing', 'a'),
      () => 'ok',
    ),
  },
  // Lists never change here: nothing is promised, and nobody is told.
  test_trigger_tool_change: { run: () => text('ok') },
  test_trigger_prompt_change: { run: () => text('ok') },
  test_input_required_result_elicitation: {
    run: (_args, { mcpReq }) => {
      const schema = z.object({ name: z.string() });
      const answer = acceptedContent(mcpReq.inputResponses, 'user_name', schema);
      return answer === undefined ? ask({ user_name: USER_NAME }) : text(`Hello, ${answer.name}!`);
    },
  },
  test_input_required_result_sampling: {
    run: asksOnce(
      'capital_question',
      () => sample('What is the capital of France?'),
      (view) => JSON.stringify(view),
    ),
  },
  test_input_required_result_list_roots: {
    run: asksOnce(
      'client_roots',
      () => inputRequired.listRoots(),
      (view) => JSON.stringify(view),
    ),
  },
  test_input_required_result_request_state: {
    run: async (_args, context) => {
      const state = context.mcpReq.requestState<{ step: string }>();
      const { inputResponses } = context.mcpReq;
      const answer = acceptedContent(inputResponses, 'confirm', z.object({ ok: z.boolean() }));
      if (state?.step === 'confirm' && answer !== undefined) return text('state-ok');
      return ask({ confirm: CONFIRM }, await fixtureStates.mint({ step: 'confirm' }, context));
    },
  },
  test_input_required_result_tampered_state: {
    run: async (_args, context) => {
      if (context.mcpReq.requestState() !== undefined) return text('state-ok');
      return ask({ confirm: CONFIRM }, await fixtureStates.mint({ step: 'tampered' }, context));
    },
  },
  test_input_required_result_multiple_inputs: {
    run: async (_args, context) => {
      const { inputResponses } = context.mcpReq;
      const kinds = ['user_name', 'greeting', 'client_roots'].map(
        (key) => inputResponse(inputResponses, key).kind,
      );
      if (kinds.join() === 'elicit,sampling,roots') return text('all three');
      const requests = {
        user_name: USER_NAME,
        greeting: sample('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      };
      return ask(requests, await fixtureStates.mint({ step: 'several' }, context));
    },
  },
  test_input_required_result_multi_round: {
    run: async (_args, context) => {
      const { inputResponses } = context.mcpReq;
      const state = context.mcpReq.requestState<{ step: string; name?: string }>();
      const name = acceptedContent(inputResponses, 'step1', z.object({ name: z.string() }));
      const color = acceptedContent(inputResponses, 'step2', z.object({ color: z.string() }));
      if (state?.step === 'two' && color !== undefined) {
        return text(`${state.name} likes ${color.color}`);
      }
      if (state?.step === 'one' && name !== undefined) {
        const step2 = form('Step 2: What is your favorite color?', 'color');
        const next = { step: 'two', name: name.name };
        return ask({ step2 }, await fixtureStates.mint(next, context));
      }
      const step1 = form('Step 1: What is your name?', 'name');
      return ask({ step1 }, await fixtureStates.mint({ step: 'one' }, context));
    },
  },
  test_input_required_result_capabilities: {
    run: async (_args, context) => {
      if (context.mcpReq.inputResponses !== undefined) return text('ok');
      const { elicitation, sampling, roots } = capabilitiesOf(context);
      const requests = {
        ...(elicitation !== undefined && { form: USER_NAME }),
        ...(sampling !== undefined && { sample: sample('Say something', 5) }),
        ...(roots !== undefined && { roots: inputRequired.listRoots() }),
      };
      return ask(requests, await fixtureStates.mint({ step: 'capabilities' }, context));
    },
  },
};
