// What a record of the table's stream is about, by its keys in wire form. It carries nothing else.
import type { Lane } from '../../core/dispatch/row.ts';
import { dueKeyOf } from './keys.ts';
import { PARTITION_KEY, SORT_KEY } from './table.ts';

/** The lane of the outbox row under these keys; undefined for any other item, and for what is no key. */
export function laneOfKeys(keys: unknown): Lane | undefined {
  const { [PARTITION_KEY]: partition, [SORT_KEY]: sort } = (keys ?? {}) as Record<string, unknown>;
  const [pk, sk] = [textOf(partition), textOf(sort)];
  if (pk === undefined || sk === undefined) return undefined;
  try {
    const key = dueKeyOf({ pk, sk });
    if (key?.kind !== 'outbox') return undefined;
    const { tenant, workflow, lane } = key;
    return { tenant, workflow, lane };
  } catch (error) {
    // An escape that stands for no character.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function textOf(attribute: unknown): string | undefined {
  const { S } = (attribute ?? {}) as { readonly S?: unknown };
  return typeof S === 'string' ? S : undefined;
}
