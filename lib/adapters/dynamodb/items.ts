// Items as attributes of the table: how they are written, and what is checked when one is read.
// Attributes that this release does not know are kept, and handed on as they are.
import { Fault } from '../../core/fault.ts';
import { tableKey } from '../../core/keys.ts';
import { FORMAT } from '../../core/model/workflow.ts';
import type { ItemKey, ItemKind, Items } from '../../core/ports/storage.ts';
import { planRefused } from '../../core/check-transaction.ts';
import type { Attributes } from './keys.ts';
import { PARTITION_KEY, SORT_KEY, TABLE_INDEXES } from './table.ts';

type Type = 'string' | 'number' | 'boolean' | 'object' | 'list';

/** What this release relies on in each kind of item; `own` are the parts of its key. */
const SHAPES: {
  readonly [K in ItemKind]: {
    readonly own: readonly string[];
    readonly types: { readonly [attribute: string]: Type };
  };
} = {
  workflow: {
    own: ['tenant', 'id'],
    types: {
      version: 'number',
      procedure: 'string',
      procedure_version: 'number',
      asset: 'string',
      state: 'string',
      holder: 'object',
      steps: 'object',
      head_seq: 'number',
      head_hash: 'string',
      created_at: 'string',
    },
  },
  event: { own: ['tenant', 'workflow', 'seq'], types: { text: 'string', hash: 'string' } },
  ledger: {
    own: ['tenant', 'key'],
    types: {
      operation: 'string',
      digest: 'string',
      fields: 'object',
      receipt: 'object',
      expires_at: 'number',
    },
  },
  lock: { own: ['tenant', 'asset'], types: { fence: 'number', held: 'boolean' } },
  pointer: { own: ['tenant', 'subject', 'workflow'], types: { since: 'string' } },
  vault: { own: ['tenant', 'workflow', 'seq'], types: { key: 'string' } },
  outbox: {
    own: ['tenant', 'workflow', 'lane', 'seq'],
    types: {
      id: 'string',
      payload: 'object',
      rev: 'number',
      attempts: 'number',
      due_at: 'number',
    },
  },
  run: {
    own: ['tenant', 'id'],
    types: {
      version: 'number',
      state: 'string',
      service: 'string',
      requester: 'object',
      people: 'list',
      evidence: 'list',
      attempt: 'number',
      head_seq: 'number',
      head_hash: 'string',
      created_at: 'string',
    },
  },
  evidence: { own: ['tenant', 'run', 'seq'], types: { text: 'string', digest: 'string' } },
  ticket: {
    own: ['tenant', 'key'],
    types: {
      reference: 'string',
      action_hash: 'string',
      type: 'string',
      target: 'string',
      arguments: 'object',
    },
  },
};

/** Attributes that are the table's and no item's. */
const OF_THE_TABLE = new Set([
  PARTITION_KEY,
  SORT_KEY,
  ...TABLE_INDEXES.flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey]),
]);

/**
 * A JSON value as the document client keeps it exactly: objects become maps, because the client takes
 * a member named `constructor` for a class.
 */
export function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.some(([name]) => name === '__proto__')) throw planRefused('a member named __proto__');
  return new Map(members.map(([name, member]) => [name, stored(member)]));
}

/** The attributes of an item, without those of the table. */
export function storedItem(item: Items[ItemKind]): Record<string, unknown> {
  const members = Object.entries(item).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.map(([name, value]) => [name, stored(value)]));
}

/**
 * Reads an item back. Throws the retryable fault `FORMAT_TOO_NEW` for one that a newer release wrote,
 * and `ITEM_DAMAGED` for one that lacks what this release relies on, or is not under its own key.
 */
export function parseItem<K extends ItemKind>(kind: K, attributes: Attributes): Items[K] {
  const { format } = attributes;
  if (typeof format !== 'number') throw damaged(kind);
  if (format > FORMAT) {
    const what = `a stored ${kind} has format ${format}, this release reads ${FORMAT}`;
    throw new Fault('retryable', 'FORMAT_TOO_NEW', what);
  }
  const { own, types } = SHAPES[kind];
  const missing = Object.entries(types).some(([name, type]) => typeOf(attributes[name]) !== type);
  if (missing) throw damaged(kind);
  const identity = Object.fromEntries(own.map((name) => [name, attributes[name]]));
  const named = own.every((name) => ['string', 'number'].includes(typeof identity[name]));
  const { pk, sk } = named ? tableKey({ kind, ...identity } as ItemKey) : { pk: '', sk: '' };
  if (pk !== attributes[PARTITION_KEY] || sk !== attributes[SORT_KEY]) throw damaged(kind);
  const members = Object.entries(attributes).filter(([name]) => !OF_THE_TABLE.has(name));
  return Object.fromEntries(members) as unknown as Items[K];
}

/** The fault for an item that is there and cannot be understood. */
export function damaged(kind: ItemKind, cause?: unknown): Fault {
  return new Fault('retryable', 'ITEM_DAMAGED', `a stored ${kind} is damaged`, { cause });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return value === null ? 'none' : typeof value;
}
