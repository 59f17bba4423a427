// From what was typed for a step to the arguments of `record_step`: which step, and which kind of answer.

/** What is known of a step. */
export interface KnownStep {
  readonly step: string;
  readonly title: string;
  readonly kind: 'confirm' | 'reading' | 'choice' | 'text';
}

/** Arguments of `record_step`, apart from the workflow. */
export type StepAnswer = { readonly step: string } & { readonly [argument: string]: unknown };

/**
 * Reads an answer. A text that begins with the name or title of a step is for that step, any other
 * for the next one. Undefined where it is for none.
 */
export function stepAnswer(
  text: string,
  steps: readonly KnownStep[],
  next: string | undefined,
): StepAnswer | undefined {
  const words = text.split(' ');
  // The longest beginning that is a name counts: "pressure" and "pressure after" may both be steps.
  for (let length = words.length; length > 0; length--) {
    const name = folded(words.slice(0, length).join(' '));
    const step = steps.find(({ step: id, title }) => [id, title].some((n) => folded(n) === name));
    if (step !== undefined) return answerTo(step, words.slice(length).join(' '));
  }
  const step = steps.find((other) => other.step === next);
  return step === undefined ? undefined : answerTo(step, text);
}

function answerTo(step: KnownStep, said: string): StepAnswer {
  return { step: step.step, ...argumentOf(step, said) };
}

/** A step is found by its id and by its title, however it is typed. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[_-]+/gu, ' ').replace(/:$/u, '').trim();
}

function argumentOf({ kind }: KnownStep, said: string): { readonly [name: string]: unknown } {
  if (said === '') return {};
  switch (kind) {
    case 'reading': {
      const match = /^([+-]?\d+(?:[.,]\d+)?)\s*(.*)$/u.exec(said);
      if (match === null) return { text: said };
      const [, number = '', unit = ''] = match;
      const reading = Number(number.replace(',', '.'));
      return unit === '' ? { reading } : { reading, unit };
    }
    case 'choice':
      return { choice: said };
    case 'confirm':
      if (/^(?:yes|y|ok|okay|done|confirmed|true)[.!]?$/iu.test(said)) return { confirmed: true };
      if (/^(?:no|n|false|not done)[.!]?$/iu.test(said)) return { confirmed: false };
      return { text: said };
    case 'text':
      return { text: said };
  }
}
