// Rows beyond the head of a trail, as a torn restore leaves them: the record is older than they are.
// Nothing is thrown away: each event is kept whole in an event of the trail that takes its place and its
// number, and a number whose own event is gone gets one that says so: what else stands under it would
// refuse the next command for ever. What people said in them has no effect any more. What was kept apart
// stays kept, and can be erased; where its event is gone nobody could find it, so it is erased at once.
// Work that was frozen for them goes on, unless the trail has another fault.
import { openFaults, verifyRecord, type TrailFault } from '../audit.ts';
import { sha256Hex } from '../canonical.ts';
import { requested } from '../decide/appended.ts';
import { appendEvent, eventBody } from '../events.ts';
import { Fault } from '../fault.ts';
import type { Json } from '../json.ts';
import { itemBytes } from '../keys.ts';
import { LIMITS } from '../limits.ts';
import { isRunId, recordKey, type Trailed } from '../model/aggregate.ts';
import { actorOf } from '../model/principal.ts';
import type { OperationReceipt, StoredEvent } from '../model/workflow.ts';
import type { StorageBackend, Write } from '../ports/storage.ts';
import { RECONCILE } from '../reconcile/timing.ts';
import { operate, type Asked, type OperationParts, type Repeated } from './operate.ts';

/** What became of it. */
export type TornRepair =
  | {
      readonly code: 'MOVED';
      readonly events: number;
      /** What is open within the trail, which is for a person to look at. */
      readonly faults: readonly TrailFault[];
      readonly receipt: OperationReceipt;
    }
  /** A look without a change: so many numbers beyond the head are taken, at least. */
  | { readonly code: 'TORN'; readonly events: number }
  /** Nothing lies beyond the head. */
  | { readonly code: 'WHOLE' }
  | { readonly code: 'NOT_FOUND' }
  | Repeated;

/** How many numbers are taken in one transaction: each may take a write of its event and one of a value. */
const BATCH = 24;
/** A restore loses the last of a trail; nothing that one leaves lies further from the head. */
const FURTHEST = 10_000;
/** Events of one transaction together, which leaves room for what else is in it. */
const BATCH_BYTES = 3_000_000;

/** Moves everything beyond the head aside. With `dryRun` it only looks. Throws faults of the store. */
export function repairTorn(
  parts: Pick<OperationParts, 'store' | 'clock'>,
  asked: Asked,
  command: { readonly workflow: string; readonly dryRun?: boolean },
): Promise<TornRepair> {
  const { store, clock } = parts;
  const { tenant } = asked.principal;
  const id = command.workflow;
  const operation = 'repair_torn';
  let moved = 0;
  let far: TornRepair | undefined;
  return operate<TornRepair>(parts, asked, { operation, args: { workflow_id: id } }, async () => {
    const [record] = await store.snapshot([recordKey(tenant, id)]);
    if (record === undefined) return { do: 'end', answer: { code: 'NOT_FOUND' } };
    const { strays, more } = await strayRows(store, record);
    if (strays.length === 0) return { do: 'end', answer: far ?? { code: 'WHOLE' } };
    if (command.dryRun === true) {
      return { do: 'end', answer: { code: 'TORN', events: strays.length } };
    }
    const open = openFaults(await verifyRecord(store, record));
    const faults = open.filter(({ seq }) => seq <= record.head_seq);
    const thaw = faults.length === 0 && record.frozen !== undefined;
    const done = moving(record, strays, { now: clock.now(), thaw, asked });
    const { writes, receipt } = done;
    const answer: TornRepair = {
      code: 'MOVED',
      events: moved + done.count,
      faults,
      receipt: { operation, ...receipt },
    };
    const last = !more && done.count === strays.length;
    const took = (): void => {
      moved += done.count;
      far = answer;
    };
    return { do: 'commit', writes, receipt, answer: last ? answer : undefined, took };
  });
}

/** A number beyond the head that is taken: by an event, or only by what belonged to one that is gone. */
interface Stray {
  readonly seq: number;
  readonly event?: StoredEvent;
  /** A sensitive value whose event is gone. */
  readonly value?: true;
}

type Rows = Pick<StorageBackend, 'listEvents' | 'listEvidence' | 'listVault' | 'listOutbox'>;

/** Whether anything lies beyond the head of a trail. */
export const isTorn = async (store: Rows, record: Trailed): Promise<boolean> =>
  (await strayRows(store, record)).strays.length > 0;

/** The first numbers beyond the head, up to the last one that is taken. Throws `CHAIN_TORN` for one far away. */
async function strayRows(
  store: Rows,
  { tenant, id, head_seq: head }: Trailed,
): Promise<{ readonly strays: readonly Stray[]; readonly more: boolean }> {
  // One more than is taken tells whether there are others.
  const page = { after: head, limit: BATCH + 1 };
  const events = await store.listEvents(tenant, id, page);
  const values = isRunId(id) ? [] : await store.listVault(tenant, id, page);
  const evidence = isRunId(id) ? await store.listEvidence(tenant, id, page) : [];
  const waiting = await store.listOutbox(tenant, id, LIMITS.pageItems.max);
  const taken = [...events, ...evidence, ...waiting].map(({ seq }) => seq);
  const beyond = [...taken, ...values].filter((seq) => seq > head);
  if (beyond.some((seq) => seq - head > FURTHEST)) {
    throw new Fault('terminal', 'CHAIN_TORN', 'a row lies too far beyond the head of its chain');
  }
  const end = Math.max(head, ...beyond);
  const eventAt = new Map(events.map((event) => [event.seq, event]));
  const valueAt = new Set(values);
  const strays = Array.from({ length: Math.min(BATCH, end - head) }, (_, i): Stray => {
    const seq = head + 1 + i;
    const event = eventAt.get(seq);
    if (event !== undefined) return { seq, event };
    return valueAt.has(seq) ? { seq, value: true } : { seq };
  });
  return { strays, more: end - head > BATCH };
}

/** The writes that put events of the trail where strays stand, as many as one transaction takes. */
function moving(
  record: Trailed,
  strays: readonly Stray[],
  { now, thaw, asked }: { readonly now: number; readonly thaw: boolean; readonly asked: Asked },
): {
  readonly writes: readonly Write[];
  readonly receipt: Omit<OperationReceipt, 'operation'>;
  readonly count: number;
} {
  const { tenant, id, version, head_seq, head_hash } = record;
  const at = new Date(now).toISOString();
  const actor = actorOf(asked.principal);
  let head = { seq: head_seq, hash: head_hash };
  let bytes = 0;
  let count = 0;
  const writes: Write[] = [];
  for (const stray of strays) {
    const data = { ...movedData(stray), ...requested(asked) };
    const next = appendEvent(
      { tenant, workflow: id, head },
      { type: 'stray_event_moved', at, actor, data },
    );
    bytes += itemBytes(next.event);
    if (itemBytes(next.event) > LIMITS.itemBytes.max) {
      throw new Fault('terminal', 'CHAIN_TORN', 'an event beyond the head is too large to be kept');
    }
    if (bytes > BATCH_BYTES && count > 0) break;
    ({ head } = next);
    count += 1;
    writes.push(...inPlaceOf(stray, next.event));
  }
  const state: Write = {
    op: 'update',
    key: recordKey(tenant, id),
    expect: { version, head_seq, head_hash },
    set: {
      version: version + 1,
      head_seq: head.seq,
      head_hash: head.hash,
      updated_at: at,
      due_at: now + RECONCILE.lastCheckMs,
    },
    ...(thaw && { remove: ['frozen'] }),
  };
  return { writes: [state, ...writes], receipt: { workflow: id, seq: head.seq, at }, count };
}

/**
 * What is kept of a stray: all of it, and by name what its value is found and erased by. Only an event
 * that was written for this very place says anything about the values of this trail; runs have none.
 */
function movedData({ seq, event, value }: Stray): { readonly [name: string]: Json } {
  if (event === undefined) {
    return { moved: { seq, missing: true }, ...(value === true && { records: [seq] }) };
  }
  const { hash, text } = event;
  const { step, commitment, confirms, records } = dataOf(event);
  return {
    moved: { seq, hash, text, intact: sha256Hex(text) === hash },
    ...(commitment !== undefined && { commitment }),
    ...(commitment !== undefined && step !== undefined && { step }),
    ...(commitment !== undefined && confirms !== undefined && { confirms }),
    ...(Array.isArray(records) && { records }),
  };
}

function dataOf(event: StoredEvent): { readonly [name: string]: Json } {
  try {
    const { tenant, workflow, seq, data } = eventBody(event);
    const own = tenant === event.tenant && workflow === event.workflow && seq === event.seq;
    return own ? data : {};
  } catch {
    return {};
  }
}

/** The writes that put an event where a stray stands, under the condition that it is still that one. */
function inPlaceOf({ seq, event: old, value }: Stray, event: StoredEvent): readonly Write[] {
  const { tenant, workflow, format, text, hash } = event;
  const key = { kind: 'event', tenant, workflow, seq } as const;
  if (old !== undefined) {
    return [{ op: 'update', key, expect: { hash: old.hash }, set: { format, text, hash } }];
  }
  const gone: Write = { op: 'delete', key: { ...key, kind: 'vault' }, expect: {} };
  return [{ op: 'create', key, item: event }, ...(value === true ? [gone] : [])];
}
