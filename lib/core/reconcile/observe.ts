// Reads what the rules compare, by snapshots only: two separate reads are none.
import { eventBody } from '../events.ts';
import { isDamage } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import type { Lock, Pointer, Workflow } from '../model/workflow.ts';
import type { ItemKey, StorageBackend } from '../ports/storage.ts';
import { procedureOf } from '../procedure-of.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import type { Observation } from './rules.ts';

type Reader = Pick<StorageBackend, 'snapshot' | 'listEvents'>;

/** More people than this never hold one workflow; a list of them stays within one snapshot. */
const PEOPLE = 90;

/**
 * Observes a workflow; undefined where there is none, or where it moved while it was looked at. Throws
 * the retryable fault `PROCEDURE_VERSION_MISSING` where this process cannot judge it.
 */
export async function observe(
  store: Reader,
  registry: ProcedureRegistry,
  tenant: string,
  id: string,
): Promise<Observation | undefined> {
  const key = { kind: 'workflow', tenant, id } as const;
  const [first] = await store.snapshot([key]);
  if (first === undefined) return undefined;
  const lockKey = { kind: 'lock', tenant, asset: first.asset } as const;
  const [seen] = await store.snapshot([lockKey]);
  const named = seen?.workflow !== undefined && seen.workflow !== id ? seen.workflow : undefined;
  const people = await holdersOf(store, first);
  const keys: readonly ItemKey[] = [
    key,
    lockKey,
    ...(named === undefined ? [] : [{ kind: 'workflow', tenant, id: named } as const]),
    ...people.map((subject) => ({ kind: 'pointer', tenant, subject, workflow: id }) as const),
  ];
  const items = await store.snapshot(keys);
  const workflow = items[0] as Workflow | undefined;
  const lock = items[1] as Lock | undefined;
  if (workflow?.version !== first.version || lock?.workflow !== seen?.workflow) return undefined;
  const rest = named === undefined ? items.slice(2) : items.slice(3);
  return {
    workflow,
    procedure: procedureOf(registry, workflow),
    lock,
    holder: named === undefined ? undefined : (items[2] as Workflow | undefined),
    pointers: new Map(people.map((subject, i) => [subject, rest[i] as Pointer | undefined])),
  };
}

/**
 * Everybody who holds the workflow or held it, by its trail; the last ones where there are many. A trail
 * that cannot be read on tells no more, and is found when it is verified.
 */
async function holdersOf(store: Reader, workflow: Workflow): Promise<readonly string[]> {
  const { tenant, id, head_seq, holder } = workflow;
  const people = new Set<string>();
  const limit = LIMITS.pageItems.max;
  for (let after = 0; after < head_seq;) {
    try {
      const page = await store.listEvents(tenant, id, { after, limit });
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.seq;
      for (const event of page) {
        const { type, actor, data } = eventBody(event);
        if (type === 'workflow_started') people.add(actor.subject);
        const { to } = data;
        if (type === 'workflow_handed_over' && typeof to === 'string') people.add(to);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      break;
    }
  }
  people.delete(holder.subject);
  return [holder.subject, ...[...people].slice(-PEOPLE)];
}
