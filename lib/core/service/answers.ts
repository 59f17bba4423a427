// Answers to questions that were asked before: which workflow, which person. The others are verified
// where they take effect; until then what a signed question says only tells what to look at.
import { occasionOf, signQuestion, verifyQuestion, type Asked } from '../confirmation.ts';
import type { Json } from '../json.ts';
import { argumentsOf } from '../ledger.ts';
import type { Command } from '../model/commands.ts';
import type { Principal } from '../model/principal.ts';
import { NOT_ASKED, type Refusal } from '../outcome.ts';

/** A command with the workflow that is meant, and the receiver of a hand-over as it is to be found. */
export interface Settled {
  readonly command: Command;
  readonly to?: string;
  /** The signed question that this answers; `late` once its time is over. */
  readonly question?: { readonly state: string; readonly late: boolean };
}

/** Commands that ask nothing where they decide, so that nothing can answer them. */
const NEVER_ASKED: ReadonlySet<Command['type']> = new Set([
  'complete_workflow',
  'resolve_block',
  'decide_approval',
]);

/** Fills in what answers so far have settled, or refuses an answer to no question of this call. */
export function settle(
  secret: string,
  principal: Principal,
  sent: Command,
  now: number,
): Settled | Refusal {
  const { answer, ...bare } = sent;
  const to = sent.type === 'hand_over' ? { to: sent.to } : {};
  if (answer === undefined) return { command: sent, ...to };
  const said = occasionOf(answer.state);
  if (said === undefined || sent.type === 'start_workflow') return NOT_ASKED;
  const decidedLater = said.question !== 'workflow' && said.question !== 'person';
  if (decidedLater) {
    // Only these verify an answer where they decide.
    if (NEVER_ASKED.has(sent.type)) return NOT_ASKED;
    const workflow = sent.workflow ?? said.workflow;
    const receiver = said.to !== undefined && sent.type === 'hand_over' ? { to: said.to } : to;
    return { command: { ...sent, workflow }, ...receiver };
  }
  const verified = verifyQuestion(secret, asked(principal, sent), answer.state, now);
  if (verified === undefined) return NOT_ASKED;
  const workflow = said.question === 'workflow' ? answer.workflow : said.workflow;
  const receiver = said.question === 'person' ? answer.to : to.to;
  if (workflow === undefined || (said.question === 'person' && receiver === undefined)) {
    return NOT_ASKED;
  }
  const command = { ...bare, workflow } as Command;
  const question = { state: answer.state, late: verified.late };
  return { command, question, ...(receiver !== undefined && { to: receiver }) };
}

/** The workflow that a command may have touched, by its own word or its answer's; else empty. */
export function workflowNamed(sent: Command): string {
  const named = 'workflow' in sent ? sent.workflow : undefined;
  return named ?? sent.answer?.workflow ?? occasionOf(sent.answer?.state ?? '')?.workflow ?? '';
}

/** Signs the question which workflow or which person is meant; other refusals stay as they are. */
export function askWhich(
  secret: string,
  principal: Principal,
  sent: Command,
  refusal: Refusal,
  workflow: string,
  now: number,
): Refusal {
  if (refusal.code !== 'AMBIGUOUS') return refusal;
  const question = refusal.about;
  const occasion = { question, workflow, basis: 0 };
  return { ...refusal, state: signQuestion(secret, asked(principal, sent), occasion, now) };
}

/** Bound to key and arguments as they were sent: before any answer. */
function asked({ tenant, subject }: Principal, sent: Command): Asked {
  const args = Object.entries(argumentsOf(sent)).filter(([, value]) => value !== undefined);
  const { type: operation, key = null } = sent;
  const value = { operation, key, arguments: Object.fromEntries(args) as Json };
  return { tenant, subject, step: '', value };
}
