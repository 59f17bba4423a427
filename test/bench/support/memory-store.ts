// A store in memory without durability: it makes storage cost next to nothing, so that what is left is
// ours. Keeps the conditions of the port, and none of its limits.
import type {
  FailedCondition,
  ItemKey,
  Items,
  ItemKind,
  StorageBackend,
  Write,
} from '../../../lib/core/ports/storage.ts';
import type { Pointer, StoredEvent } from '../../../lib/core/model/workflow.ts';

type Item = Items[ItemKind];

/** What commands and reads of an operator use. */
type Used = Pick<
  StorageBackend,
  'snapshot' | 'commit' | 'listEvents' | 'listPointers' | 'noteProfile' | 'check' | 'close'
>;

/** Builds an empty store. What no operator's call uses is missing, and calling it fails. */
export function memoryStore(): StorageBackend {
  const items = new Map<string, Item>();
  const nameOf = (key: ItemKey): string => JSON.stringify(Object.values(key));
  const withPrefix = (...parts: readonly string[]): readonly Item[] => {
    const prefix = JSON.stringify(parts).slice(0, -1);
    return [...items].filter(([name]) => name.startsWith(prefix)).map(([, item]) => item);
  };
  const used: Used = {
    snapshot: (keys) => Promise.resolve(keys.map((key) => items.get(nameOf(key))) as never),
    commit: ({ writes }) => {
      const failed = writes.flatMap((write): readonly FailedCondition[] => {
        const item = items.get(nameOf(write.key));
        if (holds(write, item)) return [];
        return [{ key: write.key, ...(item !== undefined && { item }) }];
      });
      if (failed.length > 0) return Promise.resolve({ ok: false, failed });
      for (const write of writes) {
        const name = nameOf(write.key);
        if (write.op === 'create') items.set(name, write.item);
        if (write.op === 'update') items.set(name, changed(items.get(name), write));
        if (write.op === 'delete') items.delete(name);
      }
      return Promise.resolve({ ok: true });
    },
    listEvents: (tenant, workflow, { after, limit }) => {
      const events = withPrefix('event', tenant, workflow) as readonly StoredEvent[];
      return Promise.resolve(events.filter(({ seq }) => seq > after).slice(0, limit));
    },
    listPointers: (tenant, subject, limit) =>
      Promise.resolve(
        (withPrefix('pointer', tenant, subject) as readonly Pointer[]).slice(0, limit),
      ),
    noteProfile: () => Promise.resolve(),
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return used as StorageBackend;
}

function holds(write: Write, item: Item | undefined): boolean {
  if (write.op === 'create') return item === undefined;
  if (item === undefined) return write.op === 'delete' || write.op === 'absent';
  const of = item as unknown as Readonly<Record<string, unknown>>;
  if (write.op === 'absent') return false;
  return Object.entries(write.expect).every(([name, wanted]) => of[name] === wanted);
}

function changed(before: Item | undefined, write: Extract<Write, { op: 'update' }>): Item {
  const after: Record<string, unknown> = { ...before, ...write.set };
  for (const [name, members] of Object.entries(write.put_in ?? {})) {
    after[name] = { ...(after[name] as object), ...members };
  }
  for (const name of write.remove ?? []) delete after[name];
  return after as unknown as Item;
}
