// What is said of a workflow, of lists, and of what can be done at all. Every empty list helps on.
import type { Procedure } from '../../core/model/procedure.ts';
import type { ViewList } from '../../core/queries.ts';
import type { WorkflowView } from '../../core/view.ts';
import type { Lexicon } from './lexicon.ts';
import { nextSentence } from './next.ts';
import { counted, listed, phrase, say } from './words.ts';

/** Where one workflow stands and what comes next. */
export function speakWorkflow(lexicon: Lexicon, view: WorkflowView): string {
  const work = lexicon.work(view);
  if (view.state === 'COMPLETED') {
    return say(`${work} ${view.result === 'abandoned' ? 'was ended early' : 'is completed'}`);
  }
  const progress = `${view.done} of ${counted(view.required, 'required step')} done`;
  const stands = `${work}, with ${phrase(view.holder, 64)}: ${progress}`;
  const due = view.due_at === undefined ? '' : `; all of it ${lexicon.due(view.due_at)}`;
  return say([`${stands}${due}`, stands], nextSentence(lexicon, view));
}

/** The caller's own active workflows. */
export function speakMine(lexicon: Lexicon, { workflows, more }: ViewList): string {
  const only = workflows[0];
  if (only === undefined) {
    return say('you have no active work', 'name a procedure and an asset, and I will start it');
  }
  if (workflows.length === 1 && !more) return speakWorkflow(lexicon, only);
  const works = workflows.map((view) => lexicon.work(view));
  const offered = workflows.filter((view) => view.offered).length;
  return say(
    `you have ${more ? 'more than ' : ''}${workflows.length} active: ${listed(works)}`,
    offered > 0 ? `${counted(offered, 'one')} of them was handed over to you` : undefined,
  );
}

/** The blocked workflows of a supervisor. */
export function speakBlocked(lexicon: Lexicon, { workflows, more }: ViewList): string {
  const only = workflows[0];
  if (only === undefined) return say('nothing is blocked', 'you can ask for your own work instead');
  if (workflows.length === 1 && !more) {
    const why = phrase(only.block?.message ?? 'a deviation was recorded');
    return say(
      `${lexicon.work(only)} is blocked because ${why}`,
      only.block === undefined || only.block.reason === 'deviation'
        ? 'should it continue, be repeated, or be abandoned?'
        : 'should it continue, or be abandoned?',
    );
  }
  const works = workflows.map((view) => lexicon.work(view));
  const count = `${more ? 'more than ' : ''}${workflows.length}`;
  return say(`${count} are blocked: ${listed(works)}`, 'which one do you want to decide?');
}

/** The procedures that can be started. */
export function speakProcedures(procedures: readonly Procedure[]): string {
  if (procedures.length === 0) {
    return say('no procedure is set up yet', 'ask whoever runs this service to add one');
  }
  const titles = procedures.map(
    ({ title, asset }) => `${phrase(title)} for a ${phrase(asset.type)}`,
  );
  return say(
    `I know ${counted(procedures.length, 'procedure')}: ${listed(titles)}`,
    'which one should I start, and on which asset?',
  );
}

/** What one procedure is. */
export function speakProcedure({ title, asset, description, steps }: Procedure): string {
  return say(
    `${phrase(title)} is for a ${phrase(asset.type)} and has ${counted(steps.length, 'step')}`,
    phrase(description, 300),
  );
}

/** Which part of a trail is shown. */
export function speakTrail(
  lexicon: Lexicon,
  view: WorkflowView,
  events: readonly { readonly seq: number }[],
  head: number,
): string {
  const [first, last] = [events[0]?.seq, events.at(-1)?.seq];
  const work = lexicon.work(view);
  if (first === undefined || last === undefined) {
    return say(`there are no later events of ${work}`, `${counted(head, 'event')} are on record`);
  }
  return say(`these are events ${first} to ${last} of ${head} of ${work}`);
}

/** Phrases that work, for somebody who asks what can be done. */
export function helpPhrases(procedures: readonly Procedure[]): readonly string[] {
  const first = procedures[0];
  const start =
    first === undefined
      ? 'which procedures are there'
      : `start ${phrase(first.title)} on ${phrase(first.asset.example, 64)}`;
  return [start, 'what is next', 'what am I working on', 'hand it over to a colleague'];
}

/** What can be done, with phrases to try. */
export function speakHelp(procedures: readonly Procedure[]): string {
  return say(
    'I lead you through a procedure step by step and keep what you record, even if we are cut off',
    `you can say: ${helpPhrases(procedures).join('; ')}`,
  );
}
