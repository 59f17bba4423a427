// The audit trail: a hash chain per aggregate.
// Invariant I4: sequences are 1..n without gap, and each event carries the hash of the one before.
import { createHash } from 'node:crypto';
import { canonicalJson, sha256Hex } from './canonical.ts';
import { Fault } from './fault.ts';
import type { Json } from './json.ts';
import { isRunId } from './model/aggregate.ts';
import type { Actor } from './model/principal.ts';
import {
  FORMAT,
  type EventBody,
  type EventType,
  type RunEventBody,
  type StoredEvent,
} from './model/workflow.ts';

/** What the first event of a chain carries in place of a predecessor's hash. */
export const GENESIS = '0'.repeat(64);

/** The last event of a chain. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** An event before it has its place in a chain. */
export interface EventDraft {
  readonly type: EventType;
  readonly at: string;
  readonly actor: Actor;
  readonly data: { readonly [key: string]: Json };
}

/** Appends one event to the chain of a workflow or a run: the stored row and the new head. */
export function appendEvent(
  chain: { readonly tenant: string; readonly workflow: string; readonly head: Head },
  draft: EventDraft,
): { readonly event: StoredEvent; readonly head: Head } {
  const { tenant, workflow, head } = chain;
  const seq = head.seq + 1;
  const place = { format: FORMAT, tenant, seq, prev: head.hash };
  const body: EventBody | RunEventBody = isRunId(workflow)
    ? { ...place, run: workflow, ...draft }
    : { ...place, workflow, ...draft };
  const text = canonicalJson(body);
  const hash = sha256Hex(text);
  return { event: { format: FORMAT, tenant, workflow, seq, text, hash }, head: { seq, hash } };
}

/**
 * Reads the body of a stored event. The text is canonical JSON that this product wrote; throws the
 * retryable fault `ITEM_DAMAGED` for one that it cannot have written.
 */
export function eventBody(event: StoredEvent): EventBody {
  let body: unknown;
  try {
    body = JSON.parse(event.text);
  } catch (cause) {
    throw new Fault('retryable', 'ITEM_DAMAGED', 'the text of an event is damaged', { cause });
  }
  const parts = isObject(body) ? [body['actor'], body['data']] : [];
  if (parts.length === 2 && parts.every(isObject)) return body as unknown as EventBody;
  throw new Fault('retryable', 'ITEM_DAMAGED', 'the text of an event is none');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An event as people read it: what was hashed, without the tenant and without any commitment. */
export interface ReadableEvent {
  readonly seq: number;
  readonly type: EventType;
  readonly at: string;
  readonly actor: Actor;
  readonly data: { readonly [key: string]: Json };
  /** True where the event keeps a sensitive value apart. */
  readonly redacted: boolean;
  readonly prev: string;
  readonly hash: string;
}

/** Reads a stored event for people. A sensitive value is not in it, only that there is one. */
export function readableEvent(event: StoredEvent): ReadableEvent {
  const { seq, type, at, actor, prev, data } = eventBody(event);
  const { commitment, ...shown } = data;
  const redacted = commitment !== undefined;
  return { seq, type, at, actor, data: shown, redacted, prev, hash: event.hash };
}

/**
 * What an audit found wrong in one chain; `seq` is the first event concerned. `acknowledged` is the
 * sequence of the event by which a person said that they have looked at it: it stays a fault.
 */
export interface ChainFault {
  readonly seq: number;
  readonly what:
    'missing' | 'hash' | 'link' | 'content' | 'beyond_head' | 'head' | 'unreadable' | 'no_record';
  readonly acknowledged?: number;
}

/**
 * Verifies chains event by event, in bounded memory. After a fault nothing counts until an event that
 * acknowledges exactly this fault over exactly the rows that were found then; from there the chain is
 * verified again, so that an acknowledged place hides neither a later change of it nor another fault.
 */
export class ChainVerifier {
  readonly #tenant: string;
  readonly #workflow: string;
  readonly #rows = createHash('sha256');
  readonly #faults: ChainFault[] = [];
  readonly #acknowledged = new Map<string, number>();
  #head: Head = { seq: 0, hash: GENESIS };
  #fault: ChainFault | undefined;

  constructor(tenant: string, workflow: string) {
    this.#tenant = tenant;
    this.#workflow = workflow;
  }

  /** Takes the next event in ascending order of sequence; answers whether no fault is open. */
  add(event: StoredEvent): boolean {
    const before = this.#head;
    const found = this.#fault ?? this.#faultOf(event, before.seq + 1);
    const acknowledges = found === undefined ? undefined : this.#acknowledgedBy(event, found);
    if (acknowledges !== undefined) this.#faults.push(acknowledges);
    this.#fault = acknowledges === undefined ? found : undefined;
    this.#rows.update(`${event.seq} ${event.hash} ${sha256Hex(event.text)}\n`);
    this.#head = { seq: event.seq, hash: event.hash };
    if (this.#fault !== undefined) return false;
    for (const name of acknowledgement(event)?.faults ?? []) {
      this.#acknowledged.set(name, event.seq);
    }
    return true;
  }

  /** Takes the place of an event that is there and cannot be read. */
  addUnreadable(seq: number): void {
    this.#fault ??= { seq, what: 'unreadable' };
    this.#rows.update(`${seq} unreadable\n`);
    this.#head = { seq, hash: '' };
  }

  /** The digest of every row so far: what an acknowledgement says was there when it was written. */
  rows(): string {
    return this.#rows.copy().digest('hex');
  }

  /** The event that acknowledges a fault of a value, or undefined. Of a chain without open fault. */
  acknowledgedAt(fault: { readonly seq: number; readonly what: string }): number | undefined {
    return this.#acknowledged.get(faultName(fault));
  }

  /** Every fault, at most one of which is not acknowledged, against the head of the aggregate. */
  finish(head: Head): readonly ChainFault[] {
    const last = this.#fault ?? this.#atHead(head);
    return last === undefined ? this.#faults : [...this.#faults, last];
  }

  #atHead(head: Head): ChainFault | undefined {
    if (this.#head.seq < head.seq) return { seq: this.#head.seq + 1, what: 'missing' };
    if (this.#head.seq > head.seq) return { seq: head.seq + 1, what: 'beyond_head' };
    return this.#head.hash === head.hash ? undefined : { seq: head.seq, what: 'head' };
  }

  /** The fault that an event acknowledges, where it does so for what was found. */
  #acknowledgedBy(event: StoredEvent, found: ChainFault): ChainFault | undefined {
    const said = acknowledgement(event);
    if (said === undefined || sha256Hex(event.text) !== event.hash) return undefined;
    if (!this.#isOwn(said.body, event.seq) || said.rows !== this.rows()) return undefined;
    // A head that did not fit its last event is met as a link that does not fit.
    const atHead = { seq: event.seq - 1, what: 'head' } as const;
    const faults = [found, ...(found.what === 'link' && found.seq === event.seq ? [atHead] : [])];
    const fault = faults.find((each) => said.faults.includes(faultName(each)));
    return fault === undefined ? undefined : { ...fault, acknowledged: event.seq };
  }

  #isOwn(body: EventBody, seq: number): boolean {
    return body.seq === seq && body.tenant === this.#tenant && ownerOf(body) === this.#workflow;
  }

  #faultOf(event: StoredEvent, seq: number): ChainFault | undefined {
    if (event.seq !== seq) return { seq, what: 'missing' };
    if (sha256Hex(event.text) !== event.hash) return { seq, what: 'hash' };
    let body: EventBody;
    try {
      body = eventBody(event);
    } catch {
      return { seq, what: 'content' };
    }
    if (body.prev !== this.#head.hash) return { seq, what: 'link' };
    return this.#isOwn(body, seq) ? undefined : { seq, what: 'content' };
  }
}

/** The aggregate that an event says it is of; undefined where it names both kinds, or none. */
function ownerOf(body: Partial<EventBody & RunEventBody>): string | undefined {
  const { workflow, run } = body;
  if (run === undefined) return workflow === undefined || isRunId(workflow) ? undefined : workflow;
  return workflow === undefined && isRunId(run) ? run : undefined;
}

/** One fault as it stands in the event that acknowledges it. */
export const faultName = ({ seq, what }: { readonly seq: number; readonly what: string }): string =>
  `${seq} ${what}`;

/** What an event acknowledges, where it is one that does. Most are not, and are not read for it. */
function acknowledgement(event: StoredEvent) {
  if (!event.text.includes('"faults_acknowledged"')) return undefined;
  let body: EventBody;
  try {
    body = eventBody(event);
  } catch {
    return undefined;
  }
  const { faults, rows } = body.data;
  if (body.type !== 'faults_acknowledged' || !Array.isArray(faults)) return undefined;
  return { body, faults: faults.map(String), rows };
}
