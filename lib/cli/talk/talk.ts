// `checkpoint talk`: a prompt for one person. In process on the data folder, or against a server.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Settings } from '../../settings.ts';
import { localTools, openLocal } from '../../wiring/local.ts';
import { CliProblem } from '../failure.ts';
import { signToken, type TokenOptions } from '../token.ts';
import { wrapped } from '../text.ts';
import { createConversation, type CallTool, type Conversation } from './conversation.ts';

/** Where lines come from; `echo` is set where a person types them. */
export interface LineInput {
  readonly stream: NodeJS.ReadableStream;
  readonly echo?: NodeJS.WritableStream;
}

/** Who talks, and to what. */
export interface TalkOptions extends TokenOptions {
  /** URL of the MCP endpoint of a running server; the data folder itself where left out. */
  readonly url?: string;
  /** A token for that server; one of the development issuer where left out. */
  readonly token?: string;
}

interface Partner {
  readonly name: string;
  readonly call: CallTool;
  close(): Promise<void>;
}

/** Talks until the input ends or the person quits. */
export async function talk(
  settings: Settings,
  options: TalkOptions,
  input: LineInput,
  out: (text: string) => void,
): Promise<void> {
  const partner = await (options.url === undefined
    ? inProcess(settings, options)
    : overMcp(settings, options, options.url));
  try {
    const conversation = createConversation(partner.call, randomUUID);
    if (input.echo !== undefined) out('Say help to see what works here, quit to end.');
    await listen(conversation, partner.name, input, out);
  } finally {
    await partner.close();
  }
}

async function listen(
  conversation: Conversation,
  name: string,
  { stream, echo }: LineInput,
  out: (text: string) => void,
): Promise<void> {
  const reader = createInterface({
    input: stream,
    ...(echo !== undefined && { output: echo, prompt: `${name}> ` }),
  });
  const prompt = (): void => {
    if (echo !== undefined) reader.prompt();
  };
  prompt();
  for await (const line of reader) {
    const { lines, over } = await conversation.hear(line);
    for (const each of lines) {
      for (const part of each.startsWith(' ') ? [each] : wrapped(each)) out(part);
    }
    if (over) break;
    prompt();
  }
  reader.close();
}

/** The tools of a server without the server: the same checks and the same words. */
async function inProcess(settings: Settings, options: TalkOptions): Promise<Partner> {
  if (options.token !== undefined) throw new CliProblem('--token needs --url.');
  const token = await signToken(settings, options);
  const local = await openLocal(settings);
  try {
    const tools = await localTools(settings, local, token);
    return {
      name: tools.principal.name,
      call: (tool, args) => tools.call(tool, args),
      close: () => local.close(),
    };
  } catch (error) {
    await local.close();
    throw error;
  }
}

async function overMcp(settings: Settings, options: TalkOptions, url: string): Promise<Partner> {
  const token = options.token ?? (await signToken(settings, options));
  const name = options.name ?? options.subject ?? 'me';
  const lost = (cause: unknown): CliProblem =>
    new CliProblem(`${url} did not answer: check --url, the token, and that the server runs.`, {
      cause,
    });
  // Loaded only here: an MCP client takes longer to load than anything else.
  const { connectAssistant } = await import('../demo/assistant.ts');
  try {
    const assistant = await connectAssistant(name, url, token);
    const call: CallTool = (tool, args) =>
      assistant.call(tool, args).catch((error: unknown) => {
        throw lost(error);
      });
    return { name, call, close: () => assistant.close() };
  } catch (error) {
    throw lost(error);
  }
}
