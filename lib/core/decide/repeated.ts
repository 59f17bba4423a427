// Repeats of a record, recognised by state with no time window: the same receipt, never a new effect.
import { canonicalJson } from '../canonical.ts';
import type { Procedure, Step } from '../model/procedure.ts';
import type { EventBody, Slot, VaultRow, Workflow } from '../model/workflow.ts';
import { commitment } from '../redact.ts';
import type { Refusal } from '../outcome.ts';
import { viewOf } from '../view.ts';
import type { DecideContext, Decision } from './decision.ts';
import { sameContent, sameOriginal, wasConfirmed, type Recording } from './recording.ts';

/** The same content for a recorded step, or a correction that was made before. */
export function repeated(r: Recording, context: DecideContext): Decision | undefined {
  const { slot, replaces } = r;
  const { subject } = context.principal;
  const current = sameContent(r);
  const holds = (event: EventBody, vault: VaultRow | undefined) => eventHolds(event, r, vault);
  // Whoever did not say a sensitive text is not told whether a guess of it is right.
  const assigned = !r.sensitive && r.workflow.holder.subject === subject;
  const concerned = slot?.by === subject || assigned;
  if (r.confirms !== undefined) {
    const open = slot?.seq === r.confirms && slot.witness === undefined;
    return open ? undefined : searchFor('confirms', r.confirms, r, subject, holds);
  }
  if (replaces === undefined) {
    if (slot === undefined || !current) return undefined;
    if (slot.status === 'awaiting_second' && slot.by !== subject) return undefined;
    if (slot.status !== 'retake') {
      return concerned ? { kind: 'duplicate', seq: slot.seq } : undefined;
    }
    const answered = slot.by === subject && wasConfirmed(r, context, slot.basis);
    return answered ? { kind: 'duplicate', seq: slot.seq } : undefined;
  }
  if (slot?.seq === replaces) {
    const same = current && slot.status !== 'retake' && slot.by === subject;
    return same ? { kind: 'duplicate', seq: slot.seq } : undefined;
  }
  return searchFor('replaces', replaces, r, subject, holds);
}

/** Looks for this very answer to a record that has been answered since. */
export function searchFor(
  relation: 'replaces' | 'confirms',
  seq: number,
  r: {
    readonly workflow: Workflow;
    readonly procedure: Procedure;
    readonly step: Step;
    readonly slot: Slot | undefined;
  },
  subject: string,
  holds: (event: EventBody, vault: VaultRow | undefined) => boolean,
): Decision {
  return {
    kind: 'search',
    after: seq,
    matches: ({ data, actor }) =>
      data['step'] === r.step.id && data[relation] === seq && actor.subject === subject,
    holds,
    otherwise: otherwise(relation, seq, r, subject),
  };
}

/** Why the answer does not count: it is not the caller's to give, or it names what is over. */
function otherwise(
  relation: 'replaces' | 'confirms',
  seq: number,
  r: Parameters<typeof searchFor>[2],
  subject: string,
): Refusal {
  const { workflow, procedure } = r;
  const view = viewOf(workflow, procedure);
  if (relation === 'replaces' && workflow.holder.subject !== subject) {
    return { code: 'NOT_ASSIGNED', holder: workflow.holder.name, workflow: view };
  }
  return {
    code: 'STALE_REFERENCE',
    names: 'reading',
    given: seq,
    ...(r.slot !== undefined && { current: r.slot.seq }),
    workflow: view,
  };
}

function eventHolds(event: EventBody, r: Recording, vault: VaultRow | undefined): boolean {
  const { data } = event;
  if (!r.sensitive) {
    const same = canonicalJson(data['value'] ?? null) === canonicalJson(r.value);
    return same && sameOriginal(r, data['original']);
  }
  return vault !== undefined && data['commitment'] === commitment(vault.key, r.value);
}
