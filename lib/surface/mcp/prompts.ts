// Prompts a person can pick: short requests that an assistant answers with the tools. They read
// nothing and change nothing; only what completes their arguments is looked up.
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LIMITS } from '../../core/limits.ts';
import { clean } from '../speech/words.ts';
import type { ToolCall, ToolKit } from './tool.ts';

interface Prompt {
  readonly listing: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly arguments: {
      readonly name: string;
      readonly title: string;
      readonly description: string;
      readonly required: false;
    }[];
  };
  readonly text: (args: { readonly asset?: string; readonly to?: string }) => string;
}

const asset = {
  name: 'asset',
  title: 'Asset',
  description: 'The asset whose work is meant; without it, all of your work.',
  required: false,
} as const;

const to = {
  name: 'to',
  title: 'Receiver',
  description: 'Name or account of the colleague who takes over.',
  required: false,
} as const;

const on = (name: string | undefined): string => (name === undefined ? '' : ` on ${name}`);

/** The prompts, in the order in which clients see them. */
export const PROMPTS: readonly Prompt[] = [
  {
    listing: {
      name: 'take_over_shift',
      title: 'Take over a shift',
      description: 'Hear what was handed over to you, where it stands and what comes next.',
      arguments: [asset],
    },
    text: (args) =>
      `I am taking over a shift. Look up the work${on(args.asset)} that is with me or was handed over to me. ` +
      'For each, say in a sentence or two where it stands, what was unusual, and what comes next. ' +
      'Change nothing before I say so.',
  },
  {
    listing: {
      name: 'prepare_handover',
      title: 'Prepare a handover',
      description: 'Sum up your work for a colleague, and hand it over once you agree.',
      arguments: [asset, to],
    },
    text: (args) =>
      `I want to hand over my work${on(args.asset)}${args.to === undefined ? '' : ` to ${args.to}`}. ` +
      'Look up where it stands, and tell me what is done, what is open and what was unusual. ' +
      'Ask me whether anything is missing. Hand it over only after I have clearly said yes.',
  },
];

/** The messages of a prompt with its arguments. */
export function promptMessages(name: string, args: { readonly [name: string]: string }) {
  const prompt = PROMPTS.find(({ listing }) => listing.name === name);
  if (prompt === undefined) throw invalid('There is no prompt of this name.');
  const known = prompt.listing.arguments.map((argument) => argument.name);
  const given: Record<string, string> = {};
  for (const [argument, value] of Object.entries(args)) {
    if (!known.includes(argument as 'asset' | 'to')) throw invalid('This argument is unknown.');
    const max = argument === 'to' ? LIMITS.subjectChars.max : LIMITS.assetChars.max;
    if ([...value].length > max) throw invalid(`An argument has at most ${max} characters.`);
    const text = clean(value, max);
    if (text !== '') given[argument] = text;
  }
  const { title, description } = prompt.listing;
  return {
    title,
    description,
    messages: [
      { role: 'user' as const, content: { type: 'text' as const, text: prompt.text(given) } },
    ],
  };
}

/** What completes an argument: assets and ids of the caller's own active work, or procedures. */
export async function complete(
  kit: ToolKit,
  ref: { readonly type: string; readonly name?: string; readonly uri?: string },
  argument: { readonly name: string; readonly value: string },
  { principal }: ToolCall,
) {
  const candidates = async (): Promise<readonly string[]> => {
    if (ref.type === 'ref/resource' && ref.uri === 'procedure://{id}') {
      return kit.registry.list().map(({ id }) => id);
    }
    const aboutWork = ref.type === 'ref/resource' && ref.uri?.startsWith('workflow://{id}');
    const prompt = PROMPTS.find(({ listing }) => listing.name === ref.name);
    if (aboutWork !== true && prompt === undefined) throw invalid('This reference is unknown.');
    if (argument.name !== (aboutWork === true ? 'id' : 'asset')) return [];
    const mine = await kit.queries.listMine(principal);
    if (mine.code !== 'FOUND') return [];
    return mine.value.workflows.map(({ workflow, asset: at }) =>
      aboutWork === true ? workflow : at,
    );
  };
  const begun = argument.value.toLowerCase();
  const found = (await candidates()).filter((value) => value.toLowerCase().startsWith(begun));
  const values = [...new Set(found)].slice(0, LIMITS.completions.max);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
