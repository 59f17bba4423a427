// Every key that only this backend has: those of the indexes and of bookkeeping. The primary keys of
// the port's items are in `core/keys.ts`, because every backend counts their bytes.
import { createHash } from 'node:crypto';
import { assert } from '../../core/fault.ts';
import { encodeKeyPart, tableKey } from '../../core/keys.ts';
import { isRunId, recordKey } from '../../core/model/aggregate.ts';
import type { RunState } from '../../core/model/run.ts';
import type { WorkflowState } from '../../core/model/workflow.ts';
import type { DueItem, ItemKey } from '../../core/ports/storage.ts';
import { DUE_INDEX, LIST_INDEX } from './table.ts';

/** A primary key of the table. */
export interface PrimaryKey {
  readonly pk: string;
  readonly sk: string;
}

/** Attributes by name, as they are stored. */
export type Attributes = Readonly<Record<string, unknown>>;

/** How an item enters and leaves the indexes with a write. */
export interface IndexChange {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** What a part of an index key may have, so that an item keeps room for its own attributes. */
const PART_BYTES = 64;
const ASSET_BYTES = 200;
const DIGEST_CHARS = 24;

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** A text of at most so many bytes: a longer one is cut and made distinct. Indexes only find. */
function bounded(text: string, bytes: number): string {
  if (Buffer.byteLength(text, 'utf8') <= bytes) return text;
  const start = Buffer.from(text, 'utf8').subarray(0, bytes - DIGEST_CHARS - 1);
  const whole = start.toString('utf8').replace(/\ufffd+$/u, '');
  return `${whole}~${sha256(text).toString('hex').slice(0, DIGEST_CHARS)}`;
}

const part = (text: string): string => bounded(encodeKeyPart(text), PART_BYTES);
const tenantPart = (tenant: string): string => `T#${part(tenant)}`;

/** Milliseconds as text that sorts by time. */
const timeText = (ms: number): string => String(Math.max(0, Math.floor(ms))).padStart(15, '0');

const seqText = (seq: number): string => String(seq).padStart(12, '0');

/** All sort keys of due work up to a time, in epoch milliseconds, are below this one. */
export const dueUntil = (ms: number): string => `${timeText(ms)}#\u{10ffff}`;

/** No sort key of due work from a time on is below this one. */
export const dueFrom = (ms: number): string => timeText(ms);

/** When an entry of due work is due, in epoch milliseconds. */
export const dueAtOf = (sort: string): number => Number(sort.slice(0, 15));

/** The partition of due work for a workflow or a run; the number of shards is fixed in the table. */
export function duePartition(tenant: string, workflow: string, shards: number): string {
  const { pk } = tableKey(recordKey(tenant, workflow));
  return dueShard(sha256(pk).readUInt32BE() % shards);
}

/** The partition of one shard of due work. */
export const dueShard = (shard: number): string => `DUE#${shard}`;

/** The partition of the list of workflows in one state. */
export const workflowList = (tenant: string, state: WorkflowState): string =>
  `${tenantPart(tenant)}#W#${state}`;

/** The partition of the list of runs in one state. */
export const runList = (tenant: string, state: RunState): string =>
  `${tenantPart(tenant)}#R#${state}`;

/** The partition of the list of held locks. */
export const lockList = (tenant: string): string => `${tenantPart(tenant)}#LOCKS`;

/** The partition of the list of parked outbox rows. */
export const parkedList = (tenant: string): string => `${tenantPart(tenant)}#PARKED`;

/** The partition of the assets of a tenant. */
export const assetList = (tenant: string): string => `${tenantPart(tenant)}#ASSETS`;

/**
 * The index attributes that follow from attributes that are set or removed. A command that sets an
 * attribute rewrites what the indexes derive from it, so that a touched item heals; leaving an index
 * is a removal. Outbox rows, and workflows and runs that have a due time, are due work. A lock stays among the
 * assets of its tenant for good: its entry in the due index is written once and found by no sweep,
 * and it is among the held locks while it is held.
 */
export function indexChange(
  key: ItemKey,
  set: Attributes,
  remove: readonly string[],
  shards: number | undefined,
): IndexChange {
  switch (key.kind) {
    case 'workflow':
    case 'run':
      return merged(recordIn(key, set), dueIn(key.tenant, key.id, set, remove, shards));
    case 'outbox':
      return outboxIn(key, set, remove, shards);
    case 'lock':
      return lockIn(key, set);
    default:
      return NOWHERE;
  }
}

const NOWHERE: IndexChange = { set: {}, remove: [] };

function recordIn(
  key: ItemKey & { readonly kind: 'workflow' | 'run' },
  set: Attributes,
): IndexChange {
  const { state, created_at } = set;
  const list = (): string =>
    key.kind === 'run'
      ? runList(key.tenant, state as RunState)
      : workflowList(key.tenant, state as WorkflowState);
  return {
    set: {
      ...(state !== undefined && { [LIST_INDEX.partitionKey]: list() }),
      ...(typeof created_at === 'string' && {
        [LIST_INDEX.sortKey]: `${created_at}#${part(key.id)}`,
      }),
    },
    remove: [],
  };
}

function dueIn(
  tenant: string,
  workflow: string,
  set: Attributes,
  remove: readonly string[],
  shards: number | undefined,
): IndexChange {
  const { partitionKey, sortKey } = DUE_INDEX;
  if (remove.includes('due_at')) return { set: {}, remove: [partitionKey, sortKey] };
  const { due_at } = set;
  if (typeof due_at !== 'number') return NOWHERE;
  assert(shards !== undefined, 'due work has a shard');
  return {
    set: {
      [partitionKey]: duePartition(tenant, workflow, shards),
      [sortKey]: `${timeText(due_at)}#${part(workflow)}`,
    },
    remove: [],
  };
}

/** A parked row is found among those of its tenant, and by no sweep until it is sent again. */
function outboxIn(
  key: ItemKey & { readonly kind: 'outbox' },
  set: Attributes,
  remove: readonly string[],
  shards: number | undefined,
): IndexChange {
  const { tenant, workflow, lane, seq } = key;
  const { parked_at } = set;
  const due = dueIn(tenant, workflow, set, remove, shards);
  const { partitionKey, sortKey } = LIST_INDEX;
  if (typeof parked_at === 'string') {
    const listed = {
      [partitionKey]: parkedList(tenant),
      [sortKey]: `${parked_at}#${part(workflow)}#${part(lane)}#${seqText(seq)}`,
    };
    return { set: listed, remove: [DUE_INDEX.partitionKey, DUE_INDEX.sortKey] };
  }
  if (!remove.includes('parked_at')) return due;
  return merged(due, { set: {}, remove: [partitionKey, sortKey] });
}

function lockIn(key: ItemKey & { readonly kind: 'lock' }, set: Attributes): IndexChange {
  const { tenant, asset } = key;
  const { held, since } = set;
  if (held === undefined) return NOWHERE;
  const known = {
    [DUE_INDEX.partitionKey]: assetList(tenant),
    // Not encoded, so that the order is that of the names; a key of an index cannot be empty.
    [DUE_INDEX.sortKey]: `A#${bounded(asset, ASSET_BYTES)}`,
  };
  const { partitionKey, sortKey } = LIST_INDEX;
  if (held !== true) return { set: known, remove: [partitionKey, sortKey] };
  const listed = {
    [partitionKey]: lockList(tenant),
    [sortKey]: `${typeof since === 'string' ? since : ''}#${part(asset)}`,
  };
  return { set: { ...known, ...listed }, remove: [] };
}

function merged(one: IndexChange, two: IndexChange): IndexChange {
  return { set: { ...one.set, ...two.set }, remove: [...one.remove, ...two.remove] };
}

/** The beginning of all sort keys of a kind of row within its partition. */
export const SORT_PREFIX = {
  event: 'E#',
  outbox: 'O#',
  pointer: 'ACTIVE#',
  vault: 'V#',
  evidence: 'V#',
} as const;

/** The beginning of the sort keys of one lane. */
export const lanePrefix = (lane: string): string => `${SORT_PREFIX.outbox}${encodeKeyPart(lane)}#`;

/** The outbox row, workflow or run under a primary key, or undefined where something else is. */
export function dueKeyOf({ pk, sk }: PrimaryKey): DueItem['key'] | undefined {
  const aggregate = aggregateOf(pk);
  if (aggregate !== undefined && sk === 'STATE') {
    return recordKey(aggregate.tenant, aggregate.workflow);
  }
  const [, lane, seq] = /^O#([^#]*)#(\d{12})$/u.exec(sk) ?? [];
  if (aggregate === undefined || lane === undefined) return undefined;
  return { kind: 'outbox', ...aggregate, lane: decodeURIComponent(lane), seq: Number(seq) };
}

/** The sequence of a sensitive value by its sort key. */
export const vaultSeqOf = (sk: string): number => Number(sk.slice(SORT_PREFIX.vault.length));

/** Sort keys of events, sensitive values or evidence above one sequence, up to the last one there can be. */
export function rangeOf(
  kind: 'event' | 'vault' | 'evidence',
  after: number,
): readonly [string, string] {
  const text = (seq: number): string => SORT_PREFIX[kind] + seqText(seq);
  return [text(after + 1), text(999_999_999_999)];
}

/** The key of a person that a tenant has seen. */
export const profileKey = (tenant: string, subject: string): PrimaryKey => ({
  pk: `T#${encodeKeyPart(tenant)}#P#${encodeKeyPart(subject)}`,
  sk: 'PROFILE',
});

/** The key of a person under their folded name. */
export const nameKey = (tenant: string, folded: string, subject: string): PrimaryKey => ({
  pk: `T#${encodeKeyPart(tenant)}#N#${encodeKeyPart(folded)}`,
  sk: `N#${encodeKeyPart(subject)}`,
});

/** The key of a registered procedure version. */
export const procedureKey = (id: string, version: number): PrimaryKey => ({
  pk: `PROCEDURE#${encodeKeyPart(id)}`,
  sk: `V#${String(version).padStart(12, '0')}`,
});

/** The partition of all tenants that have started anything. */
export const TENANTS = 'TENANTS';

/** The key of a tenant among all; not encoded, so that the order is that of the names. */
export const tenantKey = (tenant: string): PrimaryKey => ({ pk: TENANTS, sk: `T#${tenant}` });

/** The key of what is fixed for the life of the table. */
export const SETTINGS_KEY: PrimaryKey = { pk: 'SETTINGS', sk: 'SETTINGS' };

/** The key of the lease of a shard. */
export const leaseKey = (shard: number): PrimaryKey => ({ pk: `LEASE#${shard}`, sk: 'LEASE' });

/** The key of a part of a day of the reconciler. */
export const sweepKey = (day: string, part: string): PrimaryKey => ({
  pk: `SWEEP#${day}`,
  sk: part,
});

/** The beginnings of all partition keys of a tenant's aggregates. */
export const aggregatesOf = (tenant: string): readonly string[] =>
  ['W', 'R'].map((kind) => `T#${encodeKeyPart(tenant)}#${kind}#`);

/** The aggregate that a partition belongs to, or undefined where it is of something else. */
export function aggregateOf(pk: string): { tenant: string; workflow: string } | undefined {
  const [, tenant, kind, id] = /^T#([^#]*)#([WR])#([^#]*)$/u.exec(pk) ?? [];
  if (tenant === undefined || id === undefined) return undefined;
  const workflow = decodeURIComponent(id);
  if ((kind === 'R') !== isRunId(workflow)) return undefined;
  return { tenant: decodeURIComponent(tenant), workflow };
}

/** The asset whose lock a partition holds. */
export function assetOf(pk: string): string | undefined {
  const [, asset] = /^T#[^#]*#A#([^#]*)$/u.exec(pk) ?? [];
  return asset === undefined ? undefined : decodeURIComponent(asset);
}
