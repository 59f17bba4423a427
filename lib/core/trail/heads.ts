// Signed lists of chain heads. A chain shows every change that did not rewrite its head; a list that is
// kept elsewhere shows the rest: what was cut off, and what was rewritten as a whole.
import { createHmac } from 'node:crypto';
import { verifyRecord, type TrailFault } from '../audit.ts';
import { sameDigest } from '../canonical.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { recordKey } from '../model/aggregate.ts';
import { recordsOf } from './export.ts';
import { readLine, writeLine, type HeadLine } from './lines.ts';

/** The lines of a list: its date, a head for each trail, and the MAC of all lines before. */
export async function* headLines(
  store: StorageBackend,
  key: string,
  now: number,
): AsyncGenerator<string> {
  const mac = createHmac('sha256', key);
  const signed = (line: string): string => {
    mac.update(`${line}\n`, 'utf8');
    return line;
  };
  yield signed(writeLine({ type: 'heads', format: 1, at: new Date(now).toISOString() }));
  let heads = 0;
  for await (const { tenant, id, head_seq, head_hash } of recordsOf(store, {})) {
    heads++;
    yield signed(writeLine({ type: 'head', tenant, workflow: id, seq: head_seq, hash: head_hash }));
  }
  yield writeLine({ type: 'mac', heads, mac: mac.digest('hex') });
}

/** What a list is worth: when it was signed, or why it counts for nothing. */
export type HeadsSignature =
  | { readonly ok: true; readonly at: string; readonly heads: number }
  | { readonly ok: false; readonly why: 'form' | 'signature' };

/** Checks the form and the MAC of a list. */
export async function checkHeads(
  lines: AsyncIterable<string>,
  key: string,
): Promise<HeadsSignature> {
  const mac = createHmac('sha256', key);
  let at: string | undefined;
  let heads = 0;
  let ended: { readonly heads: number; readonly mac: string } | undefined;
  for await (const text of lines) {
    const line = readLine(text);
    if (ended !== undefined || line === undefined) return { ok: false, why: 'form' };
    if (line.type === 'mac') ended = line;
    else if (line.type === 'heads' && at === undefined) at = line.at;
    else if (line.type === 'head' && at !== undefined) heads++;
    else return { ok: false, why: 'form' };
    if (line.type !== 'mac') mac.update(`${text}\n`, 'utf8');
  }
  if (at === undefined || ended?.heads !== heads) return { ok: false, why: 'form' };
  const good = sameDigest(ended.mac, mac.digest('hex'));
  return good ? { ok: true, at, heads } : { ok: false, why: 'signature' };
}

/** What a store shows against a signed head. */
export type HeadFault = Pick<HeadLine, 'tenant' | 'workflow' | 'seq'> &
  (
    | { readonly what: 'gone' }
    | { readonly what: 'cut'; readonly now: number }
    | { readonly what: 'rewritten' }
    | { readonly what: 'broken'; readonly faults: readonly TrailFault[] }
  );

/** Compares a store with the heads of a list whose signature was checked. */
export async function* compareHeads(
  store: StorageBackend,
  lines: AsyncIterable<string>,
): AsyncGenerator<HeadFault> {
  for await (const text of lines) {
    const line = readLine(text);
    if (line?.type !== 'head') continue;
    const fault = await faultOf(store, line);
    if (fault !== undefined) yield fault;
  }
}

async function faultOf(store: StorageBackend, head: HeadLine): Promise<HeadFault | undefined> {
  const { tenant, workflow: id, seq, hash } = head;
  const name = { tenant, workflow: id, seq };
  const [record] = await store.snapshot([recordKey(tenant, id)]);
  if (record === undefined) return { ...name, what: 'gone' };
  if (record.head_seq < seq) return { ...name, what: 'cut', now: record.head_seq };
  const [event] = await store.listEvents(tenant, id, { after: seq - 1, limit: 1 });
  if (event?.seq === seq && event.hash !== hash) return { ...name, what: 'rewritten' };
  // The signed event stands where it stood; that all others lead to and from it, the chain says.
  const { faults } = await verifyRecord(store, record);
  return faults.length === 0 ? undefined : { ...name, what: 'broken', faults };
}
