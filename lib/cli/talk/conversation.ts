// One person's conversation: what was asked last, which work is meant, what a yes would confirm.
// Talks to tools by their names, in this process or over MCP; decides nothing about procedures.
import { understand, GRAMMAR, type Said } from './grammar.ts';
import { stepAnswer, type KnownStep } from './step-answer.ts';

/** What a tool answered. */
export interface ToolAnswer {
  readonly text: string;
  readonly fields: { readonly [name: string]: unknown };
}

type Arguments = { readonly [name: string]: unknown };

/** Calls a tool for the person. */
export type CallTool = (tool: string, args: Arguments) => Promise<ToolAnswer>;

/** What is said back; `over` ends the conversation. */
export interface Reply {
  readonly lines: readonly string[];
  readonly over: boolean;
}

/** A conversation that remembers what was said. */
export interface Conversation {
  hear(line: string): Promise<Reply>;
}

interface Call {
  readonly tool: string;
  readonly args: Arguments;
}

/** What an answer gives back so that a yes can be sent. */
const GIVEN_BACK = ['confirmation_token', 'replaces', 'confirms', 'tenure', 'to'] as const;

/** Begins a conversation; `newKey` makes an idempotency key for each new request. */
export function createConversation(call: CallTool, newKey: () => string): Conversation {
  /** The work that is talked about. */
  let workflow: string | undefined;
  let block: number | undefined;
  let next: NextStep | undefined;
  let last: Call | undefined;
  /** What a yes would send. */
  let question: Call | undefined;
  /** What a chosen work would be put into. */
  let open: { readonly call: Call; readonly choices: readonly Choice[] } | undefined;

  const ask = async (request: Call): Promise<readonly string[]> => {
    const answer = await call(request.tool, request.args);
    last = request;
    question = undefined;
    open = undefined;
    remember(request, answer.fields);
    return [answer.text, ...choicesOf(open)];
  };

  const remember = (request: Call, fields: ToolAnswer['fields']): void => {
    const works = fields['workflows'] as readonly Work[] | undefined;
    // One entry of a list is talked about from now on; among several, one has to be named.
    const only = works?.length === 1 ? works[0] : undefined;
    const id = fields['workflow_id'] ?? only?.workflow_id;
    if (typeof id === 'string') {
      const work = (fields['workflow'] as Work | undefined) ?? only;
      workflow = id;
      block = work?.block?.seq;
      next = (fields['next_step'] ?? only?.next_step) as NextStep | undefined;
      if (work?.state === 'COMPLETED') workflow = undefined;
    }
    if (fields['code'] === 'NEEDS_CONFIRMATION') {
      const given = GIVEN_BACK.filter((name) => fields[name] !== undefined);
      const back = Object.fromEntries(given.map((name) => [name, fields[name]]));
      question = { tool: request.tool, args: { ...request.args, workflow_id: id, ...back } };
    }
    if (fields['code'] === 'AMBIGUOUS') {
      open = { call: request, choices: (fields['choices'] ?? []) as readonly Choice[] };
    }
  };

  const request = (tool: string, args: Arguments): Promise<readonly string[]> => {
    const named = workflow === undefined ? {} : { workflow_id: workflow };
    return ask({ tool, args: { ...named, ...args, idempotency_key: newKey() } });
  };

  const look = (tool: string, args: Arguments = {}) => ask({ tool, args });

  /** An answer to a step, or to the question which work is meant. */
  const answer = async (text: string): Promise<readonly string[]> => {
    const chosen = open === undefined ? undefined : choose(text, open.choices);
    if (open !== undefined && chosen !== undefined) return choice(open.call, chosen);
    const known = await steps();
    const args = stepAnswer(text, known, next?.step);
    if (args === undefined) return [NOT_UNDERSTOOD];
    // A step that has to be repeated was announced as such, so its answer takes the old one's place.
    const repeats = next?.step === args.step ? next.replaces : undefined;
    return request('record_step', { ...args, ...(repeats !== undefined && { replaces: repeats }) });
  };

  const choice = ({ tool, args }: Call, chosen: Choice): Promise<readonly string[]> => {
    const meant =
      chosen.workflow_id === undefined
        ? { to: chosen.subject }
        : { workflow_id: chosen.workflow_id };
    return ask({ tool, args: { ...args, ...meant } });
  };

  /** The steps of the work that is talked about; of the only active one where none is. */
  const steps = async (): Promise<readonly KnownStep[]> => {
    const which = workflow === undefined ? {} : { workflow_id: workflow };
    const { fields } = await call('get_workflow', which);
    if (fields['code'] === 'OK') remember({ tool: 'get_workflow', args: which }, fields);
    return (fields['steps'] ?? []) as readonly KnownStep[];
  };

  const start = async (procedure: string, asset: string): Promise<readonly string[]> => {
    const { fields } = await call('list_procedures', {});
    const all = (fields['procedures'] ?? []) as readonly { procedure: string; title: string }[];
    const fold = (name: string): string => name.toLowerCase().replace(/[\s_-]+/gu, ' ');
    const found = all.find(({ procedure: id, title }) =>
      [id, title].some((name) => fold(name) === fold(procedure)),
    );
    const args = { procedure: found?.procedure ?? procedure, asset, idempotency_key: newKey() };
    return ask({ tool: 'start_workflow', args });
  };

  const affirm = async (): Promise<readonly string[]> => {
    if (question !== undefined) return ask(question);
    const only = open?.choices.length === 1 ? open.choices[0] : undefined;
    if (open !== undefined && only !== undefined) return choice(open.call, only);
    return answer('yes');
  };

  const deny = async (): Promise<readonly string[]> => {
    if (question === undefined && open === undefined) return answer('no');
    question = undefined;
    open = undefined;
    return ['All right, I left it as it is.'];
  };

  const resolve = async (decision: string, reason: string): Promise<readonly string[]> => {
    if (block === undefined) {
      const lines = await look('list_blocked');
      if (block === undefined) return lines;
    }
    return request('resolve_block', { block, decision, reason });
  };

  const respond = async (said: Said): Promise<readonly string[]> => {
    switch (said.kind) {
      case 'start':
        return start(said.procedure, said.asset);
      case 'yes':
        return affirm();
      case 'no':
        return deny();
      case 'blocked':
        return look('list_blocked');
      case 'resolve':
        return resolve(said.decision, said.reason);
      case 'hand_over':
        return request('hand_over', { to: said.to });
      case 'complete':
        return request('complete_workflow', {});
      case 'abandon':
        return request('abandon_workflow', { reason: said.reason });
      case 'where':
        if (said.asset !== undefined) return look('get_workflow', { asset: said.asset });
        return look('get_workflow', workflow === undefined ? {} : { workflow_id: workflow });
      case 'mine':
        return look('list_my_workflows');
      case 'procedures':
        return look('list_procedures');
      case 'abilities':
        return look('what_can_i_do');
      case 'again':
        return last === undefined ? ['There is nothing to repeat yet.'] : ask(last);
      case 'help':
        return GRAMMAR.map(([phrase, meaning]) => `  ${phrase.padEnd(32)}${meaning}`.trimEnd());
      case 'unclear':
        return [said.hint];
      case 'answer':
        return answer(said.text);
      case 'quit':
      case 'nothing':
        return [];
    }
  };

  return {
    hear: async (line) => {
      const said = understand(line);
      return { lines: await respond(said), over: said.kind === 'quit' };
    },
  };
}

/** Choices that are known by more than their text, to be picked by number. */
function choicesOf(open: { readonly choices: readonly Choice[] } | undefined): readonly string[] {
  const choices = open?.choices ?? [];
  if (choices.length < 2) return [];
  return choices.map(
    ({ title, asset, name, subject }, i) =>
      `  ${i + 1}  ${[title, asset, name, subject].filter((part) => part !== undefined).join(', ')}`,
  );
}

const NOT_UNDERSTOOD = 'I did not understand that; say help to see what works here.';

interface NextStep extends KnownStep {
  readonly replaces?: number;
}

interface Work {
  readonly workflow_id?: string;
  readonly state?: string;
  readonly block?: { readonly seq: number };
  readonly next_step?: NextStep;
}

interface Choice {
  readonly workflow_id?: string;
  readonly asset?: string;
  readonly title?: string;
  readonly subject?: string;
  readonly name?: string;
}

/** By number, or by asset, title or account. */
function choose(text: string, choices: readonly Choice[]): Choice | undefined {
  const number = /^[1-9]$/.test(text) ? choices[Number(text) - 1] : undefined;
  const wanted = text.toLowerCase();
  const named = choices.filter(({ asset, title, subject }) =>
    [asset, title, subject].some((name) => name?.toLowerCase() === wanted),
  );
  return number ?? (named.length === 1 ? named[0] : undefined);
}
