// What holds after every step of a simulation, looked at in the committed rows.
import { ChainVerifier } from '../../../lib/core/events.ts';
import { holdsAsset } from '../../../lib/core/model/workflow.ts';
import type { Rows } from '../memory-store/rows.ts';

/** Breaches of I1 and I3 among the rows as transactions see them. */
export function breachesNow(
  rows: Rows,
  created: ReadonlySet<string>,
  accepted: ReadonlySet<string>,
): readonly string[] {
  const holders = [...rows.shown('workflow', 'now')]
    .filter(([, one]) => holdsAsset(one))
    .map(([, { tenant, asset, id, fence }]) => `${tenant} ${asset} ${id} ${fence}`)
    .toSorted();
  const held = [...rows.shown('lock', 'now')]
    .filter(([, lock]) => lock.held)
    .map(([, { tenant, asset, workflow, fence }]) => `${tenant} ${asset} ${workflow} ${fence}`)
    .toSorted();
  const found: string[] = [];
  if (JSON.stringify(holders) !== JSON.stringify(held)) {
    found.push(`I1: work holds ${holders.join(', ')}; held is ${held.join(', ')}`);
  }
  const waiting = new Set([...rows.shown('outbox', 'now')].map(([, { id }]) => id));
  for (const id of created) {
    if (!waiting.has(id) && !accepted.has(id)) found.push(`I3: ${id} left without being accepted`);
  }
  for (const id of waiting) if (!created.has(id)) found.push(`I3: ${id} comes from no command`);
  return found;
}

/** Breaches of I4: each trail is numbered without a gap up to its head, and each hash matches. */
export function tornTrails(rows: Rows): readonly string[] {
  const events = [...rows.shown('event', 'now')].map(([, event]) => event);
  const records = [...rows.shown('workflow', 'now'), ...rows.shown('run', 'now')];
  return records.flatMap(([, { tenant, id, head_seq, head_hash }]) => {
    const own = events
      .filter((event) => event.tenant === tenant && event.workflow === id)
      .toSorted((a, b) => a.seq - b.seq);
    const verifier = new ChainVerifier(tenant, id);
    for (const event of own) verifier.add(event);
    return verifier.finish({ seq: head_seq, hash: head_hash }).map((f) => `I4: ${id} ${f.what}`);
  });
}
