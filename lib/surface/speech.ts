// The one place that turns outcomes and reads into words: one or two sentences, under 75 words,
// without ids, codes, tool names, links or markdown. Decides nothing and reads no store.
import type { InputFault } from '../core/input-fault.ts';
import type { CommandType } from '../core/model/workflow.ts';
import type { Procedure } from '../core/model/procedure.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import type { Clock } from '../core/ports/runtime.ts';
import type { ProcedureRegistry } from '../core/procedures.ts';
import type { ViewList } from '../core/queries.ts';
import type { WorkflowView } from '../core/view.ts';
import { speakCommitted } from './speech/committed.ts';
import { speakFaults } from './speech/faults.ts';
import { createLexicon } from './speech/lexicon.ts';
import {
  helpPhrases,
  speakBlocked,
  speakHelp,
  speakMine,
  speakProcedure,
  speakProcedures,
  speakTrail,
  speakWorkflow,
} from './speech/read.ts';
import { speakRefusal } from './speech/refused.ts';
import { say } from './speech/words.ts';

/** Words for everything that is answered. */
export interface Speech {
  /** An outcome; `asked` is the command it answers, which some questions are phrased by. */
  outcome(outcome: Outcome, asked?: CommandType): string;
  refusal(refusal: Refusal): string;
  workflow(view: WorkflowView): string;
  mine(list: ViewList): string;
  blocked(list: ViewList): string;
  procedures(): string;
  procedure(procedure: Procedure): string;
  /** A page of an audit trail that ends at `head`. */
  trail(view: WorkflowView, events: readonly { readonly seq: number }[], head: number): string;
  help(): string;
  /** The phrases that `help` names. */
  phrases(): readonly string[];
  faults(faults: readonly InputFault[]): string;
}

/**
 * Builds the words over a registry, which knows what steps and units are called, and a clock, by which
 * deadlines are near or far.
 */
export function createSpeech(
  registry: ProcedureRegistry,
  clock: Pick<Clock, 'now'> = { now: Date.now },
): Speech {
  const lexicon = createLexicon(registry, clock);
  return {
    outcome: (outcome, asked) =>
      outcome.code === 'OK'
        ? speakCommitted(lexicon, outcome, asked)
        : speakRefusal(lexicon, outcome, asked),
    refusal: (refusal) => speakRefusal(lexicon, refusal),
    workflow: (view) => speakWorkflow(lexicon, view),
    mine: (list) => speakMine(lexicon, list),
    blocked: (list) => speakBlocked(lexicon, list),
    procedure: speakProcedure,
    trail: (view, events, head) => speakTrail(lexicon, view, events, head),
    procedures: () => speakProcedures(registry.list()),
    help: () => speakHelp(registry.list()),
    phrases: () => helpPhrases(registry.list()),
    faults: speakFaults,
  };
}

/** Said where a service asks for what only a person may do. */
export const PERSON_NEEDED = say(
  'I can only do that for a person',
  'please link or sign in to your own account first',
);

/** Said to somebody who calls too often. */
export const TOO_MANY = say(
  'that was too much at once, and I did nothing with the last part',
  'please wait a moment and say it again',
);

/** Said when the person answers a question with no. */
export const DECLINED = say('all right, I changed nothing');

/** Said when the fault is on this side and nothing else may be told about it. */
export const INTERNAL_FAULT = say(
  'something went wrong on my side',
  'please try again, and tell whoever runs this service if it stays',
);

/** Said when the records or the issuer's keys cannot be read for the moment. */
export const UNAVAILABLE = say('I cannot check that right now', 'please say it again in a moment');
