// The second person of a step: another subject, a person, the same content, one named record.
// No procedure asks for one on a sensitive text, so what is confirmed is never secret.
import { viewOf } from '../view.ts';
import { closedFor, commitChange, refuse, type DecideContext, type Decision } from './decision.ts';
import { question, sameContent, type Recording } from './recording.ts';

/** Another person confirms the same content of a step that waits for one. */
export function witnessed(r: Recording, context: DecideContext): Decision | undefined {
  const { slot, step, workflow, procedure } = r;
  const { subject, kind } = context.principal;
  if (r.replaces !== undefined) return undefined;
  if (slot?.status !== 'awaiting_second' || slot.by === subject) return misplaced(r);
  if (kind !== 'person') return refuse({ code: 'FORBIDDEN', why: 'person', need: 'a person' });
  const view = viewOf(workflow, procedure);
  const closed = closedFor(workflow, procedure);
  if (closed !== undefined) return closed;
  if (!sameContent(r)) {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', step: step.id, differs: true, workflow: view });
  }
  if (r.confirms === undefined) {
    return refuse({
      code: 'NEEDS_CONFIRMATION',
      reason: 'second_person',
      step: step.id,
      heard: r.value,
      ...(r.original !== undefined && { original: r.original }),
      ...(step.kind === 'reading' && { unit: step.unit.symbol }),
      state: question(r, context, 'witness', slot.seq),
      ...(slot.by === workflow.holder.subject && { by: workflow.holder.name }),
      confirms: slot.seq,
      workflow: view,
    });
  }
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'step_confirmed',
      data: { confirms: slot.seq },
    },
    receipt: {
      command: 'record_step',
      result: 'confirmed',
      step: step.id,
      value: r.value,
      ...(r.original !== undefined && { original: r.original }),
    },
    change: (seq) => ({
      set: {},
      steps: { [step.id]: { ...slot, status: 'done', witness: { seq, by: subject } } },
    }),
  });
}

/** A confirmation where none is waited for, or by the person who made the record. */
function misplaced(r: Recording): Decision | undefined {
  const { confirms, slot, step, workflow, procedure } = r;
  if (confirms === undefined) return undefined;
  const view = viewOf(workflow, procedure);
  if (slot?.status === 'awaiting_second') {
    return refuse({ code: 'SECOND_PERSON_REQUIRED', step: step.id, workflow: view });
  }
  const current = slot === undefined ? {} : { current: slot.seq };
  return refuse({
    code: 'STALE_REFERENCE',
    names: 'reading',
    given: confirms,
    ...current,
    workflow: view,
  });
}
