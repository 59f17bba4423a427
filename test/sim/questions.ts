// Questions of a history and what comes back to them. Q: a yes counts once, for the person, the call, the
// occasion and the time it was asked in; everything else that comes back writes nothing.
import fc from 'fast-check';
import { occasionOf } from '../../lib/core/confirmation.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { EventBody, Receipt } from '../../lib/core/model/workflow.ts';
import type { Back } from './asking-client.ts';

/** Ways to come back to a question; the last four are none that anybody was asked for. */
export const WAYS = [
  'yes',
  'no',
  'decline',
  'cancel',
  'altered',
  'of another call',
  'of another person',
  'late',
] as const;
/** One of them. */
export type Way = (typeof WAYS)[number];

/** Moves with questions; numbers pick from what exists when it is played. */
export type QuestionMove =
  | {
      readonly do: 'ask';
      readonly who: number;
      readonly workflow: number;
      readonly step: number;
      readonly input: number;
      readonly what:
        'record' | 'witness' | 'hand_over' | 'hand_over to a name' | 'abandon' | 'complete';
      readonly bare: boolean;
      readonly keyed: boolean;
    }
  | { readonly do: 'answer'; readonly which: number; readonly way: Way; readonly n: number };

const small = fc.noBias(fc.nat(59));

/** Calls of a client that can be asked. */
export const asks: fc.Arbitrary<QuestionMove> = fc.record({
  do: fc.constant('ask' as const),
  who: small,
  workflow: small,
  step: small,
  input: small,
  what: fc.constantFrom(
    'record',
    'record',
    'record',
    'witness',
    'hand_over',
    'hand_over to a name',
    'hand_over to a name',
    'abandon',
    'complete',
  ),
  bare: fc.boolean(),
  keyed: fc.boolean(),
});

/** Answers: as many that take effect as those that must not. */
export const answers: fc.Arbitrary<QuestionMove> = fc.record({
  do: fc.constant('answer' as const),
  which: small,
  way: fc.oneof(
    { weight: 6, arbitrary: fc.constant('yes' as const) },
    { weight: 5, arbitrary: fc.constantFrom(...WAYS.slice(1, -1)) },
    { weight: 1, arbitrary: fc.constant('late' as const) },
  ),
  n: small,
});

/** A question that was asked, with the call it is about. */
export interface Question {
  readonly principal: Principal;
  readonly command: Command;
  readonly state: string;
  readonly options: readonly string[];
  /** The receipt of a yes. */
  receipt: Receipt | undefined;
}

/** What a question is about. */
export function subjectOf({ state }: Question): string {
  return occasionOf(state)?.question ?? 'nothing';
}

/** What the client sends back. */
export function back(question: Question, way: Way, n: number): Back {
  const { state, options } = question;
  if (way === 'decline' || way === 'cancel') return { state, reply: { action: way } };
  const about = subjectOf(question);
  const option = options[n % Math.max(1, options.length)];
  const content =
    about === 'workflow'
      ? { workflow_id: option }
      : about === 'person'
        ? // The first of two who are called the same is one of those who play.
          { to: options[0] }
        : { confirm: way !== 'no' };
  return {
    state: way === 'altered' ? altered(state, n) : state,
    // Who chooses among several has no other no than turning away.
    reply:
      way === 'no' && options.length > 0 ? { action: 'decline' } : { action: 'accept', content },
  };
}

/** A state that nobody signed: another occasion, another MAC, or a part of it. */
function altered(state: string, n: number): string {
  const [version = '', payload = '', mac = ''] = state.split('.');
  if (n % 3 === 0) return [version, payload, mac.slice(0, -1)].join('.');
  if (n % 3 === 1)
    return [version, payload, `${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`].join('.');
  const said = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown[];
  // A later end, and the occasion after.
  const forged = said.map((part, i) => (i === 1 || i === 3 ? Number(part) + 1 : part));
  const again = Buffer.from(JSON.stringify(forged), 'utf8').toString('base64url');
  return [version, again, mac].join('.');
}

/** Whether two calls are about the same, as far as a question of one person is bound to it. */
export function sameCall(a: Question, b: Question): boolean {
  const content = ({ command }: Question): string => {
    const { step, input, to, reason } = command as {
      readonly [part in 'step' | 'input' | 'to' | 'reason']?: unknown;
    };
    const type = command.type === 'correct_step' ? 'record_step' : command.type;
    return JSON.stringify([type, step, input, to, reason]);
  };
  return content(a) === content(b);
}

/** What a written yes has to stand for; the faults of it, none where it does. */
export function strayed(
  question: Question,
  { reply }: Back,
  receipt: Receipt,
  { data }: EventBody,
): readonly string[] {
  const said = occasionOf(question.state);
  const { command } = question;
  const chosen = reply.content as { workflow_id?: string } | undefined;
  const must: Record<string, readonly [unknown, unknown]> = {
    ...('step' in command && { step: [receipt.step, command.step] }),
    workflow: [
      receipt.workflow,
      said?.question === 'workflow' ? chosen?.workflow_id : said?.workflow,
    ],
    ...(said?.question === 'replace' && { replaces: [data['replaces'], said.basis] }),
    ...(said?.question === 'value' &&
      said.replaces !== undefined && { replaces: [data['replaces'], said.replaces] }),
    ...(said?.question === 'witness' && { confirms: [data['confirms'], said.basis] }),
    ...(said?.question === 'end' && { tenure: [data['tenure'], said.basis] }),
  };
  return Object.entries(must).flatMap(([name, [is, should]]) => (is === should ? [] : [name]));
}
