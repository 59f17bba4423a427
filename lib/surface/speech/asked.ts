// What is said when nothing is written before the person answers: read-backs and choices.
import type { CommandType } from '../../core/model/workflow.ts';
import type { Refusal } from '../../core/outcome.ts';
import type { Lexicon } from './lexicon.ts';
import { counted, listed, phrase, say, spokenNumber } from './words.ts';

type NeedsConfirmation = Extract<Refusal, { code: 'NEEDS_CONFIRMATION' }>;
type Ambiguous = Extract<Refusal, { code: 'AMBIGUOUS' }>;

/** Reads back what was understood and asks; `asked` is the command that needs the answer. */
export function speakNeedsConfirmation(
  lexicon: Lexicon,
  outcome: NeedsConfirmation,
  asked: CommandType | undefined,
): string {
  const { workflow: view, step: id = '', heard, original, limit, message } = outcome;
  const step = lexicon.step(view, id);
  const value = lexicon.value(view, id, heard, original);
  const pause = original === undefined ? '' : ',';
  const read = value === undefined ? step : `${value}${pause} for ${step}`;
  const right = 'is that right?';
  switch (outcome.reason) {
    case 'out_of_bounds':
      return limit === undefined
        ? say(`I heard ${read}, which is beyond the limit`, right)
        : say(`I heard ${read}; the limit is ${spokenNumber(limit)}`, right);
    case 'rule_broken':
      return say(`I heard ${read}, but ${phrase(message ?? 'that does not fit')}`, right);
    case 'not_confirmed':
    case 'deviating_choice':
      return say(`I heard ${read}, which is a deviation`, right);
    case 'already_recorded': {
      const recorded = lexicon.value(view, id, outcome.recorded);
      const known = `${step} is already recorded${recorded === undefined ? '' : ` as ${recorded}`}`;
      return value === undefined
        ? say(known, 'should I replace it?')
        : say(`${known}, and I heard ${value}`, 'should I replace it?');
    }
    case 'was_skipped':
      return value === undefined
        ? say(`${step} was skipped`, 'should I record it now?')
        : say(`${step} was skipped, and I heard ${value}`, 'should I record it?');
    case 'already_skipped':
      return say(`${step} is already skipped`, 'should I change the reason?');
    case 'second_person':
      return say(
        `${outcome.by === undefined ? 'somebody else' : phrase(outcome.by, 64)} recorded ${read}`,
        'do you confirm it as second person?',
      );
    case 'ends_assignment':
      return say(ending(lexicon, outcome, asked), right);
  }
}

function ending(
  lexicon: Lexicon,
  { workflow: view, to }: NeedsConfirmation,
  asked: CommandType | undefined,
): string {
  const work = `${lexicon.work(view)}, which is with ${phrase(view.holder, 64)}`;
  if (asked === 'hand_over') {
    return `you want to hand over ${work}${to === undefined ? '' : `, to ${phrase(to, 64)}`}`;
  }
  const progress = `${view.done} of ${counted(view.required, 'required step')}`;
  if (asked === 'abandon_workflow') return `you want to end ${work}, after ${progress}`;
  return `this ends the assignment of ${work}`;
}

/** Offers the candidates, at most five; never picks one. */
export function speakAmbiguous(lexicon: Lexicon, outcome: Ambiguous): string {
  if (outcome.about === 'person') {
    const name = phrase(outcome.people?.[0]?.name ?? 'that name', 64);
    return say(
      `I know ${counted(outcome.total, 'person', 'people')} called ${name}`,
      'which account should it be?',
    );
  }
  const works = outcome.choices.map((choice) => lexicon.work(choice));
  if (works.length === 0) {
    return say('you have no active work', 'name a procedure and an asset, and I will start it');
  }
  if (works.length === 1 && outcome.total === 1) return say(`do you mean ${listed(works)}?`);
  return say(
    `you have ${outcome.total} active: ${listed(works, 'and', outcome.total)}`,
    'which one do you mean?',
  );
}
