// Recording, correcting, confirming or skipping a step. Every check comes before any write.
import type { CorrectStep, RecordStep } from '../model/commands.ts';
import { stepOf } from '../procedures.ts';
import { unmetRequirements, viewOf } from '../view.ts';
import {
  closedFor,
  invalid,
  notAsked,
  notAssigned,
  refuse,
  type DecideContext,
  type Decision,
} from './decision.ts';
import { verifyQuestion, type Asked } from '../confirmation.ts';
import { asked, question, type Recording, type RecordState } from './recording.ts';
import { repeated } from './repeated.ts';
import { decideSkip } from './skip.ts';
import { stepValue } from './step-input.ts';
import { witnessed } from './witnessed.ts';
import { writeRecord } from './write-record.ts';

/** Decides the recording, the correction or the skipping of a step. */
export function decideRecord(
  state: RecordState,
  command: RecordStep | CorrectStep,
  context: DecideContext,
): Decision {
  const { workflow, procedure } = state;
  const step = stepOf(procedure, command.step);
  if (step === undefined) {
    const known = procedure.steps.map(({ id }) => id).join(', ');
    return invalid('/step', `expected one of: ${known}`);
  }
  const { input } = command;
  if (input.kind === 'skip') {
    if (command.answer !== undefined) return notAsked();
    return decideSkip({ ...state, step }, command, input.reason, context);
  }
  const parsed = stepValue(step, input);
  if (!parsed.ok) return refuse({ code: 'INVALID_ARGUMENT', faults: parsed.faults });
  const { value, original } = parsed;
  const said = answered(command, asked({ step, value, original }, context), workflow.id, context);
  if (command.answer !== undefined && said === undefined) return notAsked();
  const recording: Recording = {
    ...state,
    step,
    slot: workflow.steps[step.id],
    value,
    original,
    sensitive: step.kind === 'text' && step.sensitive,
    replaces: command.type === 'correct_step' ? command.replaces : said?.replaces,
    confirms: command.type === 'record_step' ? (command.confirms ?? said?.confirms) : undefined,
    confirmation: said?.confirmation ?? command.confirmation,
  };
  return (
    repeated(recording, context) ??
    // A repeat is recognised at any time; a new effect needs an answer in time.
    (said?.late === true ? notAsked() : undefined) ??
    witnessed(recording, context) ??
    hindered(recording, context) ??
    writeRecord(recording, context)
  );
}

/** What the answer to an earlier question stands for, if this is the call that was asked about. */
function answered(
  { answer }: RecordStep | CorrectStep,
  about: Asked,
  workflow: string,
  { confirmationSecret, now }: DecideContext,
) {
  if (answer === undefined) return undefined;
  const said = verifyQuestion(confirmationSecret, about, answer.state, now);
  if (said?.workflow !== workflow) return undefined;
  const { basis, late, replaces } = said;
  switch (said.question) {
    case 'value':
      return { late, replaces, confirmation: answer.state };
    case 'replace':
      return { late, replaces: basis };
    case 'witness':
      return { late, confirms: basis };
    default:
      // Other questions are answered by other calls.
      return undefined;
  }
}

/** What keeps a new record from being written, apart from its value. */
function hindered(r: Recording, context: DecideContext): Decision | undefined {
  const { workflow, procedure, slot, step } = r;
  if (workflow.holder.subject !== context.principal.subject) return notAssigned(r);
  const closed = closedFor(workflow, procedure);
  if (closed !== undefined) return closed;
  if (slot !== undefined && r.replaces === undefined) {
    return refuse({
      code: 'NEEDS_CONFIRMATION',
      reason: slot.status === 'skipped' ? 'was_skipped' : 'already_recorded',
      step: step.id,
      ...(!r.sensitive && { heard: r.value }),
      ...(r.original !== undefined && { original: r.original }),
      ...(slot.value !== undefined && { recorded: slot.value }),
      ...(step.kind === 'reading' && { unit: step.unit.symbol }),
      state: question(r, context, 'replace', slot.seq),
      replaces: slot.seq,
      workflow: viewOf(workflow, procedure),
    });
  }
  // What is on record can be corrected whatever became of the steps before it.
  const requires = slot === undefined ? unmetRequirements(step, workflow) : [];
  if (requires.length > 0) {
    return refuse({
      code: 'STEP_NOT_READY',
      step: step.id,
      requires,
      workflow: viewOf(workflow, procedure),
    });
  }
  return undefined;
}
