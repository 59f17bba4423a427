// Events beyond the head of a trail, as a torn restore leaves them: the record is older than its events.
// Nothing is thrown away: each is kept whole in an event of the trail that takes its place. What people
// said in them has no effect any more; what was kept apart for them stays kept, and can be erased. Work
// that was frozen for them goes on, unless the trail has another fault.
import { openFaults, verifyRecord, type TrailFault } from '../audit.ts';
import { sha256Hex } from '../canonical.ts';
import { appendEvent, eventBody } from '../events.ts';
import { requested } from '../decide/appended.ts';
import type { Json } from '../json.ts';
import { actorOf } from '../model/principal.ts';
import type { OperationReceipt, StoredEvent, VaultRow, Workflow } from '../model/workflow.ts';
import type { ItemKey, StorageBackend, Write } from '../ports/storage.ts';
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
  /** A look without a change: so many events lie beyond the head, at least. */
  | { readonly code: 'TORN'; readonly events: number }
  /** Nothing lies beyond the head. */
  | { readonly code: 'WHOLE' }
  | { readonly code: 'NOT_FOUND' }
  | Repeated;

/** How many are moved in one transaction: each may take a write of its event, and two of a value. */
const BATCH = 24;

/** Moves every event beyond the head aside. With `dryRun` it only looks. Throws faults of the store. */
export function repairTorn(
  parts: Pick<OperationParts, 'store' | 'clock'>,
  asked: Asked,
  command: { readonly workflow: string; readonly dryRun?: boolean },
): Promise<TornRepair> {
  const { store, clock } = parts;
  const { principal } = asked;
  const { tenant } = principal;
  const id = command.workflow;
  let moved = 0;
  let last: OperationReceipt | undefined;
  let faults: readonly TrailFault[] = [];
  return operate<TornRepair>(
    parts,
    asked,
    { operation: 'repair_torn', args: { workflow_id: id } },
    async () => {
      const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id }]);
      if (workflow === undefined) return { do: 'end', answer: { code: 'NOT_FOUND' } };
      const strays = await strayEvents(store, workflow);
      if (strays.length === 0) {
        const answer: TornRepair =
          last === undefined
            ? { code: 'WHOLE' }
            : { code: 'MOVED', events: moved, faults, receipt: last };
        return { do: 'end', answer };
      }
      if (command.dryRun === true) {
        return { do: 'end', answer: { code: 'TORN', events: strays.length } };
      }
      const open = openFaults(await verifyRecord(store, workflow));
      faults = open.filter(({ seq }) => seq <= workflow.head_seq);
      const { writes, receipt } = moving(
        workflow,
        strays,
        await valuesOf(store, workflow, strays),
        {
          now: clock.now(),
          thaw: faults.length === 0,
          asked,
        },
      );
      moved += strays.length;
      last = { operation: 'repair_torn', ...receipt };
      // Another round looks whether more are there.
      return { do: 'commit', writes, receipt, answer: undefined };
    },
  );
}

/** The first events beyond the head. */
export const strayEvents = (
  store: Pick<StorageBackend, 'listEvents'>,
  { tenant, id, head_seq }: Workflow,
): Promise<readonly StoredEvent[]> =>
  store.listEvents(tenant, id, { after: head_seq, limit: BATCH });

async function valuesOf(
  store: StorageBackend,
  { tenant, id }: Workflow,
  strays: readonly StoredEvent[],
): Promise<ReadonlyMap<number, VaultRow>> {
  const rows = await store.snapshot(
    strays.map(({ seq }) => ({ kind: 'vault', tenant, workflow: id, seq }) as const),
  );
  return new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.seq, row] as const])));
}

/** The writes that move strays aside: the events in their place, and their values where those belong. */
function moving(
  workflow: Workflow,
  strays: readonly StoredEvent[],
  values: ReadonlyMap<number, VaultRow>,
  { now, thaw, asked }: { readonly now: number; readonly thaw: boolean; readonly asked: Asked },
): { readonly writes: readonly Write[]; readonly receipt: Omit<OperationReceipt, 'operation'> } {
  const { tenant, id, version } = workflow;
  const at = new Date(now).toISOString();
  const actor = actorOf(asked.principal);
  const places = new Map(strays.map(({ seq }, i) => [seq, workflow.head_seq + 1 + i]));
  let head = { seq: workflow.head_seq, hash: workflow.head_hash };
  const events = strays.map((stray) => {
    const data = { ...movedData(stray, places), ...requested(asked) };
    const appended = appendEvent(
      { tenant, workflow: id, head },
      { type: 'stray_event_moved', at, actor, data },
    );
    head = appended.head;
    return appended.event;
  });
  const kept = [...values].map(([seq, row]) => ({ ...row, seq: places.get(seq) ?? seq }));
  const due_at = now + RECONCILE.lastCheckMs;
  const state: Write = {
    op: 'update',
    key: { kind: 'workflow', tenant, id },
    expect: { version, head_seq: workflow.head_seq, head_hash: workflow.head_hash },
    set: { version: version + 1, head_seq: head.seq, head_hash: head.hash, updated_at: at, due_at },
    ...(thaw && workflow.frozen !== undefined && { remove: ['frozen'] }),
  };
  const writes = [
    state,
    ...replaced('event', strays, events, 'hash'),
    ...replaced('vault', [...values.values()], kept, 'key'),
  ];
  return { writes, receipt: { workflow: id, seq: head.seq, at } };
}

/** What is kept of a stray: all of it, and by name what its value is found and erased by. */
function movedData(
  { seq, hash, text }: StoredEvent,
  places: ReadonlyMap<number, number>,
): { readonly [name: string]: Json } {
  const moved = { seq, hash, text, intact: sha256Hex(text) === hash };
  const data = dataOf(text, { seq, hash });
  const { step, commitment, confirms, records } = data;
  const placed = (n: Json): Json => places.get(Number(n)) ?? n;
  return {
    moved,
    ...(commitment !== undefined && { commitment }),
    ...(commitment !== undefined && step !== undefined && { step }),
    ...(commitment !== undefined && confirms !== undefined && { confirms: placed(confirms) }),
    ...(Array.isArray(records) && { records: records.map(placed) }),
  };
}

function dataOf(text: string, of: Pick<StoredEvent, 'seq' | 'hash'>) {
  try {
    return eventBody({ format: 1, tenant: '', workflow: '', text, ...of }).data;
  } catch {
    return {};
  }
}

/** The writes that put rows where others stand, each under the condition that it is still that one. */
function replaced(
  kind: 'event' | 'vault',
  before: readonly Row[],
  after: readonly Row[],
  identity: 'hash' | 'key',
): readonly Write[] {
  const keyOf = ({ tenant, workflow, seq }: Row) => ({ kind, tenant, workflow, seq }) as ItemKey;
  const expectOf = (row: Row) => ({ [identity]: attributesOf(row)[identity] ?? '' });
  const there = new Map(before.map((row) => [row.seq, row]));
  const wanted = new Set(after.map(({ seq }) => seq));
  const put = (row: Row): readonly Write[] => {
    const old = there.get(row.seq);
    if (old === undefined) return [{ op: 'create', key: keyOf(row), item: row }];
    if (JSON.stringify(old) === JSON.stringify(row)) return [];
    const { tenant: _t, workflow: _w, seq: _s, ...set } = attributesOf(row);
    return [{ op: 'update', key: keyOf(row), expect: expectOf(old), set }];
  };
  const gone = before.filter(({ seq }) => !wanted.has(seq));
  return [
    ...after.flatMap(put),
    ...gone.map((row): Write => ({ op: 'delete', key: keyOf(row), expect: expectOf(row) })),
  ];
}

type Row = StoredEvent | VaultRow;

const attributesOf = (row: Row) => row as unknown as { readonly [name: string]: Json };
