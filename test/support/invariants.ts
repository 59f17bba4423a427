/** What must hold in any store after any accident, looked at through the port alone. */
import { verifyAll } from '../../lib/core/audit.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { Lock, Workflow } from '../../lib/core/model/workflow.ts';
import type { Page, StorageBackend } from '../../lib/core/ports/storage.ts';

/** Every breach of I1, I2 and I4 among a tenant's items, by the number of the invariant. */
export async function breaches(store: StorageBackend, tenant: string): Promise<string[]> {
  const all = await everyPage((at) => store.scanWorkflows(at));
  const workflows = all.filter((item) => item.tenant === tenant);
  const locks = await everyPage((at) => store.listLocks(tenant, at));
  return [
    ...(await oneHolder(store, tenant, workflows, locks)),
    ...(await oneEffectPerCommand(store, workflows)),
    ...(await soundTrails(store, tenant)),
  ];
}

/** Follows a list to its end. */
export async function everyPage<T>(
  list: (at: { readonly after?: string; readonly limit: number }) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | undefined; ;) {
    const page = await list({ limit: 100, ...(after !== undefined && { after }) });
    items.push(...page.items);
    if (page.next === undefined) return items;
    after = page.next;
  }
}

/** I1: the workflows that are active and the locks that are held are the same, and so are pointers. */
async function oneHolder(
  store: StorageBackend,
  tenant: string,
  workflows: readonly Workflow[],
  locks: readonly Lock[],
): Promise<string[]> {
  const active = workflows.filter(({ state }) => state !== 'COMPLETED');
  const holds = active.map(({ asset, id, fence }) => `${asset} ${id} ${fence}`).toSorted();
  const held = locks.map(({ asset, workflow, fence }) => `${asset} ${workflow} ${fence}`);
  const found: string[] = [];
  if (JSON.stringify(holds) !== JSON.stringify(held.toSorted())) {
    found.push(`I1: active ${holds.join(', ')}; held ${held.join(', ')}`);
  }
  for (const subject of new Set(workflows.map(({ holder }) => holder.subject))) {
    const pointers = await store.listPointers(tenant, subject, 100);
    const own = active.filter(({ holder }) => holder.subject === subject);
    if (pointers.length !== own.length) found.push(`I1: ${pointers.length} pointers of ${subject}`);
  }
  return found;
}

/** I2: each event is one command's, no command has two, and the version counts them. */
async function oneEffectPerCommand(
  store: StorageBackend,
  workflows: readonly Workflow[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { tenant, id, version, head_seq } of workflows) {
    const events = await store.listEvents(tenant, id, { after: 0, limit: 100 });
    const commands = events.map((event) => {
      const { data } = eventBody(event);
      return JSON.stringify([data['command'], data['step'], data['value'], data['replaces']]);
    });
    if (new Set(commands).size !== commands.length) found.push(`I2: ${id} ${commands.join(', ')}`);
    if (version !== head_seq) found.push(`I2: ${id} version ${version} head ${head_seq}`);
  }
  return found;
}

/** I4: every trail is numbered without a gap, and each hash matches. */
async function soundTrails(store: StorageBackend, tenant: string): Promise<string[]> {
  const found: string[] = [];
  for await (const report of verifyAll(store)) {
    if (report.tenant !== tenant) continue;
    for (const fault of report.faults) {
      found.push(`I4: ${report.workflow} ${JSON.stringify(fault)}`);
    }
  }
  return found;
}
