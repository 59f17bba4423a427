// What is said when a command was refused: why, and what helps. Nothing was written.
import type { CommandType } from '../../core/model/workflow.ts';
import type { Refusal } from '../../core/outcome.ts';
import { speakAmbiguous, speakNeedsConfirmation } from './asked.ts';
import { speakFaults } from './faults.ts';
import type { Lexicon } from './lexicon.ts';
import { nextSentence } from './next.ts';
import { speakForbidden, speakUndecidable } from './approvals.ts';
import { listed, phrase, say } from './words.ts';

type RefusalOf<C extends Refusal['code']> = Extract<Refusal, { code: C }>;

/** The sentences for a refusal. `asked` is the command that was refused, where there was one. */
export function speakRefusal(lexicon: Lexicon, refusal: Refusal, asked?: CommandType): string {
  switch (refusal.code) {
    case 'FORBIDDEN':
      return refusal.why === 'scope'
        ? say(
            'your account is not allowed to do that',
            'ask a supervisor, or whoever manages access',
          )
        : speakForbidden(refusal.why);
    case 'INVALID_ARGUMENT':
      return refusal.suggestions === undefined
        ? speakFaults(refusal.faults)
        : say('I know no asset of that name', didYouMean(refusal.suggestions));
    case 'BACKEND_UNAVAILABLE':
      if (!refusal.retryable) {
        return say(
          'something is wrong on my side, and nothing was recorded',
          'please tell whoever runs this service',
        );
      }
      return say(
        'I cannot reach the records right now',
        'please say it again in a moment; nothing is recorded twice',
      );
    case 'IDEMPOTENCY_CONFLICT':
      return say(
        'that request was already used for something else, so I changed nothing',
        'please say the whole thing again',
      );
    case 'AMBIGUOUS':
      return speakAmbiguous(lexicon, refusal);
    case 'NOT_FOUND':
      return notFound(lexicon, refusal);
    case 'NOT_ASSIGNED': {
      const holder = phrase(refusal.holder, 64);
      return say(
        `${lexicon.work(refusal.workflow)} is assigned to ${holder}`,
        `ask ${holder} to hand it over`,
      );
    }
    case 'STALE_REFERENCE':
      return stale(lexicon, refusal);
    case 'ALREADY_DECIDED':
    case 'STALE_PROPOSAL':
      return speakUndecidable(refusal);
    case 'APPROVAL_EXPIRED':
      return say(
        'the time to decide is over, so I changed nothing',
        'a supervisor has to resolve the block',
      );
    case 'ASSET_BUSY': {
      const holder = phrase(refusal.holder, 64);
      if (refusal.mine) {
        return say(
          `you already have ${phrase(refusal.asset, 64)} for ${phrase(refusal.procedure)}`,
          'complete or end that first',
        );
      }
      return say(
        `${phrase(refusal.asset, 64)} is in use: ${holder} has it for ${phrase(refusal.procedure)}`,
        `ask ${holder} to finish or to hand it over`,
      );
    }
    case 'WORKFLOW_COMPLETED':
      return say(
        `${lexicon.work(refusal.workflow)} has already ended, so I changed nothing`,
        'start it again if it has to be repeated',
      );
    case 'WORKFLOW_BLOCKED':
      return say(
        `I changed nothing on ${lexicon.work(refusal.workflow)}`,
        nextSentence(lexicon, refusal.workflow),
      );
    case 'SECOND_PERSON_REQUIRED':
      return secondPerson(lexicon, refusal);
    case 'NOT_SKIPPABLE':
      return notSkippable(lexicon, refusal);
    case 'STEP_NOT_READY': {
      const earlier = refusal.requires.map((id) => lexicon.step(refusal.workflow, id));
      return say(
        `before ${lexicon.step(refusal.workflow, refusal.step)} I need ${listed(earlier)}`,
        nextSentence(lexicon, refusal.workflow),
      );
    }
    case 'STEPS_MISSING': {
      const open = refusal.missing.map((id) => lexicon.step(refusal.workflow, id));
      return say(`still open: ${listed(open)}`, nextSentence(lexicon, refusal.workflow));
    }
    case 'LIMIT_REACHED':
      return say(
        'this work has as many entries as it can hold',
        'complete it or end it, and start again',
      );
    case 'NEEDS_CONFIRMATION':
      return speakNeedsConfirmation(lexicon, refusal, asked);
  }
}

function didYouMean(assets: readonly string[]): string {
  return `did you mean ${listed(
    assets.map((asset) => phrase(asset, 64)),
    'or',
  )}?`;
}

function notFound(
  lexicon: Lexicon,
  { what, name, known, suggestions }: RefusalOf<'NOT_FOUND'>,
): string {
  switch (what) {
    case 'workflow':
      return say('I cannot find that work', 'ask what you are working on, or name the asset');
    case 'procedure': {
      const titles = (known ?? []).map((id) => lexicon.procedure(id));
      return titles.length === 0
        ? say('I do not know that procedure', 'ask which procedures there are')
        : say('I do not know that procedure', `I know ${listed(titles)}`);
    }
    case 'person':
      return say(
        `I do not know anyone called ${phrase(name, 64)} here`,
        'they have to sign in once before work can be handed to them',
      );
    case 'asset':
      if (suggestions !== undefined) {
        return say(`I know no asset called ${phrase(name, 64)}`, didYouMean(suggestions));
      }
      return say(
        `nobody is working on ${phrase(name, 64)} right now`,
        'you can start a procedure on it, or name another asset',
      );
  }
}

function stale(lexicon: Lexicon, refusal: RefusalOf<'STALE_REFERENCE'>): string {
  const { workflow: view, names } = refusal;
  switch (names) {
    case 'block':
      return view.block === undefined
        ? say('that block has already been resolved', nextSentence(lexicon, view))
        : say('that block is over, and there is a newer one', nextSentence(lexicon, view));
    case 'assignment':
      return say(
        `that assignment has already changed; ${lexicon.work(view)} is with ${phrase(view.holder, 64)}`,
        'ask me again if it should still be done',
      );
    case 'reading':
      return say('that record has been changed in the meantime', nextSentence(lexicon, view));
    case 'confirmation':
      return say('that confirmation is no longer valid', 'please say the value again');
  }
}

function notSkippable(lexicon: Lexicon, refusal: RefusalOf<'NOT_SKIPPABLE'>): string {
  const { workflow: view, step, why } = refusal;
  const title = lexicon.step(view, step);
  switch (why) {
    case 'required':
      return say(`${title} has to be done and cannot be skipped`, nextSentence(lexicon, view));
    case 'needed':
      return say(
        `${title} cannot be skipped, because a later step needs it`,
        nextSentence(lexicon, view),
      );
    case 'recorded':
      return say(`${title} is already on record, so it cannot be skipped`, 'you can correct it');
  }
}

function secondPerson(lexicon: Lexicon, refusal: RefusalOf<'SECOND_PERSON_REQUIRED'>): string {
  const { step, differs, workflow: view } = refusal;
  if (step === undefined) {
    return say('you worked on this yourself', 'another supervisor has to let it continue');
  }
  const title = lexicon.step(view, step);
  return differs === true
    ? say(
        `that differs from what is recorded for ${title}`,
        'check it together, and let the first person correct it if it is wrong',
      )
    : say(`another person has to confirm ${title}`);
}
