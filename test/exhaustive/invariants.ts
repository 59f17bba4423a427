// The invariants of the design over states and steps of the exhaustive check. They look at what is
// stored and at what was seen from outside, never at how a program came to it.
import { canonicalJson } from '../../lib/core/canonical.ts';
import { eventBody } from '../../lib/core/events.ts';
import { ORCHESTRATE } from '../../lib/core/dispatch/new-row.ts';
import { keyText } from '../../lib/core/keys.ts';
import { isRunId } from '../../lib/core/model/aggregate.ts';
import {
  holdsAsset,
  type OutboxRow,
  type Receipt,
  type StoredEvent,
} from '../../lib/core/model/workflow.ts';
import type { Lease, Write } from '../../lib/core/ports/storage.ts';
import type { TicketOrder } from '../../lib/core/ports/tickets.ts';
import { RECONCILE } from '../../lib/core/reconcile/timing.ts';
import { soonest } from '../../lib/core/timers.ts';
import { itemAt, itemsOf, type Attributes } from './items.ts';
import type { Actor, Judge, Step } from './search.ts';
import { eventsOf, type World } from './world.ts';

/** How far two clocks may be apart. */
const SKEW_MS = 60_000;

/** What has to be remembered, because no state shows it any more. */
export interface History {
  /** How often a command took effect, and when last, by command. */
  readonly effects: Readonly<Record<string, { readonly times: number; readonly at: number }>>;
  /** The first receipt of a command. */
  readonly receipts: Readonly<Record<string, string>>;
  /** Ids of all notifications that were ever created. */
  readonly created: readonly string[];
}

/** What of the beginning is drift that a repair may still have to put right. */
export interface Drift {
  /** Assets whose lock disagrees with the work until a sweep has ended. */
  readonly assets?: readonly string[];
  /** Events that lie beyond the head of their chain. */
  readonly torn?: boolean;
}

/** The judge of a scenario that begins with some drift. */
export function invariants(drift: Drift = {}): Judge<History> {
  return {
    begin: (world) => ({
      effects: {},
      receipts: {},
      created: told(itemsOf(world.table, 'outbox')),
    }),
    step: (history, step) =>
      changesInPlace(step) ??
      overtaken(step) ??
      unapproved(step) ??
      decidedAlone(step) ??
      effectOf(history, step),
    end: receiptOf,
    world: (history, world) =>
      locksAndWork(world, drift) ??
      chains(world, drift) ??
      effects(history, world) ??
      putOff(world),
  };
}

/** I1: at most one workflow holds an asset, and what holds it and what is held are the same. */
function locksAndWork({ table }: World, { assets = [] }: Drift): string | undefined {
  const work = itemsOf(table, 'workflow');
  const holding = work.filter(holdsAsset);
  for (const [asset, holders] of Map.groupBy(holding, (one) => `${one.tenant} ${one.asset}`)) {
    if (assets.includes(holders[0]?.asset ?? '')) continue;
    if (holders.length > 1) return `I1: ${holders.length} hold ${asset}`;
  }
  const held = itemsOf(table, 'lock').filter((lock) => lock.held);
  for (const { tenant, asset, workflow, fence } of held) {
    if (assets.includes(asset)) continue;
    const holder = holding.find((one) => one.tenant === tenant && one.id === workflow);
    if (holder?.asset !== asset) return `I1: the lock of ${asset} is held for nobody`;
    if (holder.fence !== fence) return `I1: the fence of ${asset} is ${fence}, not ${holder.fence}`;
  }
  for (const { asset, id } of holding) {
    const lock = held.find((one) => one.asset === asset && one.workflow === id);
    if (lock === undefined && !assets.includes(asset)) return `I1: ${id} has lost ${asset}`;
  }
  return undefined;
}

/** I4: sequences are 1..n without a gap, each event follows its predecessor, the head is the last one. */
function chains({ table }: World, { torn }: Drift): string | undefined {
  for (const record of [...itemsOf(table, 'workflow'), ...itemsOf(table, 'run')]) {
    const { tenant, id, head_seq, head_hash } = record;
    const events = eventsOf(table, tenant, id);
    if (torn !== true && events.length !== head_seq) {
      return `I4: ${id} has ${events.length} events under a head of ${head_seq}`;
    }
    if (events.some(({ seq }, i) => seq !== i + 1)) return `I4: the trail of ${id} has a gap`;
    if (events[head_seq - 1]?.hash !== head_hash)
      return `I4: the head of ${id} is not its last event`;
  }
  return undefined;
}

/** No look is put off beyond what is pending, or beyond the next try. */
function putOff({ table, now }: World): string | undefined {
  const late = itemsOf(table, 'workflow').find(
    ({ due_at = 0, timers, block }) =>
      due_at >
      Math.max(now + RECONCILE.laterMs + SKEW_MS, soonest(Number.MAX_SAFE_INTEGER, timers, block)),
  );
  return late && `T: nobody looks at ${late.id} before ${late.due_at}`;
}

/** Ids of rows for a sink; a start of work is seen by what becomes of the work. */
const told = (rows: readonly OutboxRow[]): readonly string[] =>
  rows.flatMap(({ lane, id }) => (lane === ORCHESTRATE ? [] : [id]));

/** I3: what was created was accepted or still waits, and nothing else is there. */
function effects({ created }: History, { table, outside }: World): string | undefined {
  const waiting = new Set(told(itemsOf(table, 'outbox')));
  const lost = created.find((id) => !waiting.has(id) && !outside.accepted.has(id));
  if (lost !== undefined) return `I3: ${lost} left the table and was never accepted`;
  const known = new Set(created);
  const strange = [...waiting, ...outside.accepted.keys()].find((id) => !known.has(id));
  return strange === undefined ? undefined : `I3: nothing has caused ${strange}`;
}

/** Nothing that is kept for good is changed: events, fences, versions, ledger rows that are valid. */
function changesInPlace({ before, done }: Step): string | undefined {
  const now = Math.floor((before.now + SKEW_MS) / 1000);
  for (const { key } of done.wrote) {
    const was = before.table.get(keyText(key));
    if (was === undefined) continue;
    const is = done.world.table.get(keyText(key));
    if (is?.item === was.item) continue;
    const number = (name: string): readonly [number, number] => [
      Number(was.item[name]),
      Number(is?.item[name]),
    ];
    switch (key.kind) {
      case 'event':
        return `I4: event ${key.seq} of ${key.workflow} was changed`;
      case 'ledger': {
        if (number('expires_at')[0] > now) return 'I2: a receipt that is valid was changed';
        break;
      }
      case 'lock': {
        const [a, b] = number('fence');
        if (!(b >= a)) return `I5: the fence of ${key.asset} went from ${a} to ${b}`;
        const { workflow } = was.item;
        if (typeof workflow !== 'string' || workflow === is?.item['workflow']) break;
        const looked = done.wrote.some(
          (write) => write.key.kind === 'workflow' && write.key.id === workflow,
        );
        if (!looked) return `I1: ${workflow} lost ${key.asset} without its state`;
        break;
      }
      case 'workflow':
      case 'run': {
        const [a, b] = number('head_seq');
        if (!(b >= a)) return `I4: the head of ${key.id} went from ${a} to ${b}`;
        const [v, w] = number('version');
        if (w < v) return `I5: the version of ${key.id} went from ${v} to ${w}`;
        break;
      }
      case 'outbox':
      case 'pointer':
      case 'vault':
      case 'evidence':
      case 'ticket':
        break;
    }
  }
  return undefined;
}

/** I5: whoever lost a lease or a claim changes nothing. */
function overtaken({ actor, call, answers, before, done }: Step): string | undefined {
  if (call.name === 'commit' && done.wrote.length > 0) {
    const own = lastLease(answers);
    if (own !== undefined && before.lease?.epoch !== own.epoch) {
      return `I5: ${actor.by} repaired with epoch ${own.epoch}, the last is ${before.lease?.epoch}`;
    }
  }
  if (call.name !== 'keep') return undefined;
  for (const write of done.wrote) {
    if (write.key.kind === 'workflow' || write.key.kind === 'run') {
      const { id } = write.key;
      const was = itemAt(before.table, write.key)?.version;
      const seen = lastSeen(answers, id);
      if (was !== seen) return `I5: ${actor.by} has seen ${id} at ${seen}, it is at ${was}`;
    }
    if (write.key.kind !== 'outbox') continue;
    const row = itemAt(before.table, write.key);
    if (row !== undefined && settles(write) && row.claim?.by.startsWith(`${actor.by}-`) !== true) {
      return `I5: ${actor.by} settled a row that ${row.claim?.by ?? 'nobody'} had claimed`;
    }
  }
  return undefined;
}

const settles = (write: Write): boolean =>
  write.op === 'delete' || (write.op === 'update' && write.remove?.includes('claim') === true);

/** The version of a record when a program read it last. */
function lastSeen(answers: Step['answers'], id: string): number | undefined {
  const versions = answers.flatMap((answer) => {
    if (answer.kind !== 'value' || !Array.isArray(answer.value)) return [];
    const items = answer.value as readonly (Attributes | undefined)[];
    const record = items.findLast((item) => item?.['id'] === id && 'head_seq' in item);
    return record === undefined ? [] : [Number(record['version'])];
  });
  return versions.at(-1);
}

function lastLease(answers: Step['answers']): Lease | undefined {
  const leases = answers.flatMap((answer) => {
    if (answer.kind !== 'value' || typeof answer.value !== 'object') return [];
    const { epoch } = (answer.value ?? {}) as Partial<Lease>;
    return epoch === undefined ? [] : [answer.value as Lease];
  });
  return leases.at(-1);
}

/** I7: only what a person approved is written, once, sent in time, and by nobody who is involved. */
function unapproved({ call, sentAt, before, done }: Step): string | undefined {
  if (call.port !== 'desk' || call.name !== 'create') return undefined;
  const { key, action_hash, target } = call.args[0] as TicketOrder;
  const run = itemsOf(before.table, 'run').find(
    ({ proposal }) => proposal?.action.idempotency_key === key,
  );
  const { approval } = run ?? {};
  if (run === undefined || approval?.decision !== 'approved') return 'I7: nobody approved it';
  if (approval.action_hash !== action_hash) return 'I7: something else was approved';
  if (run.proposal?.action.target !== target) return 'I7: something else was written';
  if (run.people.includes(approval.subject)) return 'I7: whoever approved it was involved';
  if (sentAt > Date.parse(approval.not_after)) return 'I7: it was sent after its last moment';
  const keys = new Set(
    itemsOf(before.table, 'run').map(({ proposal }) => proposal?.action.idempotency_key),
  );
  const stray = [...done.world.outside.tickets.keys()].find((written) => !keys.has(written));
  return stray && 'I7: it was written under two keys';
}

/** I7: what is decided is what its block proposes at that moment, in time, by nobody who had the work. */
function decidedAlone({ sentAt, before, done }: Step): string | undefined {
  for (const write of done.wrote) {
    if (write.op !== 'create' || write.key.kind !== 'event') continue;
    const { tenant, workflow: id } = write.key;
    if (isRunId(id)) continue;
    const was = itemAt(before.table, { kind: 'workflow', tenant, id });
    const is = itemAt(done.world.table, { kind: 'workflow', tenant, id });
    const { type, actor, data } = eventBody(write.item as StoredEvent);
    const proposal = was?.block?.proposal;
    const ended = proposal !== undefined && is?.block?.proposal === undefined;
    if (ended && ![data['action_hash'], data['withdrawn']].includes(proposal.action_hash)) {
      return `I7: event ${write.key.seq} does not say what became of the proposal`;
    }
    if (was === undefined || (type !== 'action_approved' && type !== 'action_denied')) continue;
    if (proposal?.action_hash !== data['action_hash']) return 'I7: nobody proposes that any more';
    if (sentAt > Date.parse(proposal?.action.expires_at ?? ''))
      return 'I7: it was decided too late';
    const { subject } = actor;
    const own = [was.holder.subject, proposal?.action.requester].includes(subject);
    if (own) return `I7: ${subject} decided on work of their own`;
    const goes = is?.state === 'RUNNING' && is.block === undefined;
    if (goes !== (type === 'action_approved')) return `I7: the work is ${is?.state} after ${type}`;
  }
  return undefined;
}

function effectOf(history: History, { actor, done, before }: Step): History | string {
  const { wrote } = done;
  const rows = wrote.filter(({ op, key }) => op === 'create' && key.kind === 'outbox');
  const events = wrote.filter(({ op, key }) => op === 'create' && key.kind === 'event');
  if (rows.length > 0 && events.length === 0) return 'I3: a notification without an event';
  const created = rows.flatMap((write) =>
    write.op === 'create' ? told([write.item as OutboxRow]) : [],
  );
  if (created.some((id) => history.created.includes(id))) return 'I3: an id was given twice';
  for (const write of events) {
    if (write.op !== 'create' || write.key.kind !== 'event') continue;
    const { prev, type, data } = eventBody(write.item as StoredEvent);
    const { key } = write;
    const blocks = data['result'] === 'blocked' && type === 'step_recorded';
    if (blocks && !rows.some((row) => 'seq' in row.key && row.key.seq === key.seq)) {
      return `I3: nobody is told of the block by event ${key.seq}`;
    }
    if (type === 'asset_conflict_found') {
      const { tenant, workflow: id } = write.key;
      const asset = String(itemAt(before.table, { kind: 'workflow', tenant, id })?.asset);
      const lock = itemAt(before.table, { kind: 'lock', tenant, asset });
      if (lock?.held !== true || lock.workflow === id) return `I6: nobody else holds ${asset}`;
    }
    const { tenant, workflow, seq } = write.key;
    const last = eventsOf(before.table, tenant, workflow).findLast((event) => event.seq < seq);
    if (last !== undefined && last.hash !== prev) return 'I4: an event follows another one';
  }
  const { command } = actor;
  const grown =
    created.length === 0
      ? history
      : {
          ...history,
          created: [...history.created, ...created].toSorted(),
        };
  if (command === undefined || events.length === 0) return grown;
  const last = history.effects[command];
  const again = last !== undefined && before.now - last.at < knownFor(actor);
  const times = again ? last.times + 1 : 1;
  if (times > 1) return `I2: ${command} took effect ${times} times`;
  return { ...grown, effects: { ...history.effects, [command]: { times, at: before.now } } };
}

/** A key that ends is not held against a minute more or less. */
const knownFor = ({ knownForMs = Number.POSITIVE_INFINITY }: Actor): number => knownForMs - SKEW_MS;

function receiptOf(history: History, actor: Actor, value: unknown): History | string {
  const { command } = actor;
  const { code, receipt } = (value ?? {}) as { code?: string; receipt?: Receipt };
  if (command === undefined || receipt === undefined) return history;
  const text = canonicalJson(receipt);
  const first = history.receipts[command];
  if (first === text) return history;
  const apart =
    first === undefined
      ? 0
      : Math.abs(Date.parse(receipt.at) - Date.parse((JSON.parse(first) as Receipt).at));
  if (first !== undefined && apart < knownFor(actor))
    return `I2: ${command} was answered ${text} after ${first} (${code})`;
  return { ...history, receipts: { ...history.receipts, [command]: text } };
}
