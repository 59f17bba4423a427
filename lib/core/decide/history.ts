// What a decision on a proposal has to know of the trail: who worked on it, and what became of the actions
// that were proposed before. The state keeps neither, because both grow with the work.
import type { Approval } from '../model/run.ts';
import type { EventBody, EventType } from '../model/workflow.ts';

/** What became of an action that was proposed: a decision, or its end without one. */
export type Settled =
  | ({ readonly end: 'decided' } & Pick<Approval, 'decision' | 'subject' | 'name' | 'at' | 'seq'>)
  | { readonly end: 'expired'; readonly expires_at: string }
  | { readonly end: 'withdrawn' };

/** The trail of a workflow as decisions look at it. */
export interface History {
  /** Subjects of everybody who held the work, recorded in it or confirmed as second person. */
  readonly people: ReadonlySet<string>;
  /** By the digest of the action. */
  readonly settled: ReadonlyMap<string, Settled>;
}

/** What whoever does it has worked on; deciding about a block is no work on it. */
const WORK: ReadonlySet<EventType> = new Set([
  'workflow_started',
  'step_recorded',
  'step_corrected',
  'step_confirmed',
  'step_skipped',
]);

/** The history of a trail from its first event. */
export function historyOf(events: Iterable<EventBody>): History {
  const people = new Set<string>();
  const settled = new Map<string, Settled>();
  for (const event of events) {
    const { type, actor, data } = event;
    if (WORK.has(type)) people.add(actor.subject);
    const { to } = data;
    if (type === 'workflow_handed_over' && typeof to === 'string') people.add(to);
    const [digest, became] = settledBy(event) ?? [];
    if (digest !== undefined && became !== undefined) settled.set(digest, became);
  }
  return { people, settled };
}

function settledBy({ type, seq, at, actor, data }: EventBody): [string, Settled] | undefined {
  const { action_hash: digest, withdrawn, expires_at } = data;
  if (typeof withdrawn === 'string') return [withdrawn, { end: 'withdrawn' }];
  if (typeof digest !== 'string') return undefined;
  if (type === 'approval_expired' && typeof expires_at === 'string') {
    return [digest, { end: 'expired', expires_at }];
  }
  if (type !== 'action_approved' && type !== 'action_denied') return undefined;
  const decision = type === 'action_approved' ? 'approved' : 'denied';
  const { subject, name } = actor;
  return [digest, { end: 'decided', decision, subject, name, at, seq }];
}
