// Signed lists of chain heads. A chain shows every change that did not rewrite its head; a list that is
// kept elsewhere shows the rest: what was cut off, and what was rewritten as a whole.
import { createHash, type Hash } from 'node:crypto';
import { verifyRecord, type TrailFault } from '../audit.ts';
import { dayOf } from '../instant.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { recordKey, type Trailed } from '../model/aggregate.ts';
import { headsFingerprint, isSignedUnder, type HeadsSigner } from './heads-key.ts';
import { readLine, writeLine, type HeadLine, type Line } from './lines.ts';

/** Which list is written, or which part of one. */
export interface HeadsPart {
  /** When the heads are read, in epoch milliseconds. */
  readonly now: number;
  /** Counts from 1; a list that is not split is its part 1. */
  readonly part: number;
  /** Whether another part follows. */
  readonly more: boolean;
}

/** The lines of a list: its date, a head for each trail, how many there are, and the signature. */
export async function* headLines(
  records: AsyncIterable<Trailed> | Iterable<Trailed>,
  signer: HeadsSigner,
  { now, part, more }: HeadsPart,
): AsyncGenerator<string> {
  const digest = createHash('sha256');
  const signed = (content: Line): string => {
    const line = writeLine(content);
    taken(digest, line);
    return line;
  };
  const at = new Date(now).toISOString();
  yield signed({ type: 'heads', format: 1, at, day: dayOf(now), part });
  let heads = 0;
  for await (const { tenant, id, head_seq, head_hash } of records) {
    heads++;
    yield signed({ type: 'head', tenant, workflow: id, seq: head_seq, hash: head_hash });
  }
  yield signed({ type: 'total', heads, more });
  const { publicKey } = signer;
  yield writeLine({ type: 'signature', key: publicKey, signature: signer.sign(textOf(digest)) });
}

/** What a list is worth: what it says of itself, or why it counts for nothing. */
export type HeadsSignature =
  | {
      readonly ok: true;
      readonly at: string;
      readonly part: number;
      readonly heads: number;
      readonly more: boolean;
    }
  | { readonly ok: false; readonly why: 'form' | 'signature' }
  /** Signed under another key, of this fingerprint. */
  | { readonly ok: false; readonly why: 'key'; readonly fingerprint: string };

/** Checks the form of a list and its signature, which has to be under the key of a fingerprint. */
export async function checkHeads(
  lines: AsyncIterable<string>,
  fingerprint: string,
): Promise<HeadsSignature> {
  const digest = createHash('sha256');
  let begun: Extract<Line, { type: 'heads' }> | undefined;
  let heads = 0;
  let total: Extract<Line, { type: 'total' }> | undefined;
  let ended: Extract<Line, { type: 'signature' }> | undefined;
  for await (const text of lines) {
    const line = readLine(text);
    if (ended !== undefined || line === undefined) return { ok: false, why: 'form' };
    if (line.type === 'signature' && total !== undefined) ended = line;
    else if (total !== undefined) return { ok: false, why: 'form' };
    else if (line.type === 'heads' && begun === undefined) begun = line;
    else if (line.type === 'head' && begun !== undefined) heads++;
    else if (line.type === 'total' && begun !== undefined) total = line;
    else return { ok: false, why: 'form' };
    if (line.type !== 'signature') taken(digest, text);
  }
  if (begun === undefined || ended === undefined || total?.heads !== heads) {
    return { ok: false, why: 'form' };
  }
  const of = headsFingerprint(ended.key);
  if (of !== fingerprint) return { ok: false, why: 'key', fingerprint: of };
  if (!isSignedUnder(ended.key, textOf(digest), ended.signature)) {
    return { ok: false, why: 'signature' };
  }
  const { at, part } = begun;
  return { ok: true, at, part, heads, more: total.more };
}

const taken = (digest: Hash, line: string): Hash => digest.update(`${line}\n`, 'utf8');

/** What is signed: the digest of the lines, under a name that no other signature has. */
const textOf = (digest: Hash): string => `checkpoint:heads:${digest.digest('hex')}`;

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
