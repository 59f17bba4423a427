// Arguments that do not fit, in words: which one, and what was expected there.
import type { InputFault } from '../../core/input-fault.ts';
import { phrase, say } from './words.ts';

/** What an argument is called when spoken. One that is not listed is never named. */
const NOUNS: { readonly [argument: string]: string } = {
  workflow_id: 'the work you mean',
  procedure: 'the procedure',
  asset: 'the asset',
  step: 'the step',
  reading: 'the reading',
  spoken_reading: 'the reading',
  unit: 'the unit',
  choice: 'the choice',
  text: 'the text',
  confirmed: 'the answer',
  decision: 'the decision',
  reason: 'the reason',
  skip_reason: 'the reason',
  to: 'the person',
  block: 'the block',
};

/** How another kind of answer is asked for, in place of the name of an argument. */
const KINDS: { readonly [argument: string]: string } = {
  reading: 'I need a number',
  choice: 'I need one of its choices',
  text: 'I need your own words',
  confirmed: 'I need a yes or a no',
};

/** One sentence about the first fault, and what to do; the others are in the structured answer. */
export function speakFaults(faults: readonly InputFault[]): string {
  const fault = faults[0];
  const argument = fault?.path.split('/')[1] ?? '';
  const noun = Object.hasOwn(NOUNS, argument) ? NOUNS[argument] : undefined;
  if (fault === undefined || noun === undefined) {
    return say('I could not use that request', 'please say it again in other words');
  }
  if (argument === 'step') return say('I could not tell which step that is', 'ask what comes next');
  if (fault.message === 'required') return say(`I still need ${noun}`);
  const kind = /^(.*): expected the argument (\w+)$/u.exec(fault.message);
  if (kind !== null) {
    return say(`${phrase(kind[1] ?? '')}: ${KINDS[kind[2] ?? ''] ?? 'I need another answer'}`);
  }
  const number = /^expected one number in (.+) for (.+)$/u.exec(fault.message);
  if (number !== null) {
    return say(
      'I could not understand that as one number',
      `what is the value for ${phrase(number[2] ?? '')}, in ${phrase(number[1] ?? '')}?`,
    );
  }
  const unit = argument === 'unit' ? /\((.+)\)$/u.exec(fault.message)?.[1] : undefined;
  if (unit !== undefined) return say('that is not the unit of this step', `I need ${phrase(unit)}`);
  return say(`${noun} does not fit: ${phrase(fault.message, 300)}`, 'please say it again');
}
