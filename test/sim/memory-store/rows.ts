// The rows of the store in memory, each in three views: what transactions see, what plain reads and queries
// see, and what the indexes show.
import { Fault } from '../../../lib/core/fault.ts';
import { keyFault, keyText } from '../../../lib/core/keys.ts';
import { FORMAT } from '../../../lib/core/model/workflow.ts';
import type { ItemKey, ItemKind, Items } from '../../../lib/core/ports/storage.ts';

type Item = Items[ItemKind];

/** A view of a row; every one but the first may be behind. */
export type View = 'now' | 'plain' | 'index';

/** One row; a view without an item shows none. */
export interface Row {
  readonly key: ItemKey;
  /** Grows from row to row, for lists that need an order of equals. */
  readonly n: number;
  readonly views: Partial<Record<View, Item>>;
  /** A running transaction writes it. */
  busy: boolean;
}

/** All rows, found by key and by kind, as a release sees them that reads a format and those before it. */
export class Rows {
  readonly reads: number;
  readonly #byKind: Map<ItemKind, Map<string, Row>>;
  readonly #count: { n: number };

  constructor(reads = FORMAT, of?: Rows) {
    this.reads = reads;
    this.#byKind = of === undefined ? new Map() : of.#byKind;
    this.#count = of === undefined ? { n: 0 } : of.#count;
  }

  /** The same rows, as another release sees them. */
  as(reads: number): Rows {
    return new Rows(reads, this);
  }

  /** The row of a key, made where there is none yet. */
  at(key: ItemKey): Row {
    const rows = this.#of(key.kind);
    const text = keyText(key);
    const found = rows.get(text);
    if (found !== undefined) return found;
    const row: Row = { key, n: ++this.#count.n, views: {}, busy: false };
    rows.set(text, row);
    return row;
  }

  find(key: ItemKey): Row | undefined {
    return keyFault(key) === undefined ? this.#of(key.kind).get(keyText(key)) : undefined;
  }

  /** Reads one item; throws the retryable fault `FORMAT_TOO_NEW` for one of a newer release. */
  read<K extends ItemKey>(key: K, view: View = 'now'): Items[K['kind']] | undefined {
    const item = this.find(key)?.views[view];
    return item === undefined ? undefined : this.readable<K['kind']>(key.kind, item);
  }

  /** Every row of a kind that a view shows, with its item there. */
  *shown<K extends ItemKind>(kind: K, view: View): Generator<readonly [Row, Items[K]]> {
    for (const row of this.#of(kind).values()) {
      const item = row.views[view];
      if (item !== undefined) yield [row, item as Items[K]];
    }
  }

  /** The item, unless a newer release wrote it. */
  readable<K extends ItemKind>(kind: K, item: Item): Items[K] {
    if (item.format > this.reads) {
      const what = `a stored ${kind} has format ${item.format}, this release reads ${this.reads}`;
      throw new Fault('retryable', 'FORMAT_TOO_NEW', what);
    }
    return item as Items[K];
  }

  #of(kind: ItemKind): Map<string, Row> {
    const found = this.#byKind.get(kind) ?? new Map<string, Row>();
    this.#byKind.set(kind, found);
    return found;
  }
}

/** A view's item, or none, in a row. */
export function show(row: Row, view: View, item: Item | undefined): void {
  if (item === undefined) delete row.views[view];
  else row.views[view] = item;
}

/** A copy that nobody can change: what was read is shared by all who read it. */
export function kept(item: object): Item {
  return frozen(JSON.parse(JSON.stringify(item))) as Item;
}

function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
