// What is said when a command took effect, now or when it was first sent.
import type { CommandType, ReceiptResult } from '../../core/model/workflow.ts';
import type { Committed } from '../../core/outcome.ts';
import type { Lexicon } from './lexicon.ts';
import { nextSentence } from './next.ts';
import { counted, phrase, say, type Sentence } from './words.ts';

/** The sentences for a committed command; a duplicate says that it was already done. */
export function speakCommitted(lexicon: Lexicon, outcome: Committed, asked?: CommandType): string {
  const { receipt, workflow: view, duplicate } = outcome;
  const work = lexicon.work(view);
  if (asked === 'hand_over' && receipt.command !== 'hand_over') {
    return say(`${work} is already with ${phrase(view.holder, 64)}`);
  }
  const stands = view.steps.find(({ step }) => step === receipt.step)?.status;
  const what = (): string =>
    receipt.step === undefined
      ? work
      : lexicon.record(view, receipt.step, receipt.value, receipt.original);
  const title = (): string =>
    receipt.step === undefined ? work : lexicon.step(view, receipt.step);
  const done = (words: string): string => (duplicate ? `already ${words}` : words);
  const sentences: { readonly [R in ReceiptResult]: () => readonly Sentence[] } = {
    started: () => [
      done(`started, ${work}`),
      nextSentence(lexicon, view, duplicate ? 'next is' : 'first is'),
    ],
    recorded: () => [done(`recorded, ${what()}`), nextSentence(lexicon, view)],
    recorded_with_warning: () => [
      done(`recorded, ${what()}, which is outside the usual range`),
      nextSentence(lexicon, view),
    ],
    awaiting_second_person: () => [
      done(
        stands === 'awaiting_second'
          ? `recorded, ${what()}; another person has to confirm it`
          : `recorded, ${what()}`,
      ),
      afterWaiting(lexicon, outcome),
    ],
    confirmed: () => [done(`confirmed, ${what()}`), nextSentence(lexicon, view)],
    skipped: () => [done(`skipped, ${title()}`), nextSentence(lexicon, view)],
    deviation_recorded: () => [
      done(`recorded as a deviation, ${what()}`),
      nextSentence(lexicon, view),
    ],
    retake_required: () => [
      done(`noted, ${what()}${stands === 'retake' ? '; it has to be repeated' : ''}`),
      nextSentence(lexicon, view),
    ],
    blocked: () => [
      done(`recorded, ${what()}`),
      view.state === 'BLOCKED'
        ? `${work} is blocked until a supervisor decides`
        : nextSentence(lexicon, view),
    ],
    continued: () => [
      done(view.state === 'BLOCKED' ? `${work} has its asset again` : `released, ${work} goes on`),
      nextSentence(lexicon, view),
    ],
    approved: () => [done(`approved, ${work} goes on`), nextSentence(lexicon, view)],
    denied: () => [done(`denied, ${work}`), nextSentence(lexicon, view)],
    reopened: () => [done(`released, ${title()} has to be repeated`), nextSentence(lexicon, view)],
    handed_over: () => [`${done(`handed over, ${work}`)}${receiver(outcome)}`],
    completed: () => [
      done(`completed, ${work}`),
      `${counted(view.done, 'required step')} ${view.done === 1 ? 'is' : 'are'} on record`,
    ],
    abandoned: () => [done(`ended early, ${work}`), 'what was recorded stays on record'],
  };
  return say(...sentences[receipt.result]());
}

/** The step that waits was just named, so only another one is worth a second sentence. */
function afterWaiting(lexicon: Lexicon, { workflow: view, receipt }: Committed): Sentence {
  const same = view.next?.awaiting_second === true && view.next.step === receipt.step;
  return same ? undefined : nextSentence(lexicon, view);
}

function receiver({ receipt }: Committed): string {
  return receipt.to_name === undefined ? '' : `, to ${phrase(receipt.to_name, 64)}`;
}
