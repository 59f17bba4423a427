// What comes next in a workflow, as one sentence: the step, its unit and what is expected.
import type { NextStep, WorkflowView } from '../../core/view.ts';
import type { Lexicon } from './lexicon.ts';
import { listed, phrase, spokenNumber, type Sentence } from './words.ts';

/** How the workflow goes on; undefined once it has ended. */
export function nextSentence(
  lexicon: Pick<Lexicon, 'due'>,
  view: WorkflowView,
  lead = 'next is',
): Sentence {
  const { next, block } = view;
  if (view.state === 'COMPLETED') return undefined;
  if (block !== undefined) {
    const decides =
      block.proposal === undefined
        ? 'a supervisor has to decide'
        : 'somebody who took no part may approve that it goes on';
    return `it is blocked because ${phrase(block.message)}; ${decides}`;
  }
  if (next === undefined) {
    return view.ready_to_complete ? 'all steps are done; you can complete it now' : undefined;
  }
  const due = next.due_at === undefined ? '' : `; it ${lexicon.due(next.due_at)}`;
  if (next.awaiting_second) {
    return `${phrase(next.title)} still needs another person to confirm it${due}`;
  }
  const step = stepSentence(next, next.replaces === undefined ? lead : 'please repeat');
  const end = view.ready_to_complete ? '; or complete it now' : '';
  const last = lastTime(next);
  const ways = last === undefined ? [] : [`${step}; ${last}${due}${end}`];
  return [...ways, `${step}${due}${end}`, `${step}${end}`];
}

function stepSentence(next: NextStep, lead: string): string {
  const title = `${phrase(next.title)}${next.optional ? ', which is optional' : ''}`;
  switch (next.kind) {
    case 'reading':
      return `${lead} ${title}, in ${phrase(next.unit_spoken ?? 'plain numbers')}${expected(next)}`;
    case 'choice':
      return `${lead} ${title}: ${listed(
        (next.options ?? []).map((o) => phrase(o.title)),
        'or',
      )}`;
    case 'confirm':
      return `${lead} ${title}; answer yes or no`;
    case 'text':
      return `${lead} ${title}, in your own words`;
  }
}

/** What was recorded last time, where it says more than yes or no. */
function lastTime({ kind, last, options = [] }: NextStep): string | undefined {
  const value = last?.value;
  if (typeof value === 'number') return `last time ${spokenNumber(value)}`;
  if (kind !== 'choice') return undefined;
  const option = options.find(({ id }) => id === value);
  return option === undefined ? undefined : `last time ${phrase(option.title)}`;
}

function expected({ expected: range }: NextStep): string {
  if (range === undefined) return '';
  const [min, max] = [spokenNumber(range.min), spokenNumber(range.max)];
  return min === max ? `; expected ${min}` : `; expected between ${min} and ${max}`;
}
