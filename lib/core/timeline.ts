// One workflow's whole story, for a person who asks why: state, lock, events, what waits to be sent,
// and whether the trail verifies. A sensitive value is never part of it, only whether it is there.
import { verifyWorkflow, type ChainReport } from './audit.ts';
import { eventBody } from './events.ts';
import { LIMITS } from './limits.ts';
import type { EventBody, Lock, OutboxRow, Workflow } from './model/workflow.ts';
import type { StorageBackend } from './ports/storage.ts';

/** One event; `sensitive` says what became of a value that is kept apart. */
export interface TimelineEvent extends Omit<EventBody, 'format' | 'tenant' | 'workflow' | 'prev'> {
  readonly sensitive?: 'kept' | 'erased';
}

/** The story of a workflow. */
export interface Timeline {
  readonly workflow: Workflow;
  /** The lock of its asset, whoever holds it. */
  readonly lock: Lock | undefined;
  readonly events: readonly TimelineEvent[];
  readonly outbox: readonly OutboxRow[];
  readonly verification: ChainReport;
}

/** Reads the story; undefined where there is no such workflow. */
export async function timelineOf(
  store: StorageBackend,
  tenant: string,
  id: string,
): Promise<Timeline | undefined> {
  const key = { kind: 'workflow', tenant, id } as const;
  const [seen] = await store.snapshot([key]);
  if (seen === undefined) return undefined;
  // The asset of a workflow never changes, so both can be read as of one moment now.
  const [workflow, lock] = await store.snapshot([
    key,
    { kind: 'lock', tenant, asset: seen.asset },
  ] as const);
  if (workflow === undefined) return undefined;
  return {
    workflow,
    lock,
    events: await eventsOf(store, workflow),
    outbox: await store.listOutbox(tenant, id, LIMITS.pageItems.max),
    verification: await verifyWorkflow(store, workflow),
  };
}

async function eventsOf(
  store: StorageBackend,
  { tenant, id, head_seq }: Workflow,
): Promise<readonly TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for (let after = 0; ;) {
    const page = await store.listEvents(tenant, id, { after, limit: LIMITS.pageItems.max });
    const last = page.at(-1);
    if (last === undefined) return events;
    after = last.seq;
    const bodies = page.filter(({ seq }) => seq <= head_seq).flatMap(readable);
    const sensitive = bodies.filter(({ data }) => data['commitment'] !== undefined);
    // A second person's event commits to the record it confirms.
    const seqs = new Set(sensitive.map(({ seq, data }) => Number(data['confirms'] ?? seq)));
    const keys = [...seqs].map((seq) => ({ kind: 'vault', tenant, workflow: id, seq }) as const);
    const rows = await store.snapshot(keys);
    const kept = new Set(rows.flatMap((row) => (row === undefined ? [] : [row.seq])));
    events.push(...bodies.map((body) => entryOf(body, kept)));
  }
}

/** A damaged event is left out here; the verification names it. */
function readable(event: Parameters<typeof eventBody>[0]): readonly EventBody[] {
  try {
    return [eventBody(event)];
  } catch {
    return [];
  }
}

function entryOf(body: EventBody, kept: ReadonlySet<number>): TimelineEvent {
  const { seq, type, at, actor, data } = body;
  const entry = { seq, type, at, actor, data };
  if (data['commitment'] === undefined) return entry;
  const there = kept.has(Number(data['confirms'] ?? seq));
  return { ...entry, sensitive: there ? 'kept' : 'erased' };
}
