// What a person types at `checkpoint talk`, as intents. Small on purpose: an assistant understands more.
// Knows no store and no workflow; what is not a phrase of its own is an answer to a step.

/** What was meant. */
export type Said =
  | { readonly kind: 'start'; readonly procedure: string; readonly asset: string }
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'blocked' }
  | {
      readonly kind: 'resolve';
      readonly decision: 'continue' | 'retake' | 'abandon';
      readonly reason: string;
    }
  | { readonly kind: 'hand_over'; readonly to: string }
  | { readonly kind: 'complete' }
  | { readonly kind: 'abandon'; readonly reason: string }
  | { readonly kind: 'where'; readonly asset?: string }
  | { readonly kind: 'mine' }
  | { readonly kind: 'procedures' }
  | { readonly kind: 'abilities' }
  | { readonly kind: 'again' }
  | { readonly kind: 'help' }
  | { readonly kind: 'quit' }
  | { readonly kind: 'nothing' }
  /** A phrase that lacks something. */
  | { readonly kind: 'unclear'; readonly hint: string }
  | { readonly kind: 'answer'; readonly text: string };

/** The grammar as it is shown by `help`. */
export const GRAMMAR: readonly (readonly [phrase: string, meaning: string])[] = [
  ['start pump-inspection PUMP-07', 'start a procedure on an asset, or: start … on …'],
  ['suction_pressure 2.1', 'answer a step by name: a number with or without unit, a choice,'],
  ['', 'your own words, or yes and no'],
  ['2.1 bar', 'answer the next step'],
  ['yes, no', 'answer the question that was just asked, or the next step'],
  ['where am I', 'where the work stands (also: what is next)'],
  ['where am I on PUMP-07', 'look at an asset, and talk about that work from now on'],
  ['mine', 'my active work'],
  ['hand over to ben', 'give the work to somebody else'],
  ['complete', 'end the work when every step is done'],
  ['abandon because …', 'end it early'],
  ['blocked', 'what waits for a supervisor'],
  ['resolve continue because …', 'decide about it: continue, retake or abandon'],
  ['procedures, what can I do', 'what there is'],
  ['again', 'say the last thing once more, as the same request'],
  ['help, quit', ''],
];

type Rule = readonly [RegExp, (groups: readonly string[]) => Said];

const RULES: readonly Rule[] = [
  [/^$/, () => ({ kind: 'nothing' })],
  [
    /^start (.+?) on (.+)$/i,
    ([procedure = '', asset = '']) => ({ kind: 'start', procedure, asset }),
  ],
  [/^start (.+) (\S+)$/i, ([procedure = '', asset = '']) => ({ kind: 'start', procedure, asset })],
  [/^start\b/i, () => unclear('say: start PROCEDURE ASSET')],
  [/^(?:yes|y|yes please|that is right)$/i, () => ({ kind: 'yes' })],
  [/^(?:no|n|no thanks)$/i, () => ({ kind: 'no' })],
  [/^(?:blocked|what is blocked)$/i, () => ({ kind: 'blocked' })],
  [
    /^resolve (continue|retake|abandon) because (.+)$/i,
    ([decision = '', reason = '']) => ({
      kind: 'resolve',
      decision: decision.toLowerCase() as 'continue' | 'retake' | 'abandon',
      reason,
    }),
  ],
  [/^resolve\b/i, () => unclear('say: resolve continue because …, or retake, or abandon')],
  [/^hand (?:it )?over to (.+)$/i, ([to = '']) => ({ kind: 'hand_over', to })],
  [/^hand (?:it )?over\b/i, () => unclear('say: hand over to NAME')],
  [/^(?:complete|finish)(?: it)?$/i, () => ({ kind: 'complete' })],
  [/^abandon(?: it)? because (.+)$/i, ([reason = '']) => ({ kind: 'abandon', reason })],
  [/^abandon\b/i, () => unclear('say: abandon because …')],
  [/^where am i(?: on (.+))?$/i, ([asset]) => where(asset)],
  [/^(?:what is next|next|status)$/i, () => where(undefined)],
  [/^(?:mine|what am i working on)$/i, () => ({ kind: 'mine' })],
  [/^procedures$/i, () => ({ kind: 'procedures' })],
  [/^what can i (?:do|say)$/i, () => ({ kind: 'abilities' })],
  [/^again$/i, () => ({ kind: 'again' })],
  [/^(?:help|\?)$/i, () => ({ kind: 'help' })],
  [/^(?:quit|exit|bye)$/i, () => ({ kind: 'quit' })],
];

/** Reads one line. */
export function understand(line: string): Said {
  const text = line.replace(/[\p{C}\s]+/gu, ' ').trim();
  const bare = text.replace(/[.!?]+$/u, '').trim();
  for (const [pattern, meaning] of RULES) {
    const match = pattern.exec(bare);
    if (match !== null) return meaning(match.slice(1));
  }
  return { kind: 'answer', text };
}

function where(asset: string | undefined): Said {
  return asset === undefined ? { kind: 'where' } : { kind: 'where', asset };
}

function unclear(hint: string): Said {
  return { kind: 'unclear', hint };
}
