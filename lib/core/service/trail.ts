// The trail of a workflow as commands read it: from its record's point of view, in order, bounded by time.
import { historyOf, type History } from '../decide/history.ts';
import { eventBody } from '../events.ts';
import { Fault } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import type { EventBody, Workflow } from '../model/workflow.ts';
import type { Clock } from '../ports/runtime.ts';
import type { StorageBackend } from '../ports/storage.ts';

/** What a trail is read with; `deadlineMs` is in epoch milliseconds. */
export interface TrailReader {
  readonly store: Pick<StorageBackend, 'listEvents'>;
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/**
 * The events after a sequence up to the head that the record has. Throws the retryable faults
 * `DEADLINE_EXCEEDED`, and `CHAIN_TORN` for a trail that ends before its head.
 */
export async function* trailOf(
  { store, clock, deadlineMs }: TrailReader,
  { tenant, id, head_seq }: Workflow,
  after: number,
): AsyncGenerator<EventBody> {
  const limit = LIMITS.pageItems.max;
  for (let from = after; from < head_seq;) {
    if (clock.now() >= deadlineMs) {
      throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'the trail was too long to search');
    }
    const page = await store.listEvents(tenant, id, { after: from, limit });
    for (const event of page) {
      // What was appended since belongs to a later version.
      if (event.seq <= head_seq) yield eventBody(event);
    }
    from = page.at(-1)?.seq ?? from;
    // The snapshot had these events; a plain read may still see less.
    if (page.length < limit && from < head_seq) {
      throw new Fault('retryable', 'CHAIN_TORN', 'the trail ends before its head');
    }
  }
}

/** The history of a workflow up to its head. */
export async function readHistory(reader: TrailReader, workflow: Workflow): Promise<History> {
  const events: EventBody[] = [];
  for await (const event of trailOf(reader, workflow, 0)) events.push(event);
  return historyOf(events);
}
