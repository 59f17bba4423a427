// One workflow's whole story, for a person who asks why: state, lock, events, what waits to be sent,
// and whether the trail verifies. A sensitive value is never part of it, only whether it is there.
import { verifyRecord, type ChainReport, type TrailFault } from './audit.ts';
import { eventBody } from './events.ts';
import { LIMITS } from './limits.ts';
import type { EventBody, Lock, OutboxRow, Workflow } from './model/workflow.ts';
import type { StorageBackend } from './ports/storage.ts';
import { keptValues } from './trail/values.ts';

/** One event; `sensitive` says what became of a value that is kept apart. */
export interface TimelineEvent extends Omit<EventBody, 'format' | 'tenant' | 'workflow' | 'prev'> {
  readonly sensitive?: 'kept' | 'erased' | 'missing';
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
  const verification = await verifyRecord(store, workflow);
  return {
    workflow,
    lock,
    events: await eventsOf(store, workflow, await valueStates(store, verification)),
    outbox: await store.listOutbox(tenant, id, LIMITS.pageItems.max),
    verification,
  };
}

/** What became of the value of a record. */
type ValueState = (record: number) => NonNullable<TimelineEvent['sensitive']>;

/** A value that is not there was erased, unless the verification misses it. */
async function valueStates(
  store: StorageBackend,
  { tenant, workflow, faults }: ChainReport,
): Promise<ValueState> {
  const missing = new Set(faults.filter(isMissing).map(({ seq }) => seq));
  const kept = new Set<number>();
  for await (const page of keptValues(store, { tenant, workflow })) {
    for (const seq of page) kept.add(seq);
  }
  return (seq) => (kept.has(seq) ? 'kept' : missing.has(seq) ? 'missing' : 'erased');
}

const isMissing = ({ what }: TrailFault): boolean => what === 'value_missing';

async function eventsOf(
  store: StorageBackend,
  { tenant, id, head_seq }: Workflow,
  stateOf: ValueState,
): Promise<readonly TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for (let after = 0; ;) {
    const page = await store.listEvents(tenant, id, { after, limit: LIMITS.pageItems.max });
    const last = page.at(-1);
    if (last === undefined) return events;
    after = last.seq;
    const bodies = page.filter(({ seq }) => seq <= head_seq).flatMap(readable);
    events.push(...bodies.map((body) => entryOf(body, stateOf)));
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

function entryOf(body: EventBody, stateOf: ValueState): TimelineEvent {
  const { seq, type, at, actor, data } = body;
  const entry = { seq, type, at, actor, data };
  if (data['commitment'] === undefined) return entry;
  // A second person's event commits to the record it confirms.
  return { ...entry, sensitive: stateOf(Number(data['confirms'] ?? seq)) };
}
